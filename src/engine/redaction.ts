/**
 * Redaction as the engine sees it: what every event passes before it is stored and told, every result before hooks and scripts
 * see it, and every request before a provider gets it. It throws `RedactionFailed` where it cannot do its work; then nothing of
 * what it was given may leave.
 */
import type { EventKind, EventPayload, RedactionSummary, ToolOutputBlock } from "#protocol";
import type { ModelRequest } from "./provider.ts";

export interface Redaction {
  /** Gives the same object back when there was nothing to redact; so do the others. */
  payload<Kind extends EventKind>(kind: Kind, payload: EventPayload<Kind>): EventPayload<Kind>;
  output(content: readonly ToolOutputBlock[]): readonly ToolOutputBlock[];
  request(request: ModelRequest): ModelRequest;
  /** For text that arrives in pieces; one for each text. */
  stream(): RedactedStream;
  /** What was replaced in a payload that has been redacted; undefined when nothing was. Throws nothing. */
  summary?(payload: object): RedactionSummary | undefined;
  /** The same for everything since it was loaded. */
  totals?(): RedactionSummary;
}

export interface RedactedStream {
  /** Takes more text; returns what can go out. */
  push(text: string): string;
  /** No text has come for a while: returns what was held back only because a secret might begin in it. */
  settle(): string;
  /** No more text comes: returns the rest. */
  flush(): string;
  readonly heldChars: number;
}
