/** An exported session back into a store: every line is checked first, then all is written or nothing. */
import { isRecord } from "#base";
import { type Event, type LogId, ReasonError, type SessionId } from "#protocol";
import type { ArchiveStore } from "./archive.ts";
import { type Checkpoint, isSignedByItsKey } from "./checkpoint.ts";
import { copyRecords, linkRecords, rewriteId, type SourceRecord, toSource } from "./copied-session.ts";
import { type ParsedLine, parseLine, toChained } from "./event-line.ts";
import { chainStart, createSalts, MAX_LINK_EVENTS } from "./evidence.ts";
import { parseMark } from "./evidence-lines.ts";
import { type ExportHead, parseExportHead } from "./export-head.ts";
import { checkLink } from "./link-check.ts";
import type { ChainedRecord, ChainHead } from "./record.ts";
import { leaveWaitingInputs } from "./waiting-inputs.ts";

export interface ImportOptions {
  /** The lines without their newlines; iterated more than once, so that a large file need not be held. */
  readonly lines: () => Iterable<string>;
  /** What to call the file in messages. */
  readonly name: string;
  /** Takes the session in under new ids, which follow from this one. */
  readonly newLog?: LogId;
  /** When it is imported, for what is said of inputs that waited. */
  readonly now: string;
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
    const detail = `session ${id} already exists; import it with new ids (--new-id), or delete the existing one first.`;
    throw new ReasonError("UsageInvalid", detail);
  }
  const { count, hasEvidence, hasQueued, checkpoints } = checkEvents(options, head, parseEvent);
  const keep = hasEvidence && newLog === undefined;
  const session = { ...head.session, id };
  if (keep) await store.restore(session, keptRecords(options, head), checkpoints);
  else await store.restore(session, madeRecords(options, head, { newLog, hasEvidence }));
  if (hasQueued) await leaveWaitingInputs(store, id, options.now);
  return { session: id, events: count, evidence: keep ? "kept" : "made" };
}

function readHead({ lines, name }: ImportOptions): ExportHead {
  for (const line of lines()) return at(name, 1, () => parseExportHead(line));
  throw new ReasonError("UsageInvalid", `${name} is empty.`);
}

function checkEvents(
  options: ImportOptions,
  head: ExportHead,
  parseEvent: (raw: unknown) => Event,
): {
  readonly count: number;
  readonly hasEvidence: boolean;
  readonly hasQueued: boolean;
  readonly checkpoints: readonly Checkpoint[];
} {
  let hasEvidence = false;
  let hasQueued = false;
  let count = 0;
  for (const { line, number } of eventLines(options, head)) {
    at(options.name, number, () => {
      const { kind, payload } = parseEvent(line.event);
      // What the schema would have to fill in, the engine would miss.
      if (!isPartOf(payload, line.event.payload)) throw new Error("the payload is not in its canonical form");
      hasEvidence ||= line.link !== undefined;
      hasQueued ||= kind === "InputQueued";
    });
    count += 1;
  }
  const checkpoints: Checkpoint[] = [];
  if (hasEvidence) for (const _ of keptRecords(options, head, (checkpoint) => checkpoints.push(checkpoint)));
  if (count !== head.lastEventId) {
    const detail = `${options.name} ends after event ${count} of ${head.lastEventId}: it was cut off.`;
    throw new ReasonError("UsageInvalid", detail);
  }
  return { count, hasEvidence, hasQueued, checkpoints };
}

interface EventLine {
  readonly line: ParsedLine;
  readonly number: number;
}
interface MarkLine {
  readonly mark: NonNullable<ReturnType<typeof parseMark>>;
  readonly number: number;
}

/** Events in order, each of this session, and between them what was signed; line 1 is the head of the file. */
function* bodyLines({ lines, name }: ImportOptions, head: ExportHead): Generator<EventLine | MarkLine> {
  let number = 0;
  let next = 1;
  let isOver = false;
  for (const text of lines()) {
    number += 1;
    if (number === 1) continue;
    yield at(name, number, () => {
      if (isOver) throw new Error("there are lines after 'x_head', which must be the last line");
      const mark = parseMark(text);
      if (mark !== undefined) {
        isOver = mark.type === "head";
        return { mark, number };
      }
      const line = parseLine(text);
      if (line.event.id !== next) throw new Error(`event ${next} is missing; event ${line.event.id} is here`);
      if (line.event.session !== head.session.id) throw new Error(`the event belongs to ${line.event.session}`);
      next += 1;
      return { line, number };
    });
  }
}

