/** How a vendor's refusal, in whatever form it came, becomes one of our reasons. Pure functions; knows no wire family. */

import type { IncomingHttpHeaders } from "node:http";
import { cutAtBlank, defined } from "#base";
import type { ModelOutcome } from "#engine";
import { type Reason, ReasonError, reasonText } from "#protocol";
import { meansOverflow } from "./overflow.ts";

const MAX_VENDOR_TEXT_CHARS = 500;
/** How far a cap may be doubled for a model whose own maximum is not known. */
const MAX_DOUBLED_TOKENS = 65_536;

export type Failure = Extract<ModelOutcome, { type: "failed" }>;

/** Who answered, for messages. */
export interface Peer {
  readonly name: string;
  /** Where its key comes from: a variable, or a stored credential. */
  readonly keySource: string;
}

export function failure(
  reason: Reason,
  retryable: boolean,
  values: Readonly<Record<string, string | number>> = {},
): Failure {
  return { type: "failed", reason, message: reasonText(reason, values), retryable };
}

/** An answer that was cut at its cap, to be asked for again with a larger one where there is one. */
export function truncated(maxTokens: number | undefined, modelMaximum: number | undefined): Failure {
  const larger = doubled(maxTokens, modelMaximum);
  const limit = maxTokens ?? modelMaximum ?? "the model's own number of";
  const again = larger === undefined ? {} : { retryAfterMs: 0, retryMaxTokens: larger };
  return { ...failure("OutputTruncated", larger !== undefined, { limit }), ...again };
}

/** The larger cap to ask with; undefined when there is none: no cap was sent, or it is the model's maximum already. */
function doubled(maxTokens: number | undefined, modelMaximum: number | undefined): number | undefined {
  if (maxTokens === undefined) return undefined;
  const larger = Math.min(maxTokens * 2, modelMaximum ?? Math.max(maxTokens, MAX_DOUBLED_TOKENS));
  return larger > maxTokens ? larger : undefined;
}

