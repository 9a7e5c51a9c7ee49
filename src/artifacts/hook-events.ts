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
