/**
 * Questions of tools to the model of the session: one at a time, within the budgets, redacted, and counted in the costs of the turn.
 * Nothing of the conversation goes with them, and the model gets no tools.
 */
import { compose, createSerial, EffectError, type ModelQuestion, type ModelReply } from "#base";
import type { Message } from "#protocol";
import { askAside } from "./aside.ts";
import type { EventBus } from "./bus.ts";
import type { Provider } from "./provider.ts";
import type { Redaction } from "./redaction.ts";
import type { RequestMiddleware } from "./request-chain.ts";
import type { ToolCall } from "./tool-chain.ts";
import { type ModelUse, publishCost } from "./turn-tally.ts";

export interface ModelQuestions {
  /** On behalf of a call. Rejects with an `EffectError`. */
  ask(call: ToolCall, question: ModelQuestion, signal: AbortSignal): Promise<ModelReply>;
  /** What they have used since this was called last: it belongs to the turn that runs. */
  takeUsed(): readonly ModelUse[];
}

export function createModelQuestions({
  bus,
  redaction,
  provider,
  budgets,
  model,
}: {
  readonly bus: Pick<EventBus, "publish">;
  readonly redaction: Pick<Redaction, "request">;
  readonly provider: Pick<Provider, "chat">;
  readonly budgets: RequestMiddleware;
  /** Asked for each question: `provider:name`. */
  readonly model: () => string;
}): ModelQuestions {
  // Budgets know a request by its turn and step.
  const serial = createSerial();
  let used: ModelUse[] = [];
  const request = compose([budgets], (call) => provider.chat({ ...call, request: redaction.request(call.request) }));

  async function ask(call: ToolCall, question: ModelQuestion, signal: AbortSignal): Promise<ModelReply> {
    if (signal.aborted) throw new EffectError("Cancelled", "the call was cancelled");
    const { session, turn, step, originator } = call;
    const at = { session, turn, step, originator, signal };
    const { system, maxTokens, temperature } = question;
    // Blocks and roles are those of an input and of an answer.
    const messages = question.messages as readonly Message[];
    const asked = { model: model(), system, messages, tools: [], maxTokens, isCapFinal: true as const };
    const wanted = temperature === undefined ? asked : { ...asked, temperature };
    const { outcome, text, use } = await askAside(request, at, wanted);
    if (use !== undefined) {
      used.push(use);
      await publishCost(bus, turn, step, use);
    }
    if (outcome.type === "done") return { text, model: outcome.model, isCut: false };
    if (outcome.reason === "OutputTruncated" && text !== "") return { text, model: asked.model, isCut: true };
    throw new EffectError(signal.aborted ? "Cancelled" : "ModelFailed", `${outcome.reason}: ${outcome.message}`);
  }

  return {
    ask: (call, question, signal) => serial(() => ask(call, question, signal)),
    takeUsed() {
      const taken = used;
      used = [];
      return taken;
    },
  };
}
