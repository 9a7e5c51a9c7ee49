/** A session of the log as it leaves the program: whole, or as a person reads it, without what counts as a secret today. */
import type { SessionMeta } from "#engine";
import type { Event, EventKind, EventPayload, SessionId } from "#protocol";
import { type ArchiveStore, loadPortability, type TranscriptPart } from "#stores";
import type { LogRedaction } from "./log-redaction.ts";
import type { OutwardRedactor } from "./ports.ts";

const READ_PAGE = 1000;

/** A whole session, without what counts as a secret today. Notes in `changed` the kinds of events in which something was left out. */
export function exportPieces(
  store: ArchiveStore,
  meta: SessionMeta,
  redactor: OutwardRedactor,
  format: "jsonl" | "markdown",
  changed: Set<string>,
): AsyncGenerator<string> {
  const known = exportable(meta, redactor);
  return format === "jsonl" ? jsonPieces(store, known, redactor, changed) : markdownPieces(store, known, redactor);
}

/** What is known about the session besides its events, without what counts as a secret today. */
function exportable(meta: SessionMeta, redactor: OutwardRedactor): SessionMeta {
  const { title, workingDir, profile, model } = redactor.value({
    title: meta.title,
    workingDir: meta.workingDir,
    profile: meta.profile,
    model: meta.model,
  });
  return { ...meta, title, workingDir, profile, model };
}

async function* jsonPieces(
  store: ArchiveStore,
  meta: SessionMeta,
  redactor: OutwardRedactor,
  changed: Set<string>,
): AsyncGenerator<string> {
  const { exportLines } = await loadPortability();
  const { PROTOCOL_VERSION } = await import("#protocol/schemas");
  const evidence = store.readEvidence(meta.id);
  const redact = redactor.log();
  const filter = (kind: string, payload: object): object => {
    // A kind of a newer program is filtered like any other.
    const clean: object = redact(kind as EventKind, payload as EventPayload<EventKind>);
    if (clean !== payload) changed.add(kind);
    return clean;
  };
  for await (const line of exportLines(meta, evidence, PROTOCOL_VERSION, filter)) yield `${line}\n`;
}

async function* markdownPieces(
  store: ArchiveStore,
  meta: SessionMeta,
  redactor: OutwardRedactor,
): AsyncGenerator<string> {
  let between = "";
  for await (const { text } of cleanTranscript(redactor, store, meta)) {
    yield between + redactor.text(text);
    between = "\n\n";
  }
  yield "\n";
}

/** The events of a session, oldest first. */
export async function* readEvents(store: Pick<ArchiveStore, "read">, id: SessionId): AsyncGenerator<Event> {
  for (let after = 0; ; ) {
    const page = await store.read(id, { after, limit: READ_PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** The session as a person reads it, without what counts as a secret today: taken out before anything is shortened. */
export async function* cleanTranscript(
  redactor: OutwardRedactor,
  store: ArchiveStore,
  meta: SessionMeta,
  timing = true,
): AsyncGenerator<TranscriptPart> {
  const { transcript } = await loadPortability();
  const events = cleanEvents(redactor.log(), readEvents(store, meta.id));
  yield* transcript(meta, events, { timing, clean: redactor.text });
}

async function* cleanEvents(redact: LogRedaction, events: AsyncIterable<Event>): AsyncGenerator<Event> {
  for await (const event of events) yield cleanEvent(redact, event);
}

export function cleanEvent(redact: LogRedaction, event: Event): Event {
  const payload = redact(event.kind, event.payload);
  // The same kind with the payload of that kind.
  return payload === event.payload ? event : ({ ...event, payload } as Event);
}
