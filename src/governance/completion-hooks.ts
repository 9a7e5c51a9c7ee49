/**
 * Request middleware: `completion.pre` sees the request as the provider would get it and may refuse or rewrite it;
 * `completion.post` sees what came back. Innermost of the chain, so that nothing is added after it was judged.
 */
import { isRecord } from "#base";
import type {
  HookDispatcher,
  HookPoint,
  ModelEvent,
  ModelOutcome,
  ModelRequest,
  PayloadChanges,
  RequestCall,
  RequestMiddleware,
} from "#engine";
import { type Message, reasonText } from "#protocol";

export interface CompletionHooksOptions {
  readonly hooks: HookDispatcher;
  readonly depth: number;
}

export function createCompletionHooks({ hooks, depth }: CompletionHooksOptions): RequestMiddleware {
  return async (call, next) => {
    const { session, turn, step, originator, signal } = call;
    const point: HookPoint = { session, turn, step, depth, nesting: 0, originator, signal };
    let asked = call;
    if (!hooks.idle("completion.pre")) {
      const payload = shown(call.request);
      const verdict = await hooks.dispatch("completion.pre", payload, point, requestChanges);
      if (verdict.blocked) return refused("completion.pre", verdict);
      if (verdict.payload !== payload) {
        const request = await rewritten(call.request, verdict.payload);
        if ("problem" in request)
          return refused("completion.pre", { hook: "completion.pre", reason: request.problem, source: "-" });
        asked = { ...call, request };
      }
    }
    if (hooks.idle("completion.post")) return next(asked);
    const gathered = gather(asked);
    const outcome = await next(gathered.call);
    if (outcome.type !== "done") return outcome;
    const { model, usage, stop } = outcome;
    const { text, calls } = gathered;
    const message = { role: "assistant", content: text(), tool_calls: calls() };
    const payload = {
      model,
      text: text(),
      tool_calls: calls(),
      usage,
      finish_reason: stop,
      choices: [{ message, finish_reason: stop }],
    };
    const verdict = await hooks.dispatch("completion.post", payload, point);
    return verdict.blocked ? refused("completion.post", verdict) : outcome;
  };
}

const requestChanges: PayloadChanges = { fields: ["system", "messages", "tools", "max_tokens", "temperature"] };

/** Texts are plain strings for scripts; everything else as it is. */
function shown({ model, system, messages, tools, maxTokens, temperature }: ModelRequest) {
  return {
    model,
    system: [...system],
    messages: messages.map(({ role, content }) => ({ role, content })),
    tools: tools.map(({ name, description }) => ({ name, description })),
    max_tokens: maxTokens ?? null,
    temperature: temperature ?? null,
  };
}

/** `system`, `messages`, `max_tokens` and `temperature` may be changed, and tools left out; a model is chosen elsewhere. */
async function rewritten(
  request: ModelRequest,
  payload: unknown,
): Promise<ModelRequest | { readonly problem: string }> {
  if (!isRecord(payload)) return { problem: "the hook returned a value that is not a dict" };
  const { system = request.system, messages = request.messages, tools, max_tokens, temperature } = payload;
  if (!Array.isArray(system) || !system.every((text) => typeof text === "string")) {
    return { problem: "system is not a list of strings" };
  }
  const { message } = await import("#protocol/schemas");
  const checked = message.array().safeParse(messages);
  if (!checked.success) return { problem: `messages are not valid: ${checked.error.issues[0]?.message ?? ""}` };
  const kept = Array.isArray(tools)
    ? new Set(tools.map((tool: unknown) => (isRecord(tool) ? tool.name : tool)))
    : undefined;
  return {
    ...request,
    system,
    // The schema has checked every field; it types ids as plain text.
    messages: checked.data as readonly Message[],
    tools: kept === undefined ? request.tools : request.tools.filter(({ name }) => kept.has(name)),
    ...(typeof max_tokens === "number" && max_tokens > 0 ? { maxTokens: Math.floor(max_tokens) } : {}),
    ...(typeof temperature === "number" ? { temperature } : {}),
  };
}

function gather(call: RequestCall) {
  let texts: string[] = [];
  let calls: { name: string; arguments: string }[] = [];
  const emit = (event: ModelEvent): void => {
    if (event.type === "text") texts.push(event.text);
    else if (event.type === "tool_call") calls.push({ name: event.name, arguments: event.arguments });
    else if (event.type === "retrying") {
      texts = [];
      calls = [];
    }
    call.emit(event);
  };
  return { call: { ...call, emit }, text: () => texts.join(""), calls: () => calls };
}

function refused(
  event: string,
  { hook, reason, source }: { hook: string; reason: string; source: string },
): ModelOutcome {
  const message = reasonText("HookBlocked", { event, hook, reason, source });
  return { type: "failed", reason: "HookBlocked", message, retryable: false };
}
