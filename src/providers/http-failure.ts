/** How an HTTP exchange fails, in our reasons. Pure functions. */
import type { IncomingHttpHeaders } from "node:http";
import { type Reason, reasonText } from "#protocol";
import { inSeconds } from "./failure.ts";
import type { HttpFailure, HttpRequest, NotSent } from "./http.ts";

/** What the credential helper adds to the vendor's answer; it lets none of a vendor's own headers through that look so. */
const HELPER_REFUSED = "x-harness-refused";
const HELPER_FAILED = "x-harness-failed";
export const HELPER_CUT = "x-harness-cut";

/** Which of its time limits an exchange is under. */
export type Phase = "headers" | "first token" | "chunk" | "end";

function failed(reason: Reason, retryable: boolean, values: Readonly<Record<string, string | number>>): HttpFailure {
  return { type: "failed", reason, message: reasonText(reason, values), retryable };
}

/** What the helper says instead of an answer of the vendor. */
export function helperProblem(request: HttpRequest, headers: IncomingHttpHeaders): HttpFailure | NotSent | undefined {
  const code = headers[HELPER_FAILED];
  if (code !== undefined) return code === "STALE" ? "stale" : unreachable(request, String(code));
  const { credential, url } = request;
  switch (headers[HELPER_REFUSED]) {
    case undefined:
      return undefined;
    case "HostNotBound":
      return failed("CredentialHostRefused", false, {
        credential: credential?.source ?? "",
        host: url.origin,
        hosts: credential?.hosts.join(", ") || "no host",
      });
    case "AuthHeaderGiven":
      return failed("ConfigInvalid", false, {
        detail: `the headers configured for ${request.peer} contain authentication, which the key already provides. Remove them`,
      });
    default:
      return failed("CredentialHelperFailed", false, { detail: `it refused: ${String(headers[HELPER_REFUSED])}` });
  }
}

export function helperLost(): HttpFailure {
  return failed("CredentialHelperFailed", true, { detail: "it ended in the middle of a response" });
}

export function cancelled(): HttpFailure {
  return failed("Cancelled", false, {});
}

export function unreachable({ peer, url }: HttpRequest, detail: string): HttpFailure {
  // What came back is not HTTP, or headers without an end.
  if (detail.startsWith("HPE_")) return failed("ProviderGarbled", true, { provider: peer, detail });
  const certificate = detail.includes("CERT") || detail.includes("TLS") || detail.includes("SSL");
  return failed("ProviderUnreachable", !certificate, { provider: peer, host: url.host, detail });
}

export function unsendable(request: HttpRequest, error: unknown): HttpFailure {
  const detail = `the request to ${request.peer} cannot be sent: ${error instanceof Error ? error.message : "unknown"}`;
  return failed("ConfigInvalid", false, { detail });
}

export function redirected({ peer }: HttpRequest, status: number): HttpFailure {
  const detail = "it redirects to another address, and redirects are not followed; check the base URL";
  return failed("ProviderRefused", false, { provider: peer, status, detail });
}

export function tooLarge({ maxResponseBytes }: HttpRequest): HttpFailure {
  return failed("OutputLimit", false, { limit: maxResponseBytes });
}

export function cut({ peer }: HttpRequest): HttpFailure {
  return failed("ProviderStreamCut", true, { provider: peer });
}

/** What was waited for in vain: the response headers, the first token, or the next byte. */
export function timedOut(request: HttpRequest, phase: Phase): HttpFailure {
  switch (phase) {
    case "headers":
      return late(request, `no response headers within ${inSeconds(request.headersTimeoutMs)} (timeouts.headers_s)`);
    case "first token":
      return late(request, `no first token within ${inSeconds(request.firstTokenTimeoutMs)} (timeouts.first_token_s)`);
    case "chunk":
    case "end": {
      const silence = inSeconds(request.chunkTimeoutMs);
      return late(request, `silent for ${silence} in the middle of the response (timeouts.chunk_s)`);
    }
  }
}

/** The process with the keys hangs: its supervisor replaces it, and the next attempt asks the successor. */
export function helperLate({ headersTimeoutMs }: HttpRequest): HttpFailure {
  const detail = `it did not answer within ${inSeconds(headersTimeoutMs)} (timeouts.headers_s)`;
  return failed("CredentialHelperFailed", true, { detail });
}

function late({ peer }: HttpRequest, detail: string): HttpFailure {
  return failed("ProviderTimeout", true, { provider: peer, detail });
}
