/** What a server refused with, as the error that a program catches; and which errors say only that the connection is gone. */
import { isRecord, messageOf } from "#base";
import { type Reason, ReasonError, reasons } from "#protocol";

/** `detail` is an object with `reason` and `message`, as every wire tells it. */
export function refusalFrom(detail: unknown, address: string): ReasonError {
  const { reason, message } = isRecord(detail) ? detail : {};
  const text = typeof message === "string" ? message : "it did not say why";
  if (typeof reason === "string" && Object.hasOwn(reasons, reason)) {
    // The table has it, so it is one of its keys.
    return ReasonError.withMessage(reason as Reason, text);
  }
  return new ReasonError("ServerRefused", { address, detail: `${String(reason ?? "no reason")}: ${text}` });
}

export function unreachable(address: string, cause: unknown): ReasonError {
  return new ReasonError("ServerUnreachable", { address, detail: messageOf(cause) }, { cause });
}

export function connectionLost(address: string, cause: unknown): ReasonError {
  return new ReasonError("ConnectionLost", { address, detail: messageOf(cause) }, { cause });
}

export function garbled(address: string, cause: unknown): ReasonError {
  return new ReasonError("ServerGarbled", { address, detail: messageOf(cause) }, { cause });
}

const PASSING: ReadonlySet<Reason> = new Set([
  "ServerUnreachable",
  "ConnectionLost",
  "ShuttingDown",
  "Overloaded",
  "TooManyStreams",
  "RequestTimeout",
]);

/** Another token may be taken; one that does not cover something will not cover it later. */
const TOKEN_REFUSALS: ReadonlySet<Reason> = new Set(["TokenRequired", "TokenInvalid", "TokenExpired", "TokenRevoked"]);

/** Tries after a refusal for the sake of the token: a server writes the new one a moment after it has begun to listen. */
const TOKEN_TRIES = 6;

/** Whether another token may get a better answer. Guesses of others, and of one's own other sources, do not count against it. */
export function asksForAnotherToken(error: unknown): error is ReasonError {
  return error instanceof ReasonError && (TOKEN_REFUSALS.has(error.reason) || error.reason === "TooManyFailures");
}

/** Whether what only reads may be asked again after an error. For one thing that is asked: it counts. */
export function mayPass(tokenMayChange: boolean): (error: unknown) => boolean {
  return passing(PASSING, tokenMayChange);
}

/** As `mayPass`, for what changes something: it is sent again only when it is certain that it was not begun with. */
export function wasNotBegun(tokenMayChange: boolean): (error: unknown) => boolean {
  return passing(new Set(["ServerUnreachable"]), tokenMayChange);
}

function passing(reasonsThatPass: ReadonlySet<Reason>, tokenMayChange: boolean): (error: unknown) => boolean {
  let tokenRefusals = 0;
  return (error) => {
    if (!(error instanceof ReasonError)) return false;
    const { reason } = error;
    const isTokenRefusal = TOKEN_REFUSALS.has(reason);
    tokenRefusals = isTokenRefusal ? tokenRefusals + 1 : 0;
    return isTokenRefusal ? tokenMayChange && tokenRefusals <= TOKEN_TRIES : reasonsThatPass.has(reason);
  };
}
