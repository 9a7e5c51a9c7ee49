/** Whatever goes wrong inside becomes one typed error, and nothing of the text is in its message. */
import { ReasonError } from "#protocol";
import { RuleError } from "./rule-error.ts";

export function failClosed<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw failure(error);
  }
}

export function failure(error: unknown): ReasonError {
  const isKnown = error instanceof RuleError;
  const detail = isKnown ? error.message : `an unexpected ${error instanceof Error ? error.name : "failure"}`;
  return new ReasonError("RedactionFailed", detail);
}
