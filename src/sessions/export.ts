/** A session as JSON lines that stand alone: a header, then all of its evidence. Pure; holds one event at a time. */
import type { SessionMeta } from "#engine";
import { type EvidenceItem, evidenceLine } from "./evidence-lines.ts";
import { formatExportHead } from "./export-head.ts";

/**
 * Lines without their newline. The first is `{"x_export":{format,protocol_version,session}}`; `items` is the evidence of
 * `meta`, of which what was appended after `meta` was read is left out. The same session gives the same bytes.
 */
export async function* exportLines(
  meta: SessionMeta,
  items: AsyncIterable<EvidenceItem>,
  protocolVersion: string,
): AsyncGenerator<string> {
  yield formatExportHead(meta, protocolVersion);
  for await (const item of items) {
    if (item.type === "header" || item.type === "unreadable") throw new Error("a store gives no such line");
    if (item.type === "record" && item.record.id > meta.lastEventId) {
      // It carries the hash of the event before it.
      yield evidenceLine({ type: "head", head: { lastEventId: meta.lastEventId, hash: item.record.prev } });
      return;
    }
    yield evidenceLine(item);
  }
}
