/**
 * The part of a step that one model of a fallback chain may stay silent for: an equal share of the time that is left for each model
 * that is left. An answer that has begun is not cut off by it.
 */
import type { Clock } from "#base";
import type { ModelCall, ModelEvent, ModelOutcome, Provider } from "#engine";
import { failure, inSeconds } from "./failure.ts";

/** `modelsLeft` counts this one. The last one has all the time that is left. */
export async function chatInShare(
  provider: Provider,
  call: ModelCall,
  modelsLeft: number,
  { clock }: { readonly clock: Clock },
): Promise<ModelOutcome> {
  const { budget } = call;
  if (budget === undefined || modelsLeft === 1) return provider.chat(call);
  const shareMs = budget.leftMs() / modelsLeft;
  const endMs = clock.monotonicMs() + shareMs;
  const expired = new AbortController();
  const over = new AbortController();
  let hasBegun = false;
  const emit = (event: ModelEvent): void => {
    hasBegun = event.type !== "retrying";
    call.emit(event);
  };
  const progressed = (): void => {
    hasBegun = true;
    budget.progressed();
  };
  const leftMs = (): number => Math.min(budget.leftMs(), endMs - clock.monotonicMs());
  void clock.sleep(shareMs, over.signal).then(() => {
    if (!over.signal.aborted && !hasBegun) expired.abort();
  });
  const signal = AbortSignal.any([call.signal, expired.signal]);
  const outcome = await provider.chat({ ...call, signal, emit, budget: { leftMs, progressed } });
  over.abort();
  const isLate = expired.signal.aborted && !call.signal.aborted;
  if (!isLate || outcome.type === "done" || outcome.reason !== "Cancelled") return outcome;
  const detail = `nothing came within ${inSeconds(shareMs)}, its share of the step while other models are left (timeouts.step_s)`;
  const usage = outcome.usage === undefined ? {} : { usage: outcome.usage };
  return { ...failure("ProviderTimeout", false, { provider: call.request.model, detail }), ...usage };
}
