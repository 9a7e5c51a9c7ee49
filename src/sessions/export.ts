/** A session as JSON lines that stand alone: a header, then all of its evidence. Pure; holds one event at a time. */
import type { SessionMeta } from "#engine";
import { chainStart } from "./evidence.ts";
import { type EvidenceItem, evidenceLine, type SessionRecord } from "./evidence-lines.ts";
import { expirePayload, hasContent } from "./expired-payload.ts";
import { formatExportHead } from "./export-head.ts";
import { hashAfter } from "./record.ts";

/** Takes out of a payload what must not leave; gives the same object back when there is nothing. */
export type PayloadFilter = (kind: string, payload: object) => object;

/**
 * Lines without their newline. The first is `{"x_export":{format,protocol_version,session}}`; `items` is the evidence of
 * `meta`, of which what was appended after `meta` was read is left out. The same session gives the same bytes. What `filter` wants
 * changed loses its content, as if that had expired: the evidence still holds. An event without content gets what the filter
 * gives, and no longer verifies.
 */
export async function* exportLines(
  meta: SessionMeta,
  items: AsyncIterable<EvidenceItem>,
  protocolVersion: string,
  filter?: PayloadFilter,
): AsyncGenerator<string> {
  yield formatExportHead(meta, protocolVersion);
  let hash: string | undefined;
  for await (const item of items) {
    if (item.type === "header" || item.type === "unreadable") throw new Error("a store gives no such line");
    if (item.type === "record") {
      const { record } = item;
      if (record.id > meta.lastEventId) {
        // What was stored together ends a link, and `meta` was read between two such writes.
        yield evidenceLine({
          type: "head",
          head: { lastEventId: meta.lastEventId, hash: hash ?? chainStart(record.session) },
        });
        return;
      }
      hash = hashAfter(record.session, record) ?? hash;
      if (filter !== undefined) {
        yield evidenceLine({ type: "record", record: { ...record, payload: filtered(record, filter) } });
        continue;
      }
    }
    yield evidenceLine(item);
  }
}

function filtered({ kind, payload: text }: SessionRecord, filter: PayloadFilter): string {
  // A store holds only payloads of events, which are objects.
  const payload = JSON.parse(text) as object;
  const clean = filter(kind, payload);
  if (clean === payload) return text;
  return hasContent(kind) ? expirePayload(kind, text) : JSON.stringify(clean);
}
