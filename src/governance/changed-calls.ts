/**
 * Tool middleware: a call that a person changed when they were asked about it passes the checks again with the new arguments: it is
 * validated, hooked and judged like any other. The model reads that it was changed.
 */
import { canonicalJson, compose, cutAtBlank } from "#base";
import { type CallResult, refusal, type ToolMiddleware } from "#engine";

/** Changes of one call; a hook that changes it back each time would ask for ever. */
const MAX_CHANGES = 5;
const SHOWN_CHARS = 2_000;

/** `checks`: what every call passes before it may run. A call that was changed has not gone beyond them. */
export function createChangedCalls(checks: readonly ToolMiddleware[]): ToolMiddleware {
  return async (call, next) => {
    const checked = compose(checks, next);
    let result = await checked(call);
    for (let left = MAX_CHANGES; result.changed !== undefined; left--) {
      if (left === 0) return refusal("denied", "PermissionDenied", `The call was changed ${MAX_CHANGES} times.`);
      const { changed } = result;
      const again = await checked({ ...call, args: changed.args, isRewritten: true, approvedChange: changed });
      result = again.changed === undefined ? withNote(again, changed.args) : again;
    }
    return result;
  };
}

function withNote(result: CallResult, args: unknown): CallResult {
  const shown = cutAtBlank(canonicalJson(args), SHOWN_CHARS);
  const text = `A person changed the arguments of this call before it ran. They are now: ${shown}`;
  return { ...result, content: [{ type: "text", text }, ...result.content] };
}
