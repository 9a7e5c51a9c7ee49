/**
 * Redaction of a log that is read back, event by event. A text that was streamed lies in several events: what comes before is
 * looked at with each, so that a secret is found whose name, or whose beginning, is in the event before. One that is known only by
 * what follows in the next event is not; what the program writes itself was redacted as a stream before it was stored.
 */
import { MARKER_CLOSES, MARKER_OPENS } from "#base";
import { type Redaction, redactionFailure } from "#engine";
import type { EventKind, EventPayload } from "#protocol";
import type { OutwardRedactor } from "./ports.ts";
import { assembleRedactor, type RedactionSources } from "./redaction.ts";

export type LogRedaction = Redaction["payload"];

/** As far as rules look back from a secret to its name, and more. */
const LOOK_BACK_CHARS = 512;

/** What leaves a program without having passed a session, with the secrets that are known now. Rejects with RedactionFailed. */
export async function createOutwardRedactor(
  sources: RedactionSources & { readonly credentials?: { told?(): Promise<unknown> } },
): Promise<OutwardRedactor> {
  const { createRedactionGateway } = await import("#redaction");
  const redactor = await assembleRedactor(sources).catch((cause: unknown) => {
    throw redactionFailure(cause);
  });
  await sources.credentials?.told?.();
  const { payload } = createRedactionGateway(redactor);
  return {
    text: (text) => redactor.redact(text).text,
    value: (value) => redactor.redactJson(value).value,
    log: () => createLogRedaction(payload, (text) => redactor.redact(text).text),
  };
}

/** `text` redacts a text as a whole. One for each walk through a log. */
export function createLogRedaction(payload: Redaction["payload"], text: (text: string) => string): LogRedaction {
  let block = "";
  let before = "";

  /** The rest of the text that goes on in this event. */
  function redactNext(next: string): string {
    const seen = text(before);
    const whole = text(before + next);
    before = (before + next).slice(-LOOK_BACK_CHARS);
    // What began in the event before is named here, once it shows. A long text is looked at again: with what is before it, it may
    // have been too long for a second look at secrets that touch each other.
    return text(whole.slice(markerStart(whole, commonPrefix(seen, whole))));
  }

  return (kind, given) => {
    const name = blockOf(kind, given);
    if (name === undefined) return payload(kind, given);
    if (name !== block) before = "";
    block = name;
    // Deltas have a text.
    const { text: next } = given as EventPayload<"TextDelta">;
    const clean = redactNext(next);
    return clean === next ? given : { ...given, text: clean };
  };
}

/** Names the text that an event is a piece of; undefined for what is no piece. */
function blockOf<Kind extends EventKind>(kind: Kind, given: EventPayload<Kind>): string | undefined {
  if (kind === "ToolCallProgress" || kind === "JobOutput") {
    return `${kind} ${(given as EventPayload<"ToolCallProgress">).call_id}`; // both have one
  }
  if ((kind !== "TextDelta" && kind !== "ThinkingDelta") || "data" in given) return undefined;
  const { turn, step, block } = given as EventPayload<"TextDelta">;
  return `${kind} ${turn} ${step} ${block}`;
}

function commonPrefix(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Where the marker begins that `at` is in; `at` itself outside of one. What is named by its first part may have another name as a whole. */
function markerStart(text: string, at: number): number {
  const opens = text.lastIndexOf(MARKER_OPENS, at);
  return opens >= 0 && text.indexOf(MARKER_CLOSES, opens) >= at ? opens : at;
}
