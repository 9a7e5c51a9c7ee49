/**
 * Checks the evidence of one session: that every event is as it was written, that none is missing, moved, repeated or added,
 * and that what was signed and anchored still holds. Reads once, holds one link at a time. Pure.
 */
import type { SessionId } from "#protocol";
import { type Checkpoint, isSignedByItsKey } from "./checkpoint.ts";
import { chainStart, MAX_LINK_EVENTS } from "./evidence.ts";
import type { EvidenceItem, SessionRecord } from "./evidence-lines.ts";
import { compareHead, type HeadComparison } from "./head-comparison.ts";
import type { HeadReading } from "./known-heads.ts";
import { checkLink } from "./link-check.ts";
import type { ChainHead } from "./record.ts";

/** More are counted and not kept. */
const MAX_FINDINGS = 10_000;

export type FindingKind =
  /** A line that is not what an export consists of. `event` is the one before it. */
  | "unreadable"
  /** Events that are not there. */
  | "missing"
  /** An event or checkpoint that comes again, too early or too late. */
  | "out-of-order"
  /** Of another session. */
  | "foreign"
  /** The content is not what was hashed; of a link of several events the first that it may be. */
  | "altered"
  /** A hash does not follow from the link before it and its events: something was changed, or removed between the two. */
  | "broken-link"
  /** The end of a turn that no checkpoint covers. */
  | "unsigned"
  /** A signature that its key did not make. */
  | "forged"
  /** A good signature of a key that nobody vouched for; told once for each key. */
  | "unknown-key"
  /** The chain has another hash here than the one that was signed or anchored. */
  | "replaced"
  /** Something was signed, anchored or announced beyond the last event. */
  | "truncated"
  /** Anchors were given, none of them for this session. */
  | "no-anchor";

export interface Finding {
  /** 0 when it is about the whole. */
  readonly event: number;
  readonly what: FindingKind;
  readonly detail: string;
}

export interface Verdict {
  readonly session: SessionId | undefined;
  readonly events: number;
  readonly checkpoints: number;
  /** Anchors of this session that were compared. */
  readonly anchors: number;
  /** Events whose content has expired; their hash stands for it. */
  readonly expired: number;
  /** Events after the last checkpoint: chained, not yet signed. */
  readonly unsealed: number;
  /** Empty: intact. */
  readonly findings: readonly Finding[];
  readonly findingsLeftOut: number;
  /** How the log stands to its last known head; absent when nobody asked. */
  readonly head?: HeadComparison;
}

export interface VerifyOptions {
  /** Default: the session that the export names, else that of the first event. */
  readonly session?: SessionId;
  /** Public keys in hex. A signature of any other key is a finding. */
  readonly trustedKeys: readonly string[];
  /** Of this and other sessions; absent when there is nothing outside to compare with. */
  readonly anchors?: readonly Checkpoint[];
  /** What was read of the last known head, before the log was. It makes no finding: an older log can be intact. */
  readonly head?: HeadReading;
}

/** Never rejects because of what it reads, only when reading fails. */
export async function verifyEvidence(items: AsyncIterable<EvidenceItem>, options: VerifyOptions): Promise<Verdict> {
  const verifier = createVerifier(options);
  for await (const item of items) verifier.take(item);
  return verifier.end();
}

