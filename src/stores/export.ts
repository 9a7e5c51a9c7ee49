/** A session as JSON lines that stand alone: a header, then all of its evidence. Pure; holds one event at a time. */
import type { SessionMeta } from "#engine";
import { chainStart } from "./evidence.ts";
import { type EvidenceItem, evidenceLine, type SessionRecord } from "./evidence-lines.ts";
import { expirePayload, hasContent } from "./expired-payload.ts";
import { formatExportHead } from "./export-head.ts";

/** Takes out of a payload what must not leave; gives the same object back when there is nothing. */
export type PayloadFilter = (kind: string, payload: object) => object;

/**
 * Lines without their newline. The first is `{"x_export":{format,protocol_version,session}}`; `items` is the evidence of
 * `meta`, of which what was appended after `meta` was read is left out. The same session gives the same bytes. What `filter` wants
 * changed loses its content, as if that had expired, with all that was stored together with it: the evidence still holds. An event
 * without content gets what the filter gives, and no longer verifies.
 */
export async function* exportLines(
  meta: SessionMeta,
  items: AsyncIterable<EvidenceItem>,
  protocolVersion: string,
  filter?: PayloadFilter,
): AsyncGenerator<string> {
  yield formatExportHead(meta, protocolVersion);
  let hash: string | undefined;
  /** Events of a link that has not ended yet: they keep or lose their content together. */
  let linked: SessionRecord[] = [];
  for await (const item of items) {
    if (item.type === "header" || item.type === "unreadable") throw new Error("a store gives no such line");
    if (item.type !== "record") {
      yield evidenceLine(item);
      continue;
    }
    const { record } = item;
    if (record.id > meta.lastEventId) {
      // What was stored together ends a link, and `meta` was read between two such writes.
      yield* recordLines(linked, filter);
      yield evidenceLine({
        type: "head",
        head: { lastEventId: meta.lastEventId, hash: hash ?? chainStart(record.session) },
      });
      return;
    }
    hash = record.link?.hash ?? hash;
    linked.push(record);
    if (filter !== undefined && record.link === undefined) continue;
    yield* recordLines(linked, filter);
    linked = [];
  }
  yield* recordLines(linked, filter);
}

function* recordLines(records: readonly SessionRecord[], filter: PayloadFilter | undefined): Generator<string> {
  const kept = filter === undefined ? records : filtered(records, filter);
  for (const record of kept) yield evidenceLine({ type: "record", record });
}

/** What stays of an event when its content goes may hold a secret as well: the reason of a question quotes what it is about. */
function expiredClean(kind: string, payload: string, filter: PayloadFilter): string {
  const expired = expirePayload(kind, payload);
  const kept = JSON.parse(expired) as object; // an event's payload
  const clean = filter(kind, kept);
  return clean === kept ? expired : JSON.stringify(clean);
}

function filtered(records: readonly SessionRecord[], filter: PayloadFilter): readonly SessionRecord[] {
  const clean = records.map(({ kind, payload: text }) => {
    // A store holds only payloads of events, which are objects.
    const payload = JSON.parse(text) as object;
    const changed = filter(kind, payload);
    return changed === payload ? undefined : JSON.stringify(changed);
  });
  const losesContent = records.some(({ kind }, index) => hasContent(kind) && clean[index] !== undefined);
  return records.map((record, index) => {
    const { kind, payload } = record;
    if (hasContent(kind)) return losesContent ? { ...record, payload: expiredClean(kind, payload, filter) } : record;
    return { ...record, payload: clean[index] ?? payload };
  });
}
