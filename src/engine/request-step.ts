/** One request of a step: what the model writes is published as it comes, and how the call ended is the result. */
import { defined } from "#base";
import type { ClientId, IdMint, SessionId, TurnId } from "#protocol";
import type { EventBus } from "./bus.ts";
import type { Conversation } from "./conversation.ts";
import type { RequestedCall } from "./dispatch.ts";
import type { ModelEvent, ModelOutcome } from "./provider.ts";
import type { RequestHandler } from "./request-chain.ts";
import type { Tool } from "./tool.ts";
import type { Tally } from "./turn-tally.ts";

export interface StepParts {
  readonly session: SessionId;
  readonly bus: EventBus;
  readonly conversation: Conversation;
  readonly ids: Pick<IdMint, "call">;
  readonly request: RequestHandler;
  /** Asked at every step: `provider:name`. */
  readonly model: () => string;
  /** A fallback took over: it stays for the rest of the turn. */
  readonly useModel: (model: string) => void;
  readonly monotonicMs: () => number;
}

interface StepInput {
  readonly turn: TurnId;
  readonly originator: ClientId;
  readonly signal: AbortSignal;
}

/** What a provider says about the call; everything else is part of the answer. */
const NOT_WRITTEN: ReadonlySet<ModelEvent["type"]> = new Set(["retrying", "model_changed", "waiting"]);

export interface StepOutput {
  readonly outcome: ModelOutcome;
  readonly calls: readonly RequestedCall[];
  readonly yielded: boolean;
  readonly text: string;
  /** Something of the answer is in the log. */
  readonly written: boolean;
}

export async function requestStep(
  parts: StepParts,
  input: StepInput,
  step: number,
  tools: readonly Tool[],
  tally: Tally,
): Promise<StepOutput> {
  const { bus, monotonicMs, session } = parts;
  const { turn, originator, signal } = input;
  let calls: RequestedCall[] = [];
  let yielded = false;
  const texts: string[] = [];
  let written = false;
  const startMs = monotonicMs();

  function emit(event: ModelEvent): void {
    if (!NOT_WRITTEN.has(event.type)) {
      tally.firstByteMs ??= monotonicMs() - startMs;
      written = true;
    }
    switch (event.type) {
      case "text":
        texts.push(event.text);
        bus.publishDelta({ kind: "TextDelta", payload: { turn, step, block: event.block, text: event.text } });
        break;
      case "thinking": {
        const payload = {
          turn,
          step,
          block: event.block,
          text: event.text,
          provider: providerOf(parts),
        };
        bus.publishDelta({ kind: "ThinkingDelta", payload });
        break;
      }
      case "thinking_block": {
        const { provider, data } = event.content;
        tellLater(bus.publish("ThinkingDelta", { turn, step, block: event.block, text: "", provider, data }));
        break;
      }
      case "tool_call":
        calls.push({ id: parts.ids.call(), block: event.block, name: event.name, arguments: event.arguments });
        break;
      case "yield":
        yielded = true;
        break;
      case "retrying": {
        calls = [];
        texts.length = 0;
        yielded = false;
        const { reason, message, retryAfterMs: retry_after_ms, retry } = event;
        const error = { turn, step, reason, message, terminal: false, retry_after_ms, ...defined({ retry }) };
        tellLater(bus.publish("Error", error));
        break;
      }
      case "waiting": {
        const { waitedMs: waited_ms, leftMs: left_ms } = event;
        tellLater(bus.publish("ModelWaiting", { turn, step, waited_ms, left_ms }));
        break;
      }
      case "model_changed":
        parts.useModel(event.model);
        tellLater(bus.publish("ModelChanged", { model: event.model, previous: event.previous }));
        break;
    }
  }

  const request = { model: parts.model(), system: [], messages: [], tools: [] };
  const history = parts.conversation.messages();
  let chatMs = 0;
  const outcome = await parts.request({
    request,
    emit,
    signal,
    session,
    turn,
    step,
    originator,
    history,
    pinned: parts.conversation.pinned(),
    tools,
    onChat: (ms) => {
      chatMs += ms;
    },
  });
  tally.providerMs += chatMs;
  tally.requestMs += monotonicMs() - startMs - chatMs;
  return { outcome, calls, yielded, text: texts.join(""), written };
}

function providerOf(parts: StepParts): string {
  const model = parts.model();
  return model.slice(0, model.indexOf(":"));
}

/** A publish inside a synchronous callback: a failure to store stops the turn through the bus's `onFailure`. */
function tellLater(published: Promise<void>): void {
  published.catch(() => undefined);
}
