/**
 * Evidence as lines of an export: `x_export` first, then envelopes, the last of each link with `x_evidence`, `x_checkpoint`
 * after the event it covers, `x_head` last. Reading takes nothing on trust: a line that is not exactly what is written here is an item of its
 * own, for the verifier to report.
 */
import { wordSet } from "#base";
import { SessionId } from "#protocol";
import { type Checkpoint, parseCheckpoint } from "./checkpoint.ts";
import { formatLine, parseLink } from "./event-line.ts";
import { HASH_BYTES, isHex } from "./evidence.ts";
import type { ChainedRecord, ChainHead } from "./record.ts";

const HASH_CHARS = HASH_BYTES * 2;

/** A payload is at most 64 MiB of characters; the rest of a line is short. */
const MAX_LINE_CHARS = 65 * 1024 * 1024;
const ENVELOPE_KEYS: ReadonlySet<string> = wordSet("id kind session originator ts payload x_evidence");

export interface SessionRecord extends ChainedRecord {
  readonly session: SessionId;
}

export type EvidenceItem =
  | { readonly type: "record"; readonly record: SessionRecord }
  | { readonly type: "checkpoint"; readonly checkpoint: Checkpoint }
  /** Where the chain ends. */
  | { readonly type: "head"; readonly head: ChainHead }
  /** The first line of an export. */
  | { readonly type: "header"; readonly session: SessionId | undefined }
  | { readonly type: "unreadable"; readonly line: number; readonly why: string };

/** One line of an export, without its newline. The payload is written exactly as it is stored: its hash covers the text. */
export function evidenceLine(item: Extract<EvidenceItem, { type: "record" | "checkpoint" | "head" }>): string {
  if (item.type === "checkpoint") return JSON.stringify({ x_checkpoint: item.checkpoint });
  if (item.type === "head") {
    return JSON.stringify({ x_head: { event: item.head.lastEventId, hash: item.head.hash } });
  }
  return formatLine(item.record.session, item.record);
}

/** The checkpoint or head on a line of an export; undefined when it is another line. Throws an Error that says what is wrong. */
export function parseMark(text: string): Extract<EvidenceItem, { type: "checkpoint" | "head" }> | undefined {
  if (!/^\{"x_(checkpoint|head)"/.test(text)) return undefined;
  // The number of the line is for others to tell.
  const item = readLine(text, 0);
  if (item.type === "unreadable") throw new Error(item.why);
  return item.type === "checkpoint" || item.type === "head" ? item : undefined;
}

/** `chunks` is the text of an export in pieces of any size. Lines end in `\n` and in nothing else. */
export async function* readEvidenceLines(chunks: AsyncIterable<string>): AsyncGenerator<EvidenceItem> {
  let line = 0;
  for await (const text of splitLines(chunks)) {
    line += 1;
    if (text === undefined) yield { type: "unreadable", line, why: `it is longer than ${MAX_LINE_CHARS} characters` };
    else yield readLine(text, line);
  }
}

/** A line that is too long comes as undefined. */
async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string | undefined> {
  let parts: string[] = [];
  let chars = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
      yield chars + end - from > MAX_LINE_CHARS ? undefined : parts.join("") + chunk.slice(from, end);
      parts = [];
      chars = 0;
      from = end + 1;
    }
    chars += chunk.length - from;
    if (chars > MAX_LINE_CHARS) parts = [];
    else if (from < chunk.length) parts.push(chunk.slice(from));
  }
  if (chars > 0) yield chars > MAX_LINE_CHARS ? undefined : parts.join("");
}

function readLine(text: string, line: number): EvidenceItem {
  const unreadable = (why: string): EvidenceItem => ({ type: "unreadable", line, why });
  let raw: unknown;
  try {
    raw = JSON.parse(text);
    // Two spellings of one value would let a second field of the same name hide behind the first.
    if (JSON.stringify(raw) !== text) return unreadable("it is not written in the canonical form");
  } catch {
    return unreadable("it is not JSON");
  }
  if (typeof raw !== "object" || raw === null) return unreadable("it is not an object");
  // Every field that is used is checked.
  const fields = raw as Readonly<Record<string, unknown>>;
  if (line === 1) {
    if (!hasOnly(fields, "x_export")) return unreadable("an export begins with x_export");
    const session = fieldsOf(fieldsOf(fields.x_export)?.session)?.id;
    return { type: "header", session: typeof session === "string" && SessionId.is(session) ? session : undefined };
  }
  if (hasOnly(fields, "x_checkpoint")) {
    const checkpoint = parseCheckpoint(fields.x_checkpoint);
    return checkpoint === undefined ? unreadable("it is not a checkpoint") : { type: "checkpoint", checkpoint };
  }
  if (hasOnly(fields, "x_head")) {
    const { event, hash, ...more } = fieldsOf(fields.x_head) ?? {};
    if (!isCount(event) || !isHex(hash, HASH_CHARS) || Object.keys(more).length > 0)
      return unreadable("it is not a head");
    return { type: "head", head: { lastEventId: event, hash } };
  }
  const record = recordOf(fields);
  return record === undefined ? unreadable("it is not an event with evidence") : { type: "record", record };
}

function recordOf(fields: Readonly<Record<string, unknown>>): SessionRecord | undefined {
  const { id, kind, session, originator = null, ts, payload, x_evidence } = fields;
  const link = x_evidence === undefined ? undefined : parseLink(x_evidence);
  if (Object.keys(fields).some((name) => !ENVELOPE_KEYS.has(name))) return undefined;
  if (link === undefined && "x_evidence" in fields) return undefined;
  if (!isCount(id) || id === 0 || typeof kind !== "string" || typeof ts !== "string") return undefined;
  if (typeof session !== "string" || !SessionId.is(session) || payload === undefined) return undefined;
  if ((originator === null) !== !("originator" in fields)) return undefined;
  if (originator !== null && typeof originator !== "string") return undefined;
  return { session, id, kind, originator, ts, payload: JSON.stringify(payload), link };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  // A view of an object whose fields are all unknown.
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function hasOnly(fields: Readonly<Record<string, unknown>>, name: string): boolean {
  return name in fields && Object.keys(fields).length === 1;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
