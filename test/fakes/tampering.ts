/** Logs with evidence, and every way we know to tamper with one: by somebody careless, careful, and with a key of their own. */
import { generateKeyPairSync } from "node:crypto";
import type { EventDraft } from "#engine";
import { SessionId, TurnId } from "#protocol";
import type { ArchiveStore } from "../../src/sessions/archive.ts";
import type { Checkpoint, Sign } from "../../src/sessions/checkpoint.ts";
import { chainStart, contentHash, eventHash } from "../../src/sessions/evidence.ts";
import {
  type EvidenceItem,
  evidenceLine,
  readEvidenceLines,
  type SessionRecord,
} from "../../src/sessions/evidence-lines.ts";
import { expirePayload } from "../../src/sessions/expired-payload.ts";
import { exportLines } from "../../src/sessions/export.ts";
import { type SigningKey, signingKeyOf } from "../../src/sessions/signing-key.ts";

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
  byRecord("a payload that claims to be expired, with another hash", (record) => ({
    ...record,
    payload: expirePayload(record.kind, record.payload),
    content: flippedBytes(record.content),
  })),
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
  byRecord("the hash it carries", (record) => ({ ...record, prev: flippedBytes(record.prev) })),
  byRecord("the salt", (record) => ({ ...record, salt: flippedBytes(record.salt) })),
  byRecord("the hash of the content", (record) => ({ ...record, content: flippedBytes(record.content) })),
  byRecord("the payload and the hash of the content", (record, rng) => {
    const payload = otherPayload(record.payload, rng);
    return { ...record, payload, content: contentHash(record.salt, payload) };
  }),
  byItems("one event is gone", (items, rng) => items.toSpliced(anyRecord(items, rng), 1)),
  byItems("some events are gone with their checkpoints, the rest renumbered", (items, rng) => {
    const from = pick(rng, items.length - 2);
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
    rebuilt(changed(items, anyRecord(items, rng), rng), { rehash: true, sign: newSigningKey().sign }),
  ),
  byItems("a payload is changed, all is made again, checkpoints removed", (items, rng) =>
    rebuilt(changed(items, anyRecord(items, rng), rng), { rehash: true }).filter(({ type }) => type !== "checkpoint"),
  ),
  byItems("a checkpoint at the end of a turn is gone", (items, rng) => {
    const ends = indexes(items, (item, index) => item.type === "checkpoint" && endsTurn(items[index - 1]));
    return items.toSpliced(ends[pick(rng, ends.length)] ?? 0, 1);
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
    return items.toSpliced(Math.max(0, last - pick(rng, 2)), at - Math.max(0, last - pick(rng, 2)));
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
      const forged = rebuilt(changed(items, anyRecord(items, rng), rng), { rehash: true, sign: log.key.sign });
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

/** Numbers the records from 1, if asked makes every hash anew, and signs the checkpoints with another key if there is one. */
function rebuilt(items: readonly Line[], { rehash, sign }: { rehash: boolean; sign?: Sign }): Line[] {
  let id = 0;
  let hash: Buffer = Buffer.alloc(32);
  return items.map((item): Line => {
    if (item.type === "record") {
      id += 1;
      if (!rehash) return { type: "record", record: { ...item.record, id } };
      const prev = id === 1 ? chainStart(item.record.session) : hash;
      const content = contentHash(item.record.salt, item.record.payload);
      const record = { ...item.record, id, prev, content };
      hash = eventHash(record, prev, content);
      return { type: "record", record };
    }
    if (item.type === "head") return rehash ? { type: "head", head: { lastEventId: id, hash } } : item;
    const { checkpoint } = item;
    const facts = { session: checkpoint.session, event: id, hash: hash.toString("hex"), ts: checkpoint.ts };
    return { type: "checkpoint", checkpoint: sign === undefined ? { ...checkpoint, event: id } : sign(facts) };
  });
}

function cutAfterTurn(items: readonly Line[], rng: Rng): readonly Line[] {
  const lastRecord = items.findLastIndex(({ type }) => type === "record");
  const at = anyOf(items, rng, ({ type }, index) => type === "checkpoint" && index < lastRecord);
  const item = items[at];
  if (item?.type !== "checkpoint") return items;
  const { event, hash } = item.checkpoint;
  return [...items.slice(0, at + 1), { type: "head", head: { lastEventId: event, hash: Buffer.from(hash, "hex") } }];
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

function flippedBytes(bytes: Buffer): Buffer {
  return Buffer.from(flipped(bytes.toString("hex")), "hex");
}

function linesOf(items: readonly EvidenceItem[]): readonly Line[] {
  return items.filter((item): item is Line => item.type !== "header" && item.type !== "unreadable");
}

function endsTurn(item: Line | undefined): boolean {
  return item?.type === "record" && item.record.kind === "TurnEnded";
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
