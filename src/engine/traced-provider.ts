/** Shows the calls of a provider to somebody who asked to see them. What they see was redacted for the provider already. */
import type { ModelEvent, ModelOutcome, ModelRequest, Provider, WireTrace } from "./provider.ts";

/** Must not throw. */
export interface CallTrace extends WireTrace {
  asked(request: ModelRequest): void;
  /** Events in order, as they came: a text, and a secret in it, lies in several. */
  answered(events: readonly ModelEvent[], outcome: ModelOutcome): void;
}

/** Events that are kept for a trace; a longer answer is told without its end. */
const MAX_TRACED_EVENTS = 100_000;

/** `trace` is asked before each call. */
export function traceProvider(provider: Provider, trace: () => CallTrace | undefined): Provider {
  return {
    ...provider,
    async chat(call) {
      const seen = trace();
      if (seen === undefined) return provider.chat(call);
      const events: ModelEvent[] = [];
      seen.asked(call.request);
      const outcome = await provider.chat({
        ...call,
        trace: seen,
        emit(event) {
          if (events.length < MAX_TRACED_EVENTS) events.push(event);
          call.emit(event);
        },
      });
      seen.answered(events, outcome);
      return outcome;
    },
  };
}
