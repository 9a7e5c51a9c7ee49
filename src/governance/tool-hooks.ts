/**
 * Tool middleware: `tool.pre` before a call is judged, so that nobody is asked about what policy blocks and what a person
 * approves is what runs; `tool.post` on the result of a call that ran.
 */
import { canonicalHash, defined, isRecord, jsonIn } from "#base";
import {
  type CallResult,
  eitherName,
  type HookContext,
  type HookDispatcher,
  type HookPoint,
  type HookVerdict,
  type PayloadChanges,
  refusal,
  type ToolCall,
  type ToolMiddleware,
} from "#engine";
import { type Label, ReasonError, reasonText, type ToolOutputBlock, textIn } from "#protocol";

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
    const verdict = await hooks.dispatch("tool.pre", payload, pointOf(call), callChanges);
    if (verdict.blocked) {
      call.annotate({ "tool.policy": "denied", "tool.deny.reason": verdict.hook });
      return blocked(verdict);
    }
    call.annotate(verdict.attributes);
    const { permission: hookSays, context } = verdict;
    const asked = { ...call, ...defined({ hookSays }) };
    const result =
      verdict.payload === payload
        ? await judgedLater(asked, next)
        : await judgedLater({ ...asked, args: argumentsOf(verdict.payload), isRewritten: true }, next);
    return withContext(result, context);
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
    const content = textIn(result.content);
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
    const verdict = await hooks.dispatch("tool.post", payload, pointOf(call), resultChanges);
    if (verdict.blocked) {
      call.annotate({ "tool.deny.reason": verdict.hook });
      return blocked(verdict);
    }
    call.annotate(verdict.attributes);
    const told = withContext(
      verdict.payload === payload ? result : changedResult(result, verdict.payload),
      verdict.context,
    );
    return verdict.endsTurn === undefined ? told : { ...told, endsTurn: ending("tool.post", verdict.endsTurn) };
  };
}

/** What hooks add for the model is a part of its own, which is delimited like everything that a tool gives back. */
function withContext(result: CallResult, context: readonly HookContext[] = []): CallResult {
  if (context.length === 0) return result;
  const added = context.map(({ hook, source, text }): ToolOutputBlock => {
    return { type: "text", text: `From the hook "${hook}" (${source}):\n${text}` };
  });
  return { ...result, content: [...result.content, ...added] };
}

function ending(event: string, { hook, reason }: { readonly hook: string; readonly reason: string }): ReasonError {
  const message = reasonText("HookBlocked", { event, hook, reason, source: "continue: false" });
  return ReasonError.withMessage("HookBlocked", message);
}

function pointOf({ session, turn, step, id, depth, nesting, originator, signal }: ToolCall): HookPoint {
  return { session, turn, step, callId: id, depth, nesting, originator, signal };
}

function blocked({ hook, reason, source, endsTurn }: BlockedVerdict): CallResult {
  const refused = refusal("denied", "HookBlocked", `blocked by hook "${hook}": ${reason}`);
  const place = { type: "text", text: `(${source}) To allow it, change that hook.` } as const;
  return {
    ...refused,
    content: [...refused.content, place],
    ...(endsTurn && { endsTurn: ending("tool.pre", { hook, reason }) }),
  };
}

/** `args` and `arguments` are two names of one thing; which call it is stays as it was. */
const callChanges: PayloadChanges = {
  fields: ["args", "arguments"],
  settle(merged, before) {
    if (merged.name !== before.name) throw new Error("modify: the name of the tool was changed");
    if (merged.id !== before.id) throw new Error("modify: the id of the call was changed");
    for (const name of ["args", "arguments"]) {
      if (!isRecord(merged[name])) throw new Error(`modify: ${name} is not a dict`);
    }
    const args = eitherName(merged, before, ["args", "arguments"]);
    return { ...merged, args, arguments: args, arguments_json: JSON.stringify(args) };
  },
};

function argumentsOf(payload: unknown): Record<string, unknown> {
  if (isRecord(payload) && isRecord(payload.args)) return payload.args;
  throw new Error("the hooks on tool.pre left no arguments");
}

/** `result` is `content`, decoded; `content` counts where both were changed. */
const resultChanges: PayloadChanges = {
  fields: ["content", "result", "is_error"],
  settle(merged, before) {
    const { content, result } = merged;
    if (typeof content !== "string") throw new Error("modify: content is not a string");
    if (typeof merged.is_error !== "boolean") throw new Error("modify: is_error is not a bool");
    if (content !== before.content) return { ...merged, result: decoded(content) };
    if (canonicalHash(result) === canonicalHash(before.result)) return merged;
    return { ...merged, content: typeof result === "string" ? result : JSON.stringify(result) };
  },
};

/** What is not text stays as it was. */
function changedResult(result: CallResult, payload: unknown): CallResult {
  if (!isRecord(payload) || typeof payload.content !== "string")
    throw new Error("the hooks on tool.post left no result");
  const images = result.content.filter((block) => block.type !== "text");
  const isError = payload.is_error === true;
  const outcome = isError ? (result.outcome === "ok" ? "error" : result.outcome) : "ok";
  const { reason, ...rest } = result;
  const kept = isError ? { reason: reason ?? ("ToolFailed" as const) } : {};
  return { ...rest, ...kept, outcome, content: [{ type: "text", text: payload.content }, ...images] };
}

/** JSON where it is JSON, else the text itself. */
function decoded(text: string): unknown {
  const first = text.trimStart()[0];
  if (first === undefined || !'{["-0123456789tfn'.includes(first)) return text;
  const value = jsonIn(text);
  return value === undefined ? text : value;
}
