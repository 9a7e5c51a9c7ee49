/** A session as JSON lines that stand alone: a header, then all of its evidence. Pure; holds one event at a time. */
import type { SessionMeta } from "#engine";
import { chainStart } from "./evidence.ts";
import { type EvidenceItem, evidenceLine } from "./evidence-lines.ts";
import { formatExportHead } from "./export-head.ts";
import { hashAfter } from "./record.ts";

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
    }
    yield evidenceLine(item);
  }
}
