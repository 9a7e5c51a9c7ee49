/** A redaction that changes nothing, for tests of what is around it. */
import type { Redaction } from "#engine";

export const noRedaction: Redaction = {
  payload: (_kind, payload) => payload,
  output: (content) => content,
  request: (request) => request,
  stream: () => ({ push: (text) => text, settle: () => "", flush: () => "", heldChars: 0 }),
};