function createVerifier(options: VerifyOptions) {
  const trusted = new Set(options.trustedKeys);
  const findings: Finding[] = [];
  const unknownKeys = new Set<string>();
  /** Ends of turns that no checkpoint covers yet. */
  let unsignedTurns: number[] = [];
  const ahead: Checkpoint[] = [];
  const heads: ChainHead[] = [];
  let { session } = options;
  let findingsLeftOut = 0;
  let events = 0;
  let checkpoints = 0;
  let expired = 0;
  let lastId = 0;
  let lastCheckpoint = 0;
  /** Of the last link, which ends with the event `linkedTo`. */
  let hash: string | undefined;
  let linkedTo = 0;
  /** Events of a link whose end has not come yet. */
  let open: SessionRecord[] = [];
  /** Whether those stand in order. */
  let isInOrder = true;
  let hashAtHead: string | undefined;
  let anchorsAt: Map<number, Checkpoint[]> | undefined;

  const found = (event: number, what: FindingKind, detail: string): void => {
    if (findings.length < MAX_FINDINGS) findings.push({ event, what, detail });
    else findingsLeftOut += 1;
  };

  const anchors = (): Map<number, Checkpoint[]> => {
    const own = (options.anchors ?? []).filter((anchor) => anchor.session === session);
    anchorsAt ??= Map.groupBy(own, ({ event }) => event);
    return anchorsAt;
  };

  const checkSignature = (checkpoint: Checkpoint, what: "checkpoint" | "anchor"): void => {
    const { event, public_key, key_id } = checkpoint;
    if (!isSignedByItsKey(checkpoint)) found(event, "forged", `the signature of the ${what} does not match its key`);
    else if (!trusted.has(public_key) && !unknownKeys.has(public_key)) {
      unknownKeys.add(public_key);
      found(event, "unknown-key", `signed by key ${key_id} (${public_key}), which is not a trusted key`);
    }
  };

  const takeRecord = (record: SessionRecord): void => {
    const { id } = record;
    session ??= record.session;
    events += 1;
    if (record.session !== session) found(id, "foreign", `it belongs to ${record.session}`);
    if (id > lastId + 1) {
      const gap = id - lastId === 2 ? `event ${id - 1} is` : `events ${lastId + 1} to ${id - 1} are`;
      found(lastId + 1, "missing", `${gap} missing`);
      isInOrder = false;
    } else if (id <= lastId) {
      found(id, "out-of-order", `it comes after event ${lastId}`);
      isInOrder = false;
    }
    lastId = id;
    if (record.kind === "TurnEnded") unsignedTurns.push(id);
    open.push(record);
    if (record.link !== undefined) closeLink(record);
    else if (open.length >= MAX_LINK_EVENTS) {
      found(open[0]?.id ?? id, "broken-link", `the next ${MAX_LINK_EVENTS} events contain no end of a link`);
      open = [];
    }
  };

  const closeLink = (record: SessionRecord): void => {
    const { id } = record;
    session ??= record.session;
    const first = open[0]?.id ?? id;
    const link = checkLink(session, hash ?? chainStart(session), open);
    const what = first === id ? "its content" : `the content of events ${first} to ${id}`;
    // Where events are missing or moved, that was told, and nothing fits anyway.
    if (link.altered !== undefined && isInOrder) found(link.altered, "altered", `${what} was changed`);
    if (!link.isLinked && isInOrder) {
      const who = first === id ? "its hash" : `the hash of events ${first} to ${id}`;
      found(first, "broken-link", `${who} does not match ${first === 1 ? "the session" : "the events before it"}`);
    }
    expired += link.expired;
    hash = record.link?.hash;
    for (const anchor of open.flatMap((event) => anchors().get(event.id) ?? [])) {
      // Anchors are made where a link ends; inside one the chain has no hash.
      if (anchor.event !== id || anchor.hash !== hash) {
        found(anchor.event, "replaced", "the chain has another hash here than the anchor");
      }
    }
    if (options.head?.kind === "known" && options.head.head.event === id) hashAtHead = hash;
    linkedTo = id;
    open = [];
    isInOrder = true;
  };

  const takeCheckpoint = (checkpoint: Checkpoint): void => {
    const { event } = checkpoint;
    checkpoints += 1;
    checkSignature(checkpoint, "checkpoint");
    if (session !== undefined && checkpoint.session !== session) {
      found(event, "foreign", `the checkpoint belongs to ${checkpoint.session}`);
    } else if (event > lastId) ahead.push(checkpoint);
    else {
      if (event !== lastId || event !== linkedTo || event <= lastCheckpoint) {
        found(event, "out-of-order", `the checkpoint comes after event ${lastId} and is repeated or out of place`);
      } else if (checkpoint.hash !== hash) {
        found(event, "replaced", "the chain has another hash here than the one that was signed");
      }
      lastCheckpoint = Math.max(lastCheckpoint, event);
      unsignedTurns = unsignedTurns.filter((turn) => turn > lastCheckpoint);
    }
  };

  const checkEnd = (): void => {
    const truncated = (event: number, what: string) =>
      found(event, "truncated", `${what} at event ${event}; the last event here is ${lastId}`);
    for (const { event } of ahead) {
      if (event > lastId) truncated(event, "there is a checkpoint");
      else found(event, "out-of-order", "the checkpoint comes before its event");
    }
    if (open[0] !== undefined)
      found(open[0].id, "truncated", "no link covers the events from here on: the end of the link is missing");
    const [head, ...more] = heads;
    if (head !== undefined && head.lastEventId > lastId) truncated(head.lastEventId, "the log ends");
    else if (head !== undefined && (head.lastEventId < lastId || !isEnd(head.hash))) {
      found(lastId, "broken-link", "the head of the log does not match its last event");
    }
    if (more.length > 0) found(lastId, "out-of-order", "there is more than one head");
    if (head === undefined && (lastId === 0 || lastCheckpoint !== lastId)) {
      found(
        lastId,
        "truncated",
        "the end of the log is missing: neither a head nor a checkpoint covers the last event",
      );
    }
    for (const event of unsignedTurns) found(event, "unsigned", "a turn ends here and no checkpoint covers it");
    for (const anchor of [...anchors().values()].flat()) {
      checkSignature(anchor, "anchor");
      if (anchor.event > lastId) truncated(anchor.event, "there is an anchor");
    }
    if (options.anchors !== undefined && anchors().size === 0) {
      found(0, "no-anchor", `no anchor is for ${session ?? "this session"}`);
    }
  };
  const isEnd = (head: string): boolean => session !== undefined && head === (hash ?? chainStart(session));

  return {
    take(item: EvidenceItem): void {
      if (item.type === "record") takeRecord(item.record);
      else if (item.type === "checkpoint") takeCheckpoint(item.checkpoint);
      else if (item.type === "head") heads.push(item.head);
      else if (item.type === "header") session ??= item.session;
      else found(lastId, "unreadable", `line ${item.line}: ${item.why}`);
    },
    end(): Verdict {
      checkEnd();
      const unsealed = Math.max(0, lastId - lastCheckpoint);
      const compared = [...anchors().values()].flat().length;
      const counts = { events, checkpoints, anchors: compared, expired, unsealed };
      const verdict = { session, ...counts, findings, findingsLeftOut };
      if (options.head === undefined) return verdict;
      return { ...verdict, head: compareHead(options.head, { lastEventId: lastId, hashAtHead }) };
    },
  };
}
