/** Which host something wanted to reach, and whether the network policy let it: for the record, whatever came of it. */
import { EffectError } from "#base";
import type { EventPayload } from "#protocol";

export type NetworkJudgement = Pick<EventPayload<"NetworkJudged">, "host" | "policy" | "reason">;

/** Refused before anything was sent: the host, its address, or a URL that is no http. */
const REFUSED_BY_POLICY: ReadonlySet<string> = new Set(["SandboxRefused", "AddressRefused", "InvalidUrl"]);

/** Sends, and never rejects: `response` gives what came back, or throws what went wrong. */
export async function judgedConnection<Response>(
  host: string,
  send: () => Promise<Response>,
): Promise<{ readonly judgement: NetworkJudgement; response(): Response }> {
  try {
    const response = await send();
    return { judgement: { host, policy: "allowed" }, response: () => response };
  } catch (error) {
    const isRefused = error instanceof EffectError && REFUSED_BY_POLICY.has(error.reason);
    return {
      judgement: isRefused ? { host, policy: "denied", reason: error.message } : { host, policy: "allowed" },
      response() {
        throw error;
      },
    };
  }
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "not a URL";
}
