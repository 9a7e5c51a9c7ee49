/**
 * One event as a line of JSON with its evidence: the form of the JSONL store and of exports. The payload stands in the line
 * exactly as it was hashed; the order of the keys is fixed.
 */
import { ClientId, type Event, SessionId } from "#protocol";
import { SALT_BYTES } from "./evidence.ts";
import type { ChainedRecord } from "./record.ts";

const HASH_BYTES = 32;

/** `storedAt` marks the last line of what was appended together. */
export function formatLine(session: SessionId, record: ChainedRecord, storedAt?: string): string {
  const { id, kind, ts, originator, payload, prev, salt, content } = record;
  const from = originator === null ? "" : `"originator":${JSON.stringify(originator)},`;
  const evidence = `{"prev":"${prev.toString("hex")}","salt":"${salt.toString("hex")}","content":"${content.toString("hex")}"}`;
  const mark = storedAt === undefined ? "" : `,"x_stored_at":${JSON.stringify(storedAt)}`;
  return `{"id":${id},"kind":${JSON.stringify(kind)},"session":"${session}",${from}"ts":${JSON.stringify(ts)},"payload":${payload},"x_evidence":${evidence}${mark}}`;
}

export interface ParsedLine {
  readonly event: Event;
  /** Absent when the line has none. */
  readonly evidence?: Pick<ChainedRecord, "prev" | "salt" | "content">;
  readonly storedAt?: string;
}

/** Checks the envelope, not the payload. Throws an Error that says what is wrong with the line. */
export function parseLine(text: string): ParsedLine {
  const value: unknown = parseJson(text);
  if (!isObject(value)) throw new Error("it is not a JSON object");
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
    ...(evidence === undefined ? {} : { evidence: parseEvidence(evidence) }),
    ...(typeof storedAt === "string" ? { storedAt } : {}),
  };
}

/** The record of a line that carries its evidence. */
export function toChained({ event, evidence }: ParsedLine): ChainedRecord {
  if (evidence === undefined) throw new Error("'x_evidence' is missing");
  const { id, kind, ts, originator, payload } = event;
  return { id, kind, ts, originator: originator ?? null, payload: JSON.stringify(payload), ...evidence };
}

function parseEvidence(value: unknown): NonNullable<ParsedLine["evidence"]> {
  if (!isObject(value)) throw new Error("'x_evidence' is not an object");
  const field = (name: string, bytes: number): Buffer => {
    const hex = value[name];
    if (typeof hex !== "string" || hex.length !== bytes * 2 || !/^[0-9a-f]*$/.test(hex)) {
      throw new Error(`'x_evidence.${name}' is not ${bytes} bytes in hex`);
    }
    return Buffer.from(hex, "hex");
  };
  return { prev: field("prev", HASH_BYTES), salt: field("salt", SALT_BYTES), content: field("content", HASH_BYTES) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
