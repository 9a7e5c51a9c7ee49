/** The last handler of every request of a session: redacts it, asks the provider and measures how long that took. */
import type { Clock } from "#base";
import { reasonText } from "#protocol";
import { abandonOnAbort } from "./abandon.ts";
import type { Provider } from "./provider.ts";
import type { Redaction } from "./redaction.ts";
import type { RequestHandler } from "./request-chain.ts";

export function reachProvider(parts: {
  readonly provider: Pick<Provider, "chat">;
  readonly redaction: Pick<Redaction, "request">;
  readonly clock: Pick<Clock, "monotonicMs">;
}): RequestHandler {
  const { provider, redaction, clock } = parts;
  return async (call) => {
    // Behind every middleware: nobody adds anything to what has passed here.
    const clean = { ...call, request: redaction.request(call.request) };
    const startMs = clock.monotonicMs();
    // A provider that does not listen to its signal is left behind after the grace; what it still says goes nowhere.
    const outcome = await abandonOnAbort(provider.chat(clean), call.signal);
    call.onChat(clock.monotonicMs() - startMs);
    return outcome ?? { type: "failed", reason: "Cancelled", message: reasonText("Cancelled"), retryable: false };
  };
}