function* eventLines(options: ImportOptions, head: ExportHead): Generator<EventLine> {
  for (const entry of bodyLines(options, head)) if ("line" in entry) yield entry;
}

/** The records as they were, each link checked against the one before it, and what was signed against the chain. */
function* keptRecords(
  options: ImportOptions,
  head: ExportHead,
  onCheckpoint: (checkpoint: Checkpoint) => void = () => undefined,
): Generator<ChainedRecord> {
  const { id: session } = head.session;
  let chain: ChainHead = { lastEventId: 0, hash: chainStart(session) };
  let open: ChainedRecord[] = [];
  for (const entry of bodyLines(options, head)) {
    at(options.name, entry.number, () => {
      if ("mark" in entry) {
        if (open.length > 0) throw new Error("it is between events that share their evidence");
        checkMark(entry.mark, session, chain);
      } else {
        open.push(toChained(entry.line));
        if (open.length > MAX_LINK_EVENTS) throw new Error(`${MAX_LINK_EVENTS} lines before it have no 'x_evidence'`);
      }
    });
    if ("mark" in entry) {
      if (entry.mark.type === "checkpoint") onCheckpoint(entry.mark.checkpoint);
      continue;
    }
    const last = open.at(-1);
    const hash = last?.link?.hash;
    if (last === undefined || hash === undefined) continue;
    at(options.name, entry.number, () => refuseBroken(session, chain.hash, open));
    yield* open;
    open = [];
    chain = { lastEventId: last.id, hash };
  }
  if (open.length > 0) {
    const detail = `${options.name} has no 'x_evidence' for event ${open[0]?.id} and what follows: it was cut off.`;
    throw new ReasonError("UsageInvalid", detail);
  }
}

function refuseBroken(session: SessionId, prev: string, events: readonly ChainedRecord[]): void {
  const { altered, isLinked } = checkLink(session, prev, events);
  const where = events.length === 1 ? "" : ` (events ${events[0]?.id} to ${events.at(-1)?.id})`;
  if (altered !== undefined) throw new Error(`the payload is not the one that was recorded${where}`);
  if (!isLinked) throw new Error(`the evidence does not follow from the lines before${where}: one was changed`);
}

/** Whose key it is, the audit asks; that it belongs here and was made by its key, this does. */
function checkMark(mark: MarkLine["mark"], session: SessionId, chain: ChainHead): void {
  if (mark.type === "head") {
    if (mark.head.lastEventId !== chain.lastEventId || mark.head.hash !== chain.hash) {
      throw new Error("the head does not follow from the lines before: one was changed");
    }
    return;
  }
  const { checkpoint } = mark;
  const isHere = checkpoint.session === session && checkpoint.event === chain.lastEventId;
  if (!isHere || checkpoint.hash !== chain.hash || !isSignedByItsKey(checkpoint)) {
    throw new Error("the checkpoint does not belong to the lines before: one was changed");
  }
}

function madeRecords(
  options: ImportOptions,
  head: ExportHead,
  { newLog, hasEvidence }: { readonly newLog: LogId | undefined; readonly hasEvidence: boolean },
): Iterable<ChainedRecord> {
  const nextSalt = createSalts();
  const { id: source } = head.session;
  const records = plainRecords(options, head, hasEvidence);
  if (newLog !== undefined) return copyRecords(records, { source, log: newLog, nextSalt });
  return linkRecords(source, records, nextSalt);
}

function* plainRecords(options: ImportOptions, head: ExportHead, isLinked: boolean): Generator<SourceRecord> {
  for (const { line } of eventLines(options, head)) {
    const { ended, ...record } = toSource(toChained(line));
    yield isLinked && ended !== undefined ? { ...record, ended } : record;
  }
}

function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.length === whole.length && part.every((item, i) => isPartOf(item, whole[i]));
  }
  if (!isRecord(part)) return Object.is(part, whole);
  return isRecord(whole) && Object.entries(part).every(([key, field]) => isPartOf(field, whole[key]));
}

function at<Result>(name: string, line: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new ReasonError("UsageInvalid", `${name}, line ${line}: ${describe(error)}.`, { cause: error });
  }
}

/** A schema's complaint names the field; everything else is a message already. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const issue: unknown = "issues" in error && Array.isArray(error.issues) ? error.issues[0] : undefined;
  if (!isRecord(issue)) return error.message.replace(/\.$/, "");
  const path = Array.isArray(issue.path) ? issue.path.join(".") : "";
  return `'${path}' is not valid: ${String(issue.message)}`;
}
