/**
 * A session's events under new ids. Every id becomes the ULID of SHA-256 over the old id and the id of the new log, so that
 * the same copy comes out the same wherever it is made. What people, models and tools wrote is left alone.
 */
import { hash } from "node:crypto";
import { ulidFromDigest } from "#base";
import type { LogId, SessionId } from "#protocol";
import { isObject } from "./event-line.ts";
import { chainStart, contentHash, eventHash, SALT_BYTES } from "./evidence.ts";
import type { ChainedRecord, EventRecord } from "./record.ts";

const ID = /^(sess|log|call|tok|cli|turn)_[0-9A-HJKMNP-TV-Z]{26}$/;
/** Fields whose value is content: an id in there is what somebody wrote, and hashes of it are elsewhere in the record. */
const CONTENT = new Set([
  "args",
  "content",
  "data",
  "text",
  "summary",
  "message",
  "question",
  "options",
  "note",
  "rule",
  "restored",
  "conflicts",
  "failed",
]);

/** The new name of an id in the log `log`; its kind stays. */
export function rewriteId<Id extends string>(id: Id, log: LogId): Id {
  const prefix = id.slice(0, id.indexOf("_"));
  // The prefix stays and a ULID follows it, which is what the brand of the id stands for.
  return `${prefix}_${ulidFromDigest(hash("sha256", id + log, "buffer"))}` as Id;
}

export interface CopyOptions {
  readonly source: SessionId;
  readonly log: LogId;
  /** For a record that has no salt to derive one from. */
  readonly nextSalt: () => Buffer;
  /** A branch says in its first event where it came from. */
  readonly parent?: SessionId;
}

/** The copy, linked anew from the start of its own chain. Salts follow from the old ones, so that the whole is the same. */
export function copyRecords(
  records: Iterable<EventRecord & { readonly salt?: Buffer }>,
  options: CopyOptions,
): Generator<ChainedRecord> {
  return linkRecords(rewriteId(options.source, options.log), renamedRecords(records, options), options.nextSalt);
}

/** Numbers and links records from the start of the session's chain. */
export function* linkRecords(
  session: SessionId,
  records: Iterable<EventRecord & { readonly salt?: Buffer }>,
  nextSalt: () => Buffer,
): Generator<ChainedRecord> {
  let prev = chainStart(session);
  let id = 0;
  for (const { kind, ts, originator, payload, salt = nextSalt() } of records) {
    id += 1;
    const content = contentHash(salt, payload);
    yield { id, kind, ts, originator, payload, prev, salt, content };
    prev = eventHash({ session, id, kind, ts, originator }, prev, content);
  }
}

function* renamedRecords(
  records: Iterable<EventRecord & { readonly salt?: Buffer }>,
  { log, parent }: CopyOptions,
): Generator<EventRecord & { readonly salt?: Buffer }> {
  const known = new Map<string, string>();
  const rename = (id: string): string => {
    const made = known.get(id) ?? rewriteId(id, log);
    known.set(id, made);
    return made;
  };
  let begun = false;
  for (const { kind, ts, originator, payload, salt } of records) {
    const value: unknown = rewriteValue(JSON.parse(payload), rename);
    if (kind === "SessionStarted" && !begun && isObject(value)) {
      begun = true;
      if (parent !== undefined) value.parent = parent;
    }
    yield {
      kind,
      ts,
      originator: originator === null ? null : rename(originator),
      payload: JSON.stringify(value),
      ...(salt === undefined ? {} : { salt: deriveSalt(salt, log) }),
    };
  }
}

function rewriteValue(value: unknown, rename: (id: string) => string): unknown {
  if (typeof value === "string") return ID.test(value) ? rename(value) : value;
  if (Array.isArray(value)) return value.map((element) => rewriteValue(element, rename));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, CONTENT.has(key) ? field : rewriteValue(field, rename)]),
  );
}

/** As secret as the old one. */
function deriveSalt(salt: Buffer, log: LogId): Buffer {
  return hash("sha256", Buffer.concat([salt, Buffer.from(log, "utf8")]), "buffer").subarray(0, SALT_BYTES);
}
