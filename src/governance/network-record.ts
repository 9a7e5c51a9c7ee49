/** Which hosts a request wanted to reach and what became of it: one judgement for each hop. Used around every web port that is handed out. */
import { EffectError, type WebPost, type WebRequest } from "#base";
import type { EventPayload } from "#protocol";

export type NetworkJudgement = Pick<EventPayload<"NetworkJudged">, "host" | "policy" | "reason">;

/** Refused before anything was sent: by a list, a rule, the address, or a URL that is no http. */
const REFUSED: ReadonlySet<string> = new Set(["SandboxRefused", "AddressRefused", "AccessDenied", "InvalidUrl"]);

/** Sends the request, judges each redirect with `judgeHop`, and tells every host when it is known how it went. */
export async function recorded<Request extends WebRequest | WebPost, Response>(
  request: Request,
  send: (request: Request) => Promise<Response>,
  judgeHop: (url: string) => Promise<void>,
  tell: (judged: NetworkJudgement) => void,
): Promise<Response> {
  let host = hostOf(request.url);
  const onHop = async (url: string): Promise<void> => {
    const next = hostOf(url);
    if (next !== host) tell({ host, policy: "allowed" });
    host = next;
    await judgeHop(url);
  };
  try {
    const response = await send({ ...request, onHop });
    tell({ host, policy: "allowed" });
    return response;
  } catch (error) {
    const isRefused = error instanceof EffectError && REFUSED.has(error.reason);
    tell(isRefused ? { host, policy: "denied", reason: error.message } : { host, policy: "allowed" });
    throw error;
  }
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "not a URL";
}
