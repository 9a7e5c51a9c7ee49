/** The names of the moments at which hooks are asked. */

/** Event → when it happens. */
export const hookEvents: Readonly<Record<string, string>> = {
  "session.start": "A session has begun.",
  "session.end": "A session is over.",
  "agent.start": "An agent, the root or a delegate, is about to work.",
  "agent.stop": "An agent wants to stop; blocking sends it back to work with the reason.",
  "turn.start": "An input has arrived; nothing has been asked of the model.",
  "turn.end": "The turn has its answer.",
  "tool.pre": "A call has valid arguments and has not run.",
  "tool.post": "A call has its result; the model has not seen it.",
  "completion.pre": "A request is about to go to the model.",
  "completion.post": "The model has answered.",
  "delegation.pre": "A delegate is about to be started.",
  "delegation.post_verify": "A delegate's result is to be verified.",
  "delegation.post": "A delegate has returned.",
  "context.compact": "The conversation is about to be shortened.",
  "meta.register_tool": "A script wants to add a tool.",
  "meta.register_hook": "A script wants to add a hook.",
  "meta.register_agent": "A script wants to add an agent.",
  error: "Something failed for good.",
};

/** Event → what `payload` is, and what `modify` can change of it. For people. */
export const hookPayloads: Readonly<Record<keyof typeof hookEvents, string>> = {
  "session.start": "None.",
  "session.end": "None.",
  "agent.start": "`task`, `depth`, `model`. `modify`: `task`.",
  "agent.stop": "`text` (its answer), `tool_calls`, `depth`, `attempt` (how often it was sent back).",
  "turn.start": "The text of the input. `modify`: that text.",
  "turn.end": "`text`, `tool_calls`, `usage`, `total_tokens`, `outcome`.",
  "tool.pre":
    "`id`, `name`, `args` (also `arguments` and `arguments_json`), `labels` of the session. `modify`: the arguments.",
  "tool.post":
    "`call_id`, `name`, `args` (also `arguments`), `content` (text), `result` (the same, decoded where it is JSON), `is_error`, `labels` of the result. `modify`: `content` or `result`.",
  "completion.pre":
    "`model`, `system`, `messages`, `tools`, `max_tokens`, `temperature`. `modify`: all but the model; tools can only be left out.",
  "completion.post": "`model`, `text`, `tool_calls`, `usage`, `finish_reason`, `choices`.",
  "delegation.pre":
    "The arguments of `delegate`, with `agent` (empty: nobody by name), `task` (also `prompt`) and `depth` of whoever delegates. `modify`: any of them but `depth`.",
  "delegation.post_verify":
    "`agent`, `task` (also `prompt`), `depth`, `response` (also `result`), `tool_calls`, `tool_results`, `attempt` from 1. `modify`: `response`.",
  "delegation.post":
    "As for `delegation.post_verify`, with `session`, `model`, `mode` (`sync`, `async`) and `status`; where that is not `ok`, `reason` and `error`, and `response` is empty. `modify`: `response` of one that is `ok`.",
  "context.compact": "Not asked by this version.",
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
