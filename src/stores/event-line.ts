/**
 * One event as a line of JSON with its evidence: the form of the JSONL store and of exports. The payload stands in the line
 * exactly as it was hashed; the order of the keys is fixed.
 */
import { isRecord, jsonIn } from "#base";
import { ClientId, type Event, SessionId } from "#protocol";
import { HASH_BYTES, isHex, type Link, SALT_BYTES } from "./evidence.ts";
import type { ChainedRecord } from "./record.ts";

/** `storedAt` marks the last line of what was appended together. */
export function formatLine(session: SessionId, record: ChainedRecord, storedAt?: string): string {
  const { id, kind, ts, originator, payload, link } = record;
  const from = originator === null ? "" : `"originator":${JSON.stringify(originator)},`;
  const evidence = link === undefined ? "" : `,"x_evidence":${formatLink(link)}`;
  const mark = storedAt === undefined ? "" : `,"x_stored_at":${JSON.stringify(storedAt)}`;
  return `{"id":${id},"kind":${JSON.stringify(kind)},"session":"${session}",${from}"ts":${JSON.stringify(ts)},"payload":${payload}${evidence}${mark}}`;
}

function formatLink(link: Link): string {
  const content = link.content === undefined ? "" : `,"salt":"${link.salt}","content":"${link.content}"`;
  return `{"hash":"${link.hash}"${content}}`;
}

export interface ParsedLine {
  readonly event: Event;
  /** Absent when the line ends no link. */
  readonly link?: Link;
  readonly storedAt?: string;
}

/** Checks the envelope, not the payload. Throws an Error that says what is wrong with the line. */
export function parseLine(text: string): ParsedLine {
  const value = jsonIn(text);
  if (value === undefined) throw new Error("it is not JSON");
  if (!isRecord(value)) throw new Error("it is not a JSON object");
  const { id, kind, session, originator, ts, payload, x_evidence: evidence, x_stored_at: storedAt } = value;
  if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 1) throw new Error("'id' is not a positive number");
  if (typeof kind !== "string") throw new Error("'kind' is not text");
  if (typeof session !== "string" || !SessionId.is(session)) throw new Error("'session' is not a session id");
  if (typeof ts !== "string") throw new Error("'ts' is not text");
  if (originator !== undefined && (typeof originator !== "string" || !ClientId.is(originator))) {
    throw new Error("'originator' is not a client id");
  }
  if (payload === undefined) throw new Error("'payload' is missing");
  const from = originator === undefined ? {} : { originator };
  return {
    // The envelope was checked above; the payload is the caller's to check where it is foreign.
    event: { id, kind, session, ...from, ts, payload } as Event,
    ...(evidence === undefined ? {} : { link: checkedLink(evidence) }),
    ...(typeof storedAt === "string" ? { storedAt } : {}),
  };
}

export function toChained({ event, link }: ParsedLine): ChainedRecord {
  const { id, kind, ts, originator, payload } = event;
  return { id, kind, ts, originator: originator ?? null, payload: JSON.stringify(payload), link };
}

function checkedLink(value: unknown): Link {
  const link = parseLink(value);
  if (link === undefined) throw new Error("'x_evidence' is not the evidence of an event");
  return link;
}

/** Undefined when it is not exactly what `formatLine` writes. */
export function parseLink(value: unknown): Link | undefined {
  if (!isRecord(value)) return undefined;
  const { hash, salt, content, ...more } = value;
  if (Object.keys(more).length > 0 || !isHex(hash, HASH_BYTES * 2)) return undefined;
  if (isHex(salt, SALT_BYTES * 2) && isHex(content, HASH_BYTES * 2)) return { hash, salt, content };
  return salt === undefined && content === undefined ? { hash } : undefined;
}
