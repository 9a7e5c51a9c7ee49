/** Whatever was thrown, as a reason that a client can be told. */
import { messageOf } from "#base";
import { ReasonError, reasons, storeFailure } from "#protocol";

export function asReasonError(cause: unknown): ReasonError {
  if (cause instanceof ReasonError) return cause;
  return storeFailure(cause) ?? new ReasonError("InternalError", messageOf(cause), { cause });
}

/** The same with a message that may leave. */
export function cleanReason(error: ReasonError, clean: (text: string) => string): ReasonError {
  const message = clean(error.message);
  return message === error.message ? error : ReasonError.withMessage(error.reason, message);
}

export function failureBody(error: ReasonError): {
  readonly error: { readonly reason: string; readonly message: string };
} {
  return { error: { reason: error.reason, message: error.message } };
}

export function statusOf({ reason }: ReasonError): number {
  return reasons[reason].http;
}