/** A time as people read it. */
export function inSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(2))} s`;
}

/** An HTTP status of 400 and above, with the body that came with it. */
export function statusFailure(
  peer: Peer,
  status: number,
  headers: IncomingHttpHeaders,
  body: string,
  nowMs: number,
): Failure {
  const { text, code } = vendorError(body);
  const detail = presentable(text);
  if (status === 401 || status === 403) {
    const base = failure("ProviderUnauthorized", false, { provider: peer.name, status, variable: peer.keySource });
    return detail === "" ? base : { ...base, message: `${base.message} ${detail}` };
  }
  const waitMs = retryAfterMs(headers, nowMs);
  if (status === 402 || QUOTA_CODES.has(code ?? "")) return noQuota(peer, detail);
  if (status === 429) return rateLimited(peer, detail, waitMs);
  if (status === 408 || status === 409 || status >= 500) return unavailable(peer, `HTTP ${status}`, detail, waitMs);
  if (meansOverflow(code, text)) return overflow(peer, detail);
  if (status === 404 && (code === "model_not_found" || code === "not_found_error")) {
    return failure("UnknownModel", false, { detail: `${peer.name} does not know this model: ${detail}` });
  }
  return failure("ProviderRefused", false, { provider: peer.name, status, detail });
}

/** An error told inside a stream, or in a response that claimed to be one. `error` is the vendor's `error` value. */
export function eventFailure(peer: Peer, error: unknown): Failure {
  const { text, code, status } = errorParts(error);
  const detail = presentable(text);
  if (status !== undefined && status >= 400) return statusFailure(peer, status, {}, JSON.stringify({ error }), 0);
  if (meansOverflow(code, text)) return overflow(peer, detail);
  switch (code) {
    case "overloaded_error":
    case "api_error":
    case "timeout_error":
    case "server_error":
    case "internal_error":
      return unavailable(peer, code, detail, undefined);
    case "insufficient_quota":
    case "billing_error":
      return noQuota(peer, detail);
    case "rate_limit_error":
    case "rate_limit_exceeded":
      return rateLimited(peer, detail, undefined);
    case "authentication_error":
    case "permission_error":
    case "invalid_api_key":
      return failure("ProviderUnauthorized", false, { provider: peer.name, status: code, variable: peer.keySource });
    case "invalid_request_error":
    case "not_found_error":
      return failure("ProviderRefused", false, { provider: peer.name, status: code, detail });
    default:
      return failure("ProviderUnavailable", true, { provider: peer.name, detail: detail === "" ? "error" : detail });
  }
}

/** A thrown error as the outcome of a call: ReasonErrors keep their reason, anything else is ours to answer for. */
export function refused(error: unknown): Failure {
  if (error instanceof ReasonError) {
    return { type: "failed", reason: error.reason, message: error.message, retryable: false };
  }
  return failure("InternalError", false, { detail: error instanceof Error ? error.message : String(error) });
}

export function garbled(peer: Peer, detail: string): Failure {
  return failure("ProviderGarbled", true, { provider: peer.name, detail });
}

/**
 * Shortened. Its lines stay lines, because some secrets can be told by them only, and it is looked through when it leaves. The key
 * was taken out where the response came in.
 */
export function presentable(text: string): string {
  const lines = text.replace(/\s*\n/g, "\n").trim();
  return lines.length <= MAX_VENDOR_TEXT_CHARS ? lines : `${cutAtBlank(lines, MAX_VENDOR_TEXT_CHARS - 1)}…`;
}

/** `retry-after-ms`, else `retry-after` in seconds or as a date; undefined when absent or not understood. */
function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  const exact = Number.parseFloat(String(headers["retry-after-ms"] ?? ""));
  if (exact >= 0) return Math.ceil(exact);
  const text = headers["retry-after"];
  if (text === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(text)) return Math.ceil(Number.parseFloat(text) * 1000);
  const dateMs = Date.parse(text);
  // By the clock of the server that names the time, where it tells: ours may be wrong.
  const serverMs = Date.parse(headers.date ?? "");
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - (Number.isNaN(serverMs) ? nowMs : serverMs));
}

/** Of 429 and other statuses that mean an empty account, which no wait fills. */
const QUOTA_CODES: ReadonlySet<string> = new Set(["insufficient_quota", "billing_not_active", "billing_error"]);

function noQuota(peer: Peer, detail: string): Failure {
  return failure("QuotaExceeded", false, { provider: peer.name, detail: detail === "" ? "no more credit" : detail });
}

function rateLimited(peer: Peer, detail: string, waitMs: number | undefined): Failure {
  const message = `${peer.name} rate-limited the request.${detail === "" ? "" : ` ${detail}`}`;
  return { type: "failed", reason: "RateLimited", message, retryable: true, ...wait(waitMs) };
}

function unavailable(peer: Peer, what: string, detail: string, waitMs: number | undefined): Failure {
  const text = detail === "" ? what : `${what}: ${detail}`;
  return { ...failure("ProviderUnavailable", true, { provider: peer.name, detail: text }), ...wait(waitMs) };
}

function overflow(peer: Peer, detail: string): Failure {
  const message = `The request is larger than the model of ${peer.name} accepts: ${detail}`;
  return { type: "failed", reason: "ContextOverflow", message, retryable: false };
}

function wait(waitMs: number | undefined): { retryAfterMs?: number } {
  return waitMs === undefined ? {} : { retryAfterMs: waitMs };
}

interface ErrorParts {
  readonly text: string;
  readonly code?: string;
  readonly status?: number;
}

/** What a body says went wrong: the vendors' `{error: …}` forms, else the body itself; of HTML only that it is HTML. */
function vendorError(body: string): ErrorParts {
  const trimmed = body.trim();
  if (trimmed.startsWith("<")) return { text: "an HTML page" };
  try {
    const parsed: unknown = JSON.parse(trimmed);
    if (typeof parsed === "object" && parsed !== null && "error" in parsed) return errorParts(parsed.error);
    if (typeof parsed === "object" && parsed !== null && "message" in parsed) return { text: String(parsed.message) };
  } catch {
    // Not JSON: the text itself is all there is to tell.
  }
  return { text: trimmed };
}

function errorParts(error: unknown): ErrorParts {
  if (typeof error === "string") return { text: error };
  if (typeof error !== "object" || error === null) return { text: "" };
  const { message, code, type } = error as { message?: unknown; code?: unknown; type?: unknown };
  const status = typeof code === "number" ? code : undefined;
  const name = typeof code === "string" ? code : typeof type === "string" ? type : undefined;
  return {
    text: typeof message === "string" ? message : "",
    ...defined({ code: name, status }),
  };
}
