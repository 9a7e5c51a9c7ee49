/**
 * A session's events under new ids. Every id becomes the ULID of SHA-256 over the old id and the id of the new log, so that
 * the same copy comes out the same wherever it is made. What people, models and tools wrote is left alone.
 */
import { hash } from "node:crypto";
import { isRecord, ulidFromDigest, wordSet } from "#base";
import type { LogId, SessionId } from "#protocol";
import { chainStart, type LinkedEvent, OpenLink, SALT_BYTES } from "./evidence.ts";
import type { ChainedRecord, EventRecord } from "./record.ts";

const ID = /^(sess|log|call|tok|cli|turn)_[0-9A-HJKMNP-TV-Z]{26}$/;
/** Fields whose value is content: an id in there is what somebody wrote, and hashes of it are elsewhere in the record. */
const CONTENT = wordSet("args content data text summary message question options note rule restored conflicts failed");

/** The new name of an id in the log `log`; its kind stays. */
export function rewriteId<Id extends string>(id: Id, log: LogId): Id {
  const prefix = id.slice(0, id.indexOf("_"));
  // The prefix stays and a ULID follows it, which is what the brand of the id stands for.
  return `${prefix}_${ulidFromDigest(hash("sha256", id + log, "buffer"))}` as Id;
}

/** An event on its way into another chain. */
export interface SourceRecord extends EventRecord {
  /**
   * Whether it ended a link where it comes from: the copy has the same links, and salts that follow from theirs. Absent when
   * it comes from where there are none.
   */
  readonly ended?: { readonly salt: string | undefined } | false;
}

export interface CopyOptions {
  readonly source: SessionId;
  readonly log: LogId;
  /** For links that have no salt to derive one from. */
  readonly nextSalt: () => string;
  /** A branch says in its first event where it came from. */
  readonly parent?: SessionId;
}

/** The copy, linked anew from the start of its own chain. Salts follow from the old ones, so that the whole is the same. */
export function copyRecords(records: Iterable<SourceRecord>, options: CopyOptions): Generator<ChainedRecord> {
  return linkRecords(rewriteId(options.source, options.log), renamedRecords(records, options), options.nextSalt);
}

/** Numbers and links records from the start of the session's chain. Holds one link at a time. */
export function* linkRecords(
  session: SessionId,
  records: Iterable<SourceRecord>,
  nextSalt: () => string,
): Generator<ChainedRecord> {
  const open = new OpenLink();
  let group: LinkedEvent[] = [];
  let prev = chainStart(session);
  let id = 0;
  function* close(salt?: string): Generator<ChainedRecord> {
    const last = group.at(-1);
    if (last === undefined) return;
    for (const event of group.slice(0, -1)) yield { ...event, link: undefined };
    const link = open.close(session, prev, salt === undefined ? nextSalt : () => salt);
    prev = link.hash;
    group = [];
    yield { ...last, link };
  }
  for (const { kind, ts, originator, payload, ended } of records) {
    id += 1;
    const event = { id, kind, ts, originator, payload };
    if (ended === undefined && !open.takes(ts)) yield* close();
    group.push(event);
    const isFull = open.add(event);
    if (ended === undefined ? isFull : ended) yield* close(ended ? ended.salt : undefined);
  }
  yield* close();
}

function* renamedRecords(records: Iterable<SourceRecord>, { log, parent }: CopyOptions): Generator<SourceRecord> {
  const known = new Map<string, string>();
  const rename = (id: string): string => {
    const made = known.get(id) ?? rewriteId(id, log);
    known.set(id, made);
    return made;
  };
  let begun = false;
  for (const { kind, ts, originator, payload, ended } of records) {
    const value: unknown = rewriteValue(JSON.parse(payload), rename);
    if (kind === "SessionStarted" && !begun && isRecord(value)) {
      begun = true;
      if (parent !== undefined) value.parent = parent;
    }
    yield {
      kind,
      ts,
      originator: originator === null ? null : rename(originator),
      payload: JSON.stringify(value),
      ...(ended === undefined ? {} : { ended: ended && { salt: ended.salt && deriveSalt(ended.salt, log) } }),
    };
  }
}

function rewriteValue(value: unknown, rename: (id: string) => string): unknown {
  if (typeof value === "string") return ID.test(value) ? rename(value) : value;
  if (Array.isArray(value)) return value.map((element) => rewriteValue(element, rename));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, CONTENT.has(key) ? field : rewriteValue(field, rename)]),
  );
}

/** How a record of a chain goes into another. */
export function toSource({ kind, ts, originator, payload, link }: ChainedRecord): SourceRecord {
  return { kind, ts, originator, payload, ended: link !== undefined && { salt: link.salt } };
}

/** As secret as the old one. */
function deriveSalt(salt: string, log: LogId): string {
  const bytes = Buffer.concat([Buffer.from(salt, "hex"), Buffer.from(log, "utf8")]);
  return hash("sha256", bytes).slice(0, SALT_BYTES * 2);
}
