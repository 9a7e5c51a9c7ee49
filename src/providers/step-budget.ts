/**
 * One budget of time for a step: every attempt, retry, fallback and wait is paid from it. Time in which the answer flows is free,
 * so that a long answer is not cut off; silence and a drip are not. Says in between that it waits.
 */
import { defaultTimeouts, type TimeoutSettings } from "#artifacts";
import type { Clock } from "#base";
import type { CallBudget, ModelEvent, ModelOutcome, Provider } from "#engine";
import type { Reason } from "#protocol";
import { type Failure, failure, inSeconds } from "./failure.ts";
import { wrapProvider } from "./wrapped-provider.ts";

/** An answer flows while its pieces are closer together than this part of the longest silence: 2 of 30 seconds. */
const FLOWING_PART = 1 / 15;
/** However well it flows: an answer without an end is none. */
const MAX_FLOWING_MS = 60 * 60_000;
/** A provider that does not listen to its signal is left behind after this. */
const GRACE_MS = 1_000;

export const FIRST_NOTICE_MS = 10_000;
export const NOTICE_EVERY_MS = 15_000;
/** In one step; the budget ends most steps long before. */
const MAX_NOTICES = 64;

/** What to do about a step that has failed. A notice about one of its attempts does not say it. */
const LATER = "Try again later, or choose another model.";
const ADVICE: Partial<Readonly<Record<Reason, string>>> = {
  RateLimited: LATER,
  ProviderUnavailable: LATER,
  ProviderTimeout: LATER,
  ProviderStreamCut: LATER,
  UnknownFinishReason: LATER,
  ProviderUnreachable: "Check the network, the proxy variables and base_url of the model.",
  ProviderGarbled: "Check base_url and family of the model, or choose another model.",
  ContentFiltered: "Rephrase the request, or choose another model.",
};

/** Around everything else: the one place that knows how long the step has taken. */
export function withStepBudget(
  provider: Provider,
  timeouts: TimeoutSettings,
  ports: { readonly clock: Clock },
): Provider {
  const { stepMs, chunkMs } = { ...defaultTimeouts, ...timeouts };
  return wrapProvider(provider, async (call) => {
    const { clock } = ports;
    const meter = createMeter(clock, stepMs, chunkMs * FLOWING_PART);
    const expired = new AbortController();
    const over = new AbortController();
    let lastFailure: string | undefined;

    const emit = (event: ModelEvent): void => {
      if (over.signal.aborted) return;
      if (event.type === "retrying") lastFailure = event.message;
      else if (event.type !== "model_changed") meter.progressed();
      call.emit(event);
    };
    const untilLate = async (): Promise<ModelOutcome | "late"> => {
      while (meter.leftMs() > 0 && !over.signal.aborted) {
        const notice = meter.notice();
        if (notice !== undefined) call.emit({ type: "waiting", ...notice });
        await clock.sleep(meter.wakeInMs(), over.signal);
      }
      if (!over.signal.aborted) {
        expired.abort();
        await clock.sleep(GRACE_MS, over.signal);
      }
      // The engine has its own grace for a provider that does not listen to a cancel.
      return call.signal.aborted ? answer : "late";
    };

    call.signal.addEventListener("abort", () => over.abort(), { once: true, signal: over.signal });
    const signal = AbortSignal.any([call.signal, expired.signal]);
    const answer = provider.chat({ ...call, signal, emit, budget: meter });
    const outcome = await Promise.race([answer, untilLate()]);
    over.abort();
    if (call.signal.aborted && outcome !== "late") return outcome;
    const isLate = outcome === "late" || (expired.signal.aborted && isCancelled(outcome));
    if (!isLate) return outcome.type === "done" ? outcome : advised(outcome);
    const late = failure("ProviderTimeout", false, {
      provider: call.request.model,
      detail: `no complete answer within ${inSeconds(stepMs)}, all attempts and waits together (timeouts.step_s)`,
    });
    const message = lastFailure === undefined ? late.message : `${late.message} Before that: ${lastFailure}`;
    const usage = outcome === "late" || outcome.usage === undefined ? {} : { usage: outcome.usage };
    return advised({ ...late, ...usage, message });
  });
}

interface Meter extends CallBudget {
  /** What to tell whoever waits; undefined when nothing is due. */
  notice(): { readonly waitedMs: number; readonly leftMs: number } | undefined;
  /** When something may be due. */
  wakeInMs(): number;
}

function createMeter(clock: Clock, stepMs: number, flowingGapMs: number): Meter {
  let pieceMs = clock.monotonicMs();
  let deadlineMs = pieceMs + stepMs;
  let flowedMs = 0;
  /** Since the last piece, and in all. */
  let told = 0;
  let notices = 0;
  const leftMs = (): number => deadlineMs - clock.monotonicMs();
  const nextNoticeMs = (): number => (notices < MAX_NOTICES ? FIRST_NOTICE_MS + told * NOTICE_EVERY_MS : Infinity);
  return {
    leftMs,
    progressed() {
      const nowMs = clock.monotonicMs();
      const gapMs = nowMs - pieceMs;
      pieceMs = nowMs;
      told = 0;
      if (gapMs > flowingGapMs) return;
      const freeMs = Math.min(gapMs, MAX_FLOWING_MS - flowedMs);
      flowedMs += freeMs;
      deadlineMs += freeMs;
    },
    notice() {
      const waitedMs = nextNoticeMs();
      if (clock.monotonicMs() - pieceMs < waitedMs) return undefined;
      told += 1;
      notices += 1;
      return { waitedMs, leftMs: Math.max(0, Math.round(leftMs())) };
    },
    wakeInMs: () => Math.max(0, Math.min(leftMs(), pieceMs + nextNoticeMs() - clock.monotonicMs())),
  };
}

function isCancelled(outcome: ModelOutcome): boolean {
  return outcome.type === "failed" && outcome.reason === "Cancelled";
}

function advised(failed: Failure): Failure {
  const advice = ADVICE[failed.reason];
  return advice === undefined ? failed : { ...failed, message: `${failed.message} ${advice}` };
}
