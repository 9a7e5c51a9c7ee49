/** Asks the next model of a chain when one cannot answer. */
import type { Clock } from "#base";
import type { ModelEvent, Provider } from "#engine";
import type { Reason } from "#protocol";
import { failure } from "./failure.ts";
import { chatInShare } from "./fallback-share.ts";
import { wrapProvider } from "./wrapped-provider.ts";

export interface FallbackModel {
  /** `provider:name`. */
  readonly model: string;
  readonly provider: Provider;
}

/** Another model is no way around these: the person wants to stop, or the answer itself was refused or too large. */
const FINAL: readonly Reason[] = ["Cancelled", "ContentFiltered", "OutputLimit", "ConfigInvalid", "InternalError"];

/** The first model answers as asked for in the request; the others take its place in order. Needs at least one. */
export function withFallback(chain: readonly FallbackModel[], ports: { readonly clock: Clock }): Provider {
  const [first, ...others] = chain;
  if (first === undefined) throw new Error("a fallback chain needs a model");
  return wrapProvider(first.provider, async (call) => {
    let previous = call.request.model;
    let outcome = await chatInShare(first.provider, call, chain.length, ports);
    for (const [index, { model, provider }] of others.entries()) {
      if (outcome.type === "done" || FINAL.includes(outcome.reason)) return outcome;
      if (call.request.isCapFinal && outcome.reason === "OutputTruncated") return outcome;
      if (call.signal.aborted) return failure("Cancelled", false);
      const failed = outcome;
      let announced = false;
      // Told only once the next model does something: one that cannot be asked at all is passed over in silence.
      const announce = (): void => {
        if (announced) return;
        announced = true;
        call.emit({ type: "retrying", reason: failed.reason, message: failed.message, retryAfterMs: 0 });
        call.emit({ type: "model_changed", model, previous });
        previous = model;
      };
      const emit = (event: ModelEvent): void => {
        announce();
        call.emit(event);
      };
      const asked = { ...call, request: { ...call.request, model }, emit };
      const next = await chatInShare(provider, asked, others.length - index, ports);
      if (next.type === "failed" && next.reason === "MissingCredential") continue;
      announce();
      outcome = next;
    }
    return outcome;
  });
}
