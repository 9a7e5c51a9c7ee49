/**
 * Tool middleware: `tool.pre` before a call is judged, so that nobody is asked about what policy blocks and what a person
 * approves is what runs; `tool.post` on the result of a call that ran.
 */
import { canonicalHash, isRecord } from "#base";
import {
  type CallResult,
  type HookDispatcher,
  type HookPoint,
  type HookVerdict,
  refusal,
  type ToolCall,
  type ToolMiddleware,
} from "#engine";
import type { Label, ToolOutputBlock } from "#protocol";

type BlockedVerdict = Extract<HookVerdict, { readonly blocked: true }>;

/** Arguments that a hook has changed are validated again by what comes next in the chain. */
export function createPreHooks(hooks: HookDispatcher, labels: () => readonly Label[]): ToolMiddleware {
  return async (call, next) => {
    if (hooks.idle("tool.pre")) return judgedLater(call, next);
    const { id, tool, args } = call;
    const payload = {
      id,
      name: tool.name,
      args,
      arguments: args,
      arguments_json: JSON.stringify(args),
      labels: labels(),
    };
    const verdict = await hooks.dispatch("tool.pre", payload, pointOf(call));
    if (verdict.blocked) {
      call.annotate({ "tool.policy": "denied", "tool.deny.reason": verdict.hook });
      return blocked(verdict);
    }
    call.annotate(verdict.attributes);
    if (verdict.payload === payload) return judgedLater(call, next);
    const changed = changedArguments(verdict.payload, call);
    if ("problem" in changed) {
      const reason = `a tool.pre hook answered with a payload that cannot be used: ${changed.problem}`;
      call.annotate({ "tool.policy": "denied", "tool.deny.reason": "tool.pre" });
      return blocked({ hook: "tool.pre", reason, source: "built-in: tool.pre" });
    }
    return judgedLater({ ...call, args: changed.args, isRewritten: true }, next);
  };
}

/** What comes next may still refuse it; what the tool itself notes about a refusal inside it stays. */
async function judgedLater(call: ToolCall, next: (call: ToolCall) => Promise<CallResult>): Promise<CallResult> {
  call.annotate({ "tool.policy": "allowed" });
  const result = await next(call);
  if (result.outcome !== "denied" || result.reason === "HookBlocked") return result;
  call.annotate({ "tool.policy": "denied", "tool.deny.reason": "permissions" });
  return result;
}

export function createPostHooks(hooks: HookDispatcher): ToolMiddleware {
  return async (call, next) => {
    const result = await next(call);
    if (hooks.idle("tool.post")) return result;
    const content = textOf(result.content);
    const payload = {
      call_id: call.id,
      name: call.tool.name,
      args: call.args,
      arguments: call.args,
      content,
      result: decoded(content),
      is_error: result.outcome !== "ok",
      labels: result.labels ?? [],
    };
    const verdict = await hooks.dispatch("tool.post", payload, pointOf(call));
    if (verdict.blocked) {
      call.annotate({ "tool.deny.reason": verdict.hook });
      return blocked(verdict);
    }
    call.annotate(verdict.attributes);
    return verdict.payload === payload ? result : changedResult(result, verdict.payload, payload);
  };
}

function pointOf({ session, turn, step, id, depth, nesting, originator, signal }: ToolCall): HookPoint {
  return { session, turn, step, callId: id, depth, nesting, originator, signal };
}

function blocked({ hook, reason, source }: Pick<BlockedVerdict, "hook" | "reason" | "source">): CallResult {
  const refused = refusal("denied", "HookBlocked", `blocked by hook "${hook}": ${reason}`);
  const place = { type: "text", text: `(${source}) To allow it, change that hook.` } as const;
  return { ...refused, content: [...refused.content, place] };
}

/** `args` and `arguments` are two names of one thing: whichever differs from what the hook was given counts. */
function changedArguments(
  payload: unknown,
  call: ToolCall,
): { readonly args: Record<string, unknown> } | { readonly problem: string } {
  if (!isRecord(payload)) return { problem: "it is no dict" };
  if ("name" in payload && payload.name !== call.tool.name) return { problem: "the name of the tool was changed" };
  if ("id" in payload && payload.id !== call.id) return { problem: "the id of the call was changed" };
  const before = canonicalHash(call.args);
  const changed: Record<string, unknown>[] = [];
  for (const name of ["args", "arguments"] as const) {
    if (!(name in payload)) continue;
    const value = payload[name];
    if (!isRecord(value)) return { problem: `${name} is no dict` };
    if (canonicalHash(value) !== before) changed.push(value);
  }
  const [first, second] = changed;
  if (first === undefined) return { args: { ...call.args } };
  if (second !== undefined && canonicalHash(first) !== canonicalHash(second)) {
    return { problem: "args and arguments were changed differently" };
  }
  return { args: first };
}

/** Text may be replaced through `content` or `result`; what is not text stays as it was. */
function changedResult(
  result: CallResult,
  payload: unknown,
  given: { readonly content: string; readonly result: unknown; readonly is_error: boolean },
): CallResult {
  if (!isRecord(payload))
    return blocked({
      hook: "tool.post",
      reason: "a hook answered with something that is no dict",
      source: "built-in: tool.post",
    });
  const { content, result: decodedResult, is_error } = payload;
  let text = given.content;
  if (typeof content === "string" && content !== given.content) text = content;
  else if ("result" in payload && canonicalHash(decodedResult) !== canonicalHash(given.result)) {
    text = typeof decodedResult === "string" ? decodedResult : JSON.stringify(decodedResult);
  }
  const isError = typeof is_error === "boolean" ? is_error : given.is_error;
  const images = result.content.filter((block) => block.type !== "text");
  const outcome = isError ? (result.outcome === "ok" ? "error" : result.outcome) : "ok";
  const { reason, ...rest } = result;
  const kept = isError ? { reason: reason ?? ("ToolFailed" as const) } : {};
  return { ...rest, ...kept, outcome, content: [{ type: "text", text }, ...images] };
}

function textOf(content: readonly ToolOutputBlock[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** JSON where it is JSON, else the text itself. */
function decoded(text: string): unknown {
  const first = text.trimStart()[0];
  if (first === undefined || !'{["-0123456789tfn'.includes(first)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
