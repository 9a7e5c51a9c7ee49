/** A session as JSON lines that stand alone: a head, then every event with its evidence. Pure; holds one event at a time. */
import type { SessionMeta } from "#engine";
import { formatLine } from "./event-line.ts";
import { formatExportHead } from "./export-head.ts";
import type { ChainedRecord } from "./record.ts";

/**
 * Lines without their newline. The first is `{"x_export":{format,protocol_version,session}}`; `records` are those of `meta`,
 * all of them. The same session gives the same bytes.
 */
export async function* exportLines(
  meta: SessionMeta,
  records: AsyncIterable<ChainedRecord>,
  protocolVersion: string,
): AsyncGenerator<string> {
  yield formatExportHead(meta, protocolVersion);
  for await (const record of records) yield formatLine(meta.id, record);
}
