/** An exported session back into a store: every line is checked first, then all is written or nothing. */
import { type Event, type LogId, ReasonError, type SessionId } from "#protocol";
import { type ArchiveStore, EXPIRED } from "./archive.ts";
import { copyRecords, linkRecords, rewriteId } from "./copied-session.ts";
import { isObject, type ParsedLine, parseLine, toChained } from "./event-line.ts";
import { chainStart, contentHash, createSalts } from "./evidence.ts";
import { type ExportHead, parseExportHead } from "./export-head.ts";
import { type ChainedRecord, type ChainHead, type EventRecord, headAfter } from "./record.ts";

export interface ImportOptions {
  /** The lines without their newlines; iterated more than once, so that a large file need not be held. */
  readonly lines: () => Iterable<string>;
  /** What to call the file in messages. */
  readonly name: string;
  /** Takes the session in under new ids, which follow from this one. */
  readonly newLog?: LogId;
}

export interface Imported {
  readonly session: SessionId;
  readonly events: number;
  /** The file's evidence was checked and kept, or made here because the file had none or the ids are new. */
  readonly evidence: "kept" | "made";
}

/** Rejects with UsageInvalid, which names the line, when the file is not a whole export; nothing is written then. */
export async function importSession(store: ArchiveStore, options: ImportOptions): Promise<Imported> {
  const { newLog } = options;
  const { parseEvent } = await import("#protocol/schemas");
  const head = readHead(options);
  const id = newLog === undefined ? head.session.id : rewriteId(head.session.id, newLog);
  if ((await store.get(id)) !== undefined) {
    const detail = `session ${id} exists already; import it under new ids (--new-id), or delete it first.`;
    throw new ReasonError("UsageInvalid", { detail });
  }
  const { count, hasEvidence } = checkEvents(options, head, parseEvent);
  const keep = hasEvidence && newLog === undefined;
  const records = keep ? keptRecords(options, head) : madeRecords(options, head, newLog);
  await store.restore({ ...head.session, id }, records);
  return { session: id, events: count, evidence: keep ? "kept" : "made" };
}

function readHead({ lines, name }: ImportOptions): ExportHead {
  for (const line of lines()) return at(name, 1, () => parseExportHead(line));
  throw new ReasonError("UsageInvalid", { detail: `${name} is empty.` });
}

function checkEvents(
  options: ImportOptions,
  head: ExportHead,
  parseEvent: (raw: unknown) => Event,
): { readonly count: number; readonly hasEvidence: boolean } {
  let hasEvidence: boolean | undefined;
  let count = 0;
  for (const { line, number } of eventLines(options, head)) {
    at(options.name, number, () => {
      const { payload } = parseEvent(line.event);
      // What the schema would have to fill in, the engine would miss.
      if (!isPartOf(payload, line.event.payload)) throw new Error("the payload is not in its canonical form");
      hasEvidence ??= line.evidence !== undefined;
      if (hasEvidence !== (line.evidence !== undefined))
        throw new Error("some lines have 'x_evidence' and some do not");
    });
    count += 1;
  }
  if (hasEvidence === true) for (const _ of keptRecords(options, head));
  if (count !== head.lastEventId) {
    const detail = `${options.name} ends after event ${count} of ${head.lastEventId}: it was cut off.`;
    throw new ReasonError("UsageInvalid", { detail });
  }
  return { count, hasEvidence: hasEvidence === true };
}

/** Events in order, each of this session; line 1 is the head. */
function* eventLines(
  { lines, name }: ImportOptions,
  head: ExportHead,
): Generator<{ readonly line: ParsedLine; readonly number: number }> {
  let number = 0;
  for (const text of lines()) {
    number += 1;
    if (number === 1) continue;
    const line = at(name, number, () => {
      const parsed = parseLine(text);
      if (parsed.event.id !== number - 1)
        throw new Error(`event ${number - 1} is missing; event ${parsed.event.id} is here`);
      if (parsed.event.session !== head.session.id) throw new Error(`the event belongs to ${parsed.event.session}`);
      return parsed;
    });
    yield { line, number };
  }
}

/** The records as they were, each checked against the one before it. */
function* keptRecords(options: ImportOptions, head: ExportHead): Generator<ChainedRecord> {
  const { id: session } = head.session;
  let chain: ChainHead = { lastEventId: 0, hash: chainStart(session) };
  for (const { line, number } of eventLines(options, head)) {
    const record = at(options.name, number, () => checkLink(toChained(line), chain));
    yield record;
    chain = headAfter(session, record);
  }
}

function checkLink(record: ChainedRecord, { hash }: ChainHead): ChainedRecord {
  if (!record.prev.equals(hash)) throw new Error("the evidence does not follow from the line before: one was changed");
  if (!contentHash(record.salt, record.payload).equals(record.content) && !hasExpired(JSON.parse(record.payload))) {
    throw new Error("the payload is not the one that was recorded");
  }
  return record;
}

function madeRecords(options: ImportOptions, head: ExportHead, newLog: LogId | undefined): Iterable<ChainedRecord> {
  const nextSalt = createSalts();
  const { id: source } = head.session;
  if (newLog !== undefined) return copyRecords(plainRecords(options, head), { source, log: newLog, nextSalt });
  return linkRecords(source, plainRecords(options, head), nextSalt);
}

function* plainRecords(options: ImportOptions, head: ExportHead): Generator<EventRecord & { readonly salt?: Buffer }> {
  for (const { line } of eventLines(options, head)) {
    const { kind, ts, originator, payload } = line.event;
    const salt = line.evidence === undefined ? {} : { salt: line.evidence.salt };
    yield { kind, ts, originator: originator ?? null, payload: JSON.stringify(payload), ...salt };
  }
}

/** Content that has expired no longer matches its hash; its place says so. */
function hasExpired(value: unknown): boolean {
  if (value === EXPIRED) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(hasExpired);
}

function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.length === whole.length && part.every((item, i) => isPartOf(item, whole[i]));
  }
  if (!isObject(part)) return Object.is(part, whole);
  return isObject(whole) && Object.entries(part).every(([key, field]) => isPartOf(field, whole[key]));
}

function at<Result>(name: string, line: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const detail = `${name}, line ${line}: ${describe(error)}.`;
    throw new ReasonError("UsageInvalid", { detail }, { cause: error });
  }
}

/** A schema's complaint names the field; everything else is a message already. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const issue: unknown = "issues" in error && Array.isArray(error.issues) ? error.issues[0] : undefined;
  if (!isObject(issue)) return error.message.replace(/\.$/, "");
  const path = Array.isArray(issue.path) ? issue.path.join(".") : "";
  return `'${path}' is not valid: ${String(issue.message)}`;
}
