/** The model behind a tape: what it is asked is written down or compared, what it says comes at its recorded time. */
import { defined } from "#base";
import type { ModelEvent, ModelOutcome, Provider } from "#engine";
import { ReasonError } from "#protocol";
import type { Tape } from "./tape.ts";

/** In a replay `provider` is not asked. */
export function tapedProvider(tape: Tape, session: string, provider: Provider): Provider {
  return {
    ...provider,
    async chat({ request, emit, signal, trace }) {
      try {
        return await tape.exchange<ModelEvent, ModelOutcome>({
          of: "model",
          session,
          request,
          hear: emit,
          live: (say) =>
            provider.chat({
              request,
              emit: (event) => void say(event),
              signal,
              ...defined({ trace }),
            }),
        });
      } catch (error) {
        if (!(error instanceof ReasonError)) throw error;
        return { type: "failed", reason: error.reason, message: error.message, retryable: false };
      }
    },
  };
}
