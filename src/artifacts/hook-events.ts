/** The names of the moments at which hooks are asked. */

/** Event → when it happens. */
export const hookEvents: Readonly<Record<string, string>> = {
  "session.start": "A session has started.",
  "session.end": "A session has ended.",
  "agent.start": "An agent (the root agent or a delegate) is about to start work.",
  "agent.stop": "An agent wants to stop. `block` sends it back to work with the reason.",
  "turn.start": "An input has arrived. Harness has not called the model yet.",
  "turn.end": "The turn has its answer.",
  "tool.pre": "A call has valid arguments and has not run yet.",
  "tool.post": "A call has a result. The model has not seen it yet.",
  "completion.pre": "A request is about to go to the model.",
  "completion.post": "The model has answered.",
  "delegation.pre": "A delegate is about to start.",
  "delegation.post_verify": "A delegate has a result to verify.",
  "delegation.post": "A delegate has returned.",
  "context.compact": "Harness is about to compact the conversation. `block` leaves it as it is.",
  "meta.register_tool": "A script wants to register a tool.",
  "meta.register_hook": "A script wants to register a hook.",
  "meta.register_agent": "A script wants to register an agent.",
  error: "Something failed, and Harness does not retry it.",
};

/** Event → what `payload` is, and what `modify` can change of it. For people. */
export const hookPayloads: Readonly<Record<keyof typeof hookEvents, string>> = {
  "session.start": "None.",
  "session.end": "None.",
  "agent.start": "`task`, `depth`, `model`. `modify`: `task`.",
  "agent.stop": "`text` (its answer), `tool_calls`, `depth`, `attempt` (how often a hook has sent it back).",
  "turn.start": "The text of the input. `modify`: that text.",
  "turn.end": "`text`, `tool_calls`, `usage`, `total_tokens`, `outcome`.",
  "tool.pre":
    "`id`, `name`, `args` (also `arguments` and `arguments_json`), `labels` of the session. `modify`: the arguments.",
  "tool.post":
    "`call_id`, `name`, `args` (also `arguments`), `content` (text), `result` (the same, decoded if it is JSON), `is_error`, `labels` of the result. `modify`: `content` or `result`.",
  "completion.pre":
    "`model`, `system`, `messages`, `tools`, `max_tokens`, `temperature`. `modify`: everything except the model; tools can only be removed.",
  "completion.post": "`model`, `text`, `tool_calls`, `usage`, `finish_reason`, `choices`.",
  "delegation.pre":
    "The arguments of `delegate`, with `agent` (empty if the call names none), `task` (also `prompt`) and the `depth` of the delegating agent. `modify`: everything except `depth`.",
  "delegation.post_verify":
    "`agent`, `task` (also `prompt`), `depth`, `response` (also `result`), `tool_calls`, `tool_results`, `attempt` from 1. `modify`: `response`.",
  "delegation.post":
    "As for `delegation.post_verify`, with `session`, `model`, `mode` (`sync`, `async`) and `status`. If the status is not `ok`, also `reason` and `error`, and `response` is empty. `modify`: `response`, if the status is `ok`.",
  "context.compact":
    "`trigger` (`auto`, `manual`), `cause` (`window`, `max_tokens`, `max_history`, `overflow`, `command`), `focus`, `tokens`, `limit`. `modify`: `focus`.",
  "meta.register_tool": "The fields of the tool.",
  "meta.register_hook": "The fields of the hook.",
  "meta.register_agent": "The fields of the agent.",
  error: "`reason`, `message`.",
};

/** Other spellings → the canonical name. */
export const hookEventAliases: Readonly<Record<string, string>> = {
  "delegate.pre": "delegation.pre",
  "delegate.post": "delegation.post",
  "delegate.post_verify": "delegation.post_verify",
  "agent.turn": "turn.start",
  "meta.tool_register": "meta.register_tool",
  "meta.hook_register": "meta.register_hook",
  "meta.agent_register": "meta.register_agent",
};

const CUSTOM_EVENT = /^custom\.[a-z0-9_.]+$/;

/** The canonical name; undefined when there is no such event. */
export function canonicalEvent(written: string): string | undefined {
  if (Object.hasOwn(hookEvents, written) || CUSTOM_EVENT.test(written)) return written;
  return Object.hasOwn(hookEventAliases, written) ? hookEventAliases[written] : undefined;
}
