/** Logs with evidence, and every way we know to tamper with one: by somebody careless, careful, and with a key of their own. */
import { generateKeyPairSync } from "node:crypto";
import type { EventDraft } from "#engine";
import { SessionId, TurnId } from "#protocol";
import type { ArchiveStore } from "../../src/stores/archive.ts";
import type { Checkpoint, Signer } from "../../src/stores/checkpoint.ts";
import { chainStart, type Link, type LinkedEvent, OpenLink, recomputeLink } from "../../src/stores/evidence.ts";
import {
  type EvidenceItem,
  evidenceLine,
  readEvidenceLines,
  type SessionRecord,
} from "../../src/stores/evidence-lines.ts";
import { expirePayload, hasContent } from "../../src/stores/expired-payload.ts";
import { exportLines } from "../../src/stores/export.ts";
import { type SigningKey, signingKeyOf } from "../../src/stores/signing-key.ts";

export type Rng = () => number;

/** A log as its export has it; the first line is the header. */
export interface SampleLog {
  readonly lines: readonly string[];
  /** On the last event. */
  readonly anchor: Checkpoint;
  readonly key: SigningKey;
}

export function newSigningKey(): SigningKey {
  return signingKeyOf(generateKeyPairSync("ed25519").privateKey);
}

/** The same sequence for the same seed. */
export function createRng(seed: number): Rng {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Drafts of some turns, each with a few deltas, with an end that belongs to no turn. */
export function sampleDrafts(rng: Rng, turns: number): EventDraft[] {
  const drafts: EventDraft[] = [];
  const ts = () => new Date(Date.UTC(2026, 0, 1) + drafts.length * 1000).toISOString();
  for (let n = 0; n < turns; n++) {
    const turn = TurnId.from(String(n).padStart(26, "0"));
    drafts.push({ kind: "TurnStarted", ts: ts(), payload: { turn, content: [], model: "scripted:x" } });
    for (let left = 1 + Math.floor(rng() * 6); left > 0; left--) {
      const text = `«${rng()
        .toString(36)
        .repeat(1 + Math.floor(rng() * 4))}» \u2028 "\n`;
      drafts.push({ kind: "TextDelta", ts: ts(), payload: { turn, step: 1, block: 0, text } });
    }
    const usage = { input_tokens: 1, output_tokens: 2, cache_read_tokens: 0, cache_write_tokens: 0 };
    const payload = { turn, outcome: "answered", steps: 1, usage, duration_ms: Math.floor(rng() * 1e4) } as const;
    drafts.push({ kind: "TurnEnded", ts: ts(), payload });
  }
  drafts.push({ kind: "SessionEnded", ts: ts(), payload: { reason: "user" } });
  return drafts;
}

/** Writes them as they come: a few at a time, and by a writer that leaves after each turn, so that each is signed. */
export async function writeTurns(
  store: ArchiveStore,
  session: SessionId,
  rng: Rng,
  drafts: readonly EventDraft[],
): Promise<void> {
  for (let at = 0; at < drafts.length; ) {
    const log = await store.acquire(session);
    const end = drafts.findIndex(({ kind }, index) => index >= at && kind === "TurnEnded") + 1 || drafts.length;
    while (at < end) {
      const some = drafts.slice(at, Math.min(end, at + 1 + pick(rng, 4)));
      await log.append(some, some[0]?.ts ?? "");
      at += some.length;
    }
    await log.release();
  }
}

/** The session as `harness sessions export` writes it. */
export async function exported(store: ArchiveStore, session: SessionId): Promise<string[]> {
  const meta = await store.get(session);
  if (meta === undefined) throw new Error("the session is there");
  return Array.fromAsync(exportLines(meta, store.readEvidence(session), "0.1.0"));
}

export async function itemsOf(lines: readonly string[]): Promise<EvidenceItem[]> {
  return Array.fromAsync(readEvidenceLines(pieces(lines)));
}

export async function* pieces(lines: readonly string[]): AsyncGenerator<string> {
  yield `${lines.join("\n")}\n`;
}

export interface Tampering {
  readonly name: string;
  /** Only something that is kept outside can tell. */
  readonly needsAnchor?: true;
  apply(log: SampleLog, rng: Rng): Promise<string[]>;
}

type Line = Exclude<EvidenceItem, { type: "header" | "unreadable" }>;

export const tamperings: readonly Tampering[] = [
  byText("a character of a line", (lines, rng) => {
    const at = 1 + pick(rng, lines.length - 1);
    const text = lines[at] ?? "";
    const column = pick(rng, text.length);
    const other = text[column] === "7" ? "3" : "7";
    return lines.with(at, text.slice(0, column) + other + text.slice(column + 1));
  }),
  byText("a line that is no event", (lines, rng) =>
    lines.toSpliced(1 + pick(rng, lines.length), 0, ["", "{}", '{"x_export":{}}', "null"][pick(rng, 4)] ?? ""),
  ),
  byRecord("the payload", (record, rng) => ({ ...record, payload: otherPayload(record.payload, rng) })),
  byLink("a payload that claims to be expired, with another hash", (record, link) => ({
    ...record,
    payload: expirePayload(record.kind, record.payload),
    link: { ...link, content: flipped(link.content) },
  })),
  byItems("one of several events claims to be expired", (items, rng) => {
    const at = anyOf(items, rng, (item, index) => {
      if (item.type !== "record" || !hasContent(item.record.kind)) return false;
      return groupAround(items, index).filter(({ kind }) => hasContent(kind)).length > 1;
    });
    const item = items[at];
    if (item?.type !== "record" || groupAround(items, at).length === 1) return items;
    const payload = expirePayload(item.record.kind, item.record.payload);
    return items.with(at, { type: "record", record: { ...item.record, payload } });
  }),
  byRecord("a payload that is expired and has more", (record) => ({
    ...record,
    payload: JSON.stringify({ ...(JSON.parse(expirePayload(record.kind, record.payload)) as object), more: "words" }),
  })),
  byRecord("a payload with the marker of expired content in it", (record) => ({
    ...record,
    payload: JSON.stringify({ ...(JSON.parse(record.payload) as object), reason: "«ttl-expired»" }),
  })),
  byRecord("the kind", (record) => ({ ...record, kind: `${record.kind}X` })),
  byRecord("the time", (record) => ({ ...record, ts: record.ts.replace("2026", "2025") })),
  byRecord("the originator", (record) => ({ ...record, originator: "cli_01ARZ3NDEKTSV4RRFFQ69G5FAV" })),
  byRecord("the session", (record) => ({ ...record, session: SessionId.from("7".repeat(26)) })),
  byRecord("the id", (record, rng) => ({ ...record, id: record.id + 1 + pick(rng, 5) })),
  byItems("the hash it carries", (items, rng) => {
    const at = anyOf(items, rng, (item) => item.type === "record" && item.record.link !== undefined);
    const item = items[at];
    if (item?.type !== "record" || item.record.link === undefined) return items;
    const { link } = item.record;
    const other = { ...link, hash: flipped(link.hash) };
    return items.with(at, { type: "record", record: { ...item.record, link: other } });
  }),
  byLink("the salt", (record, link) => ({ ...record, link: { ...link, salt: flipped(link.salt) } })),
  byLink("the hash of the content", (record, link) => ({
    ...record,
    link: { ...link, content: flipped(link.content) },
  })),
  byItems("the payload and the hash of the content", (items, rng) => {
    const at = anyOf(items, rng, isSalted);
    const item = items[at];
    if (item?.type !== "record" || item.record.link?.salt === undefined) return items;
    const payload = otherPayload(item.record.payload, rng);
    const { link } = item.record;
    const record = { ...item.record, payload };
    const group = [...groupAround(items, at).slice(0, -1), record];
    const content = recomputeLink(record.session, "", group, link).content ?? "";
    return items.with(at, { type: "record", record: { ...record, link: { ...link, content } } });
  }),
  byItems("the hash of a link is gone", (items, rng) => {
    const at = anyOf(items, rng, (item) => item.type === "record" && item.record.link !== undefined);
    const item = items[at];
    if (item?.type !== "record") return items;
    return items.with(at, { type: "record", record: { ...item.record, link: undefined } });
  }),
  byItems("the hash of a link stands with another event", (items, rng) => {
    const at = anyOf(items, rng, (item) => item.type === "record" && item.record.link !== undefined);
    const to = anyOf(items, rng, (item, index) => item.type === "record" && index !== at);
    const [item, target] = [items[at], items[to]];
    if (item?.type !== "record" || target?.type !== "record") return items;
    return items
      .with(at, { type: "record", record: { ...item.record, link: target.record.link } })
      .with(to, { type: "record", record: { ...target.record, link: item.record.link } });
  }),
  byItems("one event is gone", (items, rng) => items.toSpliced(anyRecord(items, rng), 1)),
  byItems("some events are gone with their checkpoints, the rest renumbered", (items, rng) => {
    const from = anyRecord(items.slice(0, -2), rng);
    const kept = items.toSpliced(from, 1 + pick(rng, items.length - from - 1));
    return rebuilt(kept, { rehash: false });
  }),
  byItems("two events are swapped", (items, rng) => {
    const [a, b] = twoRecords(items, rng);
    const [first, second] = [items[a], items[b]];
    if (first === undefined || second === undefined) return items;
    return items.with(a, second).with(b, first);
  }),
  byItems("two events are swapped and renumbered", (items, rng) => {
    const [a, b] = twoRecords(items, rng);
    const [first, second] = [items[a], items[b]];
    if (first?.type !== "record" || second?.type !== "record") return items;
    return items
      .with(a, { type: "record", record: { ...second.record, id: first.record.id } })
      .with(b, { type: "record", record: { ...first.record, id: second.record.id } });
  }),
  byItems("an event comes twice", (items, rng) => {
    const at = anyRecord(items, rng);
    return items.toSpliced(at + pick(rng, items.length - at), 0, ...items.slice(at, at + 1));
  }),
  byItems("an event is added", (items, rng) => rebuilt(withExtra(items, rng), { rehash: false })),
  byItems("an event is added and every hash made again, without the key", (items, rng) =>
    rebuilt(withExtra(items, rng), { rehash: true }),
  ),
  byItems("a payload is changed and every hash made again, without the key", (items, rng) => {
    const at = anyRecord(items, rng);
    return rebuilt(changed(items, at, rng), { rehash: true });
  }),
  byItems("a payload is changed, all is made again and signed by another key", (items, rng) =>
    rebuilt(changed(items, anyRecord(items, rng), rng), { rehash: true, signer: newSigningKey() }),
  ),
  byItems("a payload is changed, all is made again, checkpoints removed", (items, rng) =>
    rebuilt(changed(items, anyRecord(items, rng), rng), { rehash: true }).filter(({ type }) => type !== "checkpoint"),
  ),
  byItems("the last checkpoints are gone, and with them the proof of a turn", (items, rng) => {
    const lastTurn = items.findLastIndex(endsTurn);
    const at = anyOf(items, rng, ({ type }, index) => type === "checkpoint" && index <= lastTurn + 1);
    return items.filter(({ type }, index) => index < at || type !== "checkpoint");
  }),
  byItems("a checkpoint comes twice", (items, rng) => {
    const at = anyOf(items, rng, ({ type }) => type === "checkpoint");
    return items.toSpliced(at, 0, ...items.slice(at, at + 1));
  }),
  byItems("the field of a checkpoint", (items, rng) => {
    const at = anyOf(items, rng, ({ type }) => type === "checkpoint");
    const item = items[at];
    if (item?.type !== "checkpoint") return items;
    const field = (["hash", "key_id", "public_key", "signature"] as const)[pick(rng, 4)] ?? "hash";
    return items.with(at, {
      type: "checkpoint",
      checkpoint: { ...item.checkpoint, [field]: flipped(item.checkpoint[field]) },
    });
  }),
  byItems("the time of a checkpoint", (items, rng) => {
    const at = anyOf(items, rng, ({ type }) => type === "checkpoint");
    const item = items[at];
    if (item?.type !== "checkpoint") return items;
    return items.with(at, { type: "checkpoint", checkpoint: { ...item.checkpoint, ts: "2020-01-01T00:00:00.000Z" } });
  }),
  byItems("the tail is cut before a checkpoint that is kept", (items, rng) => {
    const at = anyOf(items, rng, ({ type }) => type === "checkpoint");
    const last = items.slice(0, at).findLastIndex(({ type }) => type === "record");
    const from = Math.max(0, last - pick(rng, 2));
    return items.toSpliced(from, at - from);
  }),
  byItems("everything after some line is cut, the end line too", (items, rng) => {
    const at = anyOf(items, rng, ({ type }, index) => type === "record" && items[index + 1]?.type === "record");
    return items.slice(0, at + 1);
  }),
  { ...byItems("the tail is cut after a checkpoint and the head made to fit", cutAfterTurn), needsAnchor: true },
  {
    name: "the whole is made again and signed with the machine's own key",
    needsAnchor: true,
    async apply(log, rng) {
      const items = linesOf(await itemsOf(log.lines));
      const forged = rebuilt(changed(items, anyRecord(items, rng), rng), { rehash: true, signer: log.key });
      return [log.lines[0] ?? "", ...forged.map(evidenceLine)];
    },
  },
];

function byText(name: string, change: (lines: readonly string[], rng: Rng) => string[]): Tampering {
  return { name, apply: async ({ lines }, rng) => change(lines, rng) };
}

function byItems(name: string, change: (items: readonly Line[], rng: Rng) => readonly Line[]): Tampering {
  return {
    name,
    async apply({ lines }, rng) {
      return [lines[0] ?? "", ...change(linesOf(await itemsOf(lines)), rng).map(evidenceLine)];
    },
  };
}

function byRecord(name: string, change: (record: SessionRecord, rng: Rng) => SessionRecord): Tampering {
  return byItems(name, (items, rng) => {
    const at = anyRecord(items, rng);
    const item = items[at];
    return item?.type === "record" ? items.with(at, { type: "record", record: change(item.record, rng) }) : items;
  });
}

/** A change of a record that carries a link with a hash of contents. */
function byLink(
  name: string,
  change: (record: SessionRecord, link: Link & { salt: string; content: string }) => SessionRecord,
): Tampering {
  return byItems(name, (items, rng) => {
    const at = anyOf(items, rng, isSalted);
    const item = items[at];
    if (item?.type !== "record" || item.record.link === undefined) return items;
    const { salt, content } = item.record.link;
    if (salt === undefined || content === undefined) return items;
    return items.with(at, { type: "record", record: change(item.record, { ...item.record.link, salt, content }) });
  });
}

function isSalted(item: Line): boolean {
  return item.type === "record" && item.record.link?.salt !== undefined;
}

/** The events of the link that the record at this index belongs to. */
function groupAround(items: readonly Line[], index: number): SessionRecord[] {
  const records = items.flatMap((item) => (item.type === "record" ? [item.record] : []));
  const item = items[index];
  const at = item?.type === "record" ? records.indexOf(item.record) : 0;
  const end = records.findIndex(({ link }, place) => place >= at && link !== undefined);
  const start = records.slice(0, at).findLastIndex(({ link }) => link !== undefined) + 1;
  return records.slice(start, end + 1);
}

/** Numbers the records from 1, if asked makes every hash anew, and signs the checkpoints with another key if there is one. */
function rebuilt(items: readonly Line[], { rehash, signer }: { rehash: boolean; signer?: Signer }): Line[] {
  let id = 0;
  let hash = "0".repeat(64);
  let group: SessionRecord[] = [];
  return items.map((item): Line => {
    if (item.type === "record") {
      id += 1;
      const record = { ...item.record, id };
      if (!rehash) return { type: "record", record };
      if (id === 1) hash = chainStart(record.session);
      group.push(record);
      const { link } = record;
      if (link === undefined) return { type: "record", record };
      const made = relinked(link, hash, group);
      ({ hash } = made);
      group = [];
      return { type: "record", record: { ...record, link: made.link } };
    }
    if (item.type === "head") return rehash ? { type: "head", head: { lastEventId: id, hash } } : item;
    const { checkpoint } = item;
    const facts = { session: checkpoint.session, event: id, hash, ts: checkpoint.ts };
    return {
      type: "checkpoint",
      checkpoint: signer === undefined ? { ...checkpoint, event: id } : signer.sign(facts),
    };
  });
}

/** The link behind `prev` over these events, which are in order and without gaps. */
export function makeLink(
  session: SessionId,
  prev: string,
  events: readonly LinkedEvent[],
  nextSalt: () => string,
): Link {
  const open = new OpenLink();
  for (const event of events) open.add(event);
  return open.close(session, prev, nextSalt);
}

/** The link as it would be over these events behind this hash. */
function relinked(link: Link, prev: string, group: readonly SessionRecord[]): { link: Link; hash: string } {
  const last = group.at(-1);
  if (last === undefined) throw new Error("a link has events");
  const made = makeLink(last.session, prev, group, () => link.salt ?? "7".repeat(32));
  return { link: made, hash: made.hash };
}

function cutAfterTurn(items: readonly Line[], rng: Rng): readonly Line[] {
  const lastRecord = items.findLastIndex(({ type }) => type === "record");
  const at = anyOf(items, rng, ({ type }, index) => type === "checkpoint" && index < lastRecord);
  const item = items[at];
  if (item?.type !== "checkpoint") return items;
  const { event, hash } = item.checkpoint;
  return [...items.slice(0, at + 1), { type: "head", head: { lastEventId: event, hash } }];
}

function changed(items: readonly Line[], at: number, rng: Rng): readonly Line[] {
  const item = items[at];
  if (item?.type !== "record") return items;
  return items.with(at, {
    type: "record",
    record: { ...item.record, payload: otherPayload(item.record.payload, rng) },
  });
}

function withExtra(items: readonly Line[], rng: Rng): readonly Line[] {
  const item = items[anyRecord(items, rng)];
  if (item?.type !== "record") return items;
  const extra = { ...item.record, payload: otherPayload(item.record.payload, rng) };
  return items.toSpliced(anyRecord(items, rng), 0, { type: "record", record: extra });
}

function otherPayload(payload: string, rng: Rng): string {
  // A sample payload is an object.
  return JSON.stringify({ ...(JSON.parse(payload) as object), turn: `turn_${rng().toString(36).slice(2)}` });
}

function flipped(hex: string): string {
  return (hex[0] === "0" ? "1" : "0") + hex.slice(1);
}

function linesOf(items: readonly EvidenceItem[]): readonly Line[] {
  return items.filter((item): item is Line => item.type !== "header" && item.type !== "unreadable");
}

function endsTurn(item: Line): boolean {
  return item.type === "record" && item.record.kind === "TurnEnded";
}

function anyRecord(items: readonly Line[], rng: Rng): number {
  return anyOf(items, rng, ({ type }) => type === "record");
}

function twoRecords(items: readonly Line[], rng: Rng): readonly [number, number] {
  const a = anyRecord(items, rng);
  return [a, anyOf(items, rng, ({ type }, index) => type === "record" && index !== a)];
}

function anyOf(items: readonly Line[], rng: Rng, is: (item: Line, index: number) => boolean): number {
  const those = indexes(items, is);
  return those[pick(rng, those.length)] ?? 0;
}

function indexes(items: readonly Line[], is: (item: Line, index: number) => boolean): number[] {
  return items.flatMap((item, index) => (is(item, index) ? [index] : []));
}

function pick(rng: Rng, count: number): number {
  return Math.floor(rng() * count);
}
