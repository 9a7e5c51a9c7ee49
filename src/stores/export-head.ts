/** The first line of an export: what is known about the session besides its events. */
import { defined, isRecord, jsonIn } from "#base";
import type { SessionMeta } from "#engine";
import type { ArchivedSession } from "./archive.ts";
import { readSessionFields, sessionFields, textField } from "./session-fields.ts";

/** The form of the links: see docs/reference/evidence.md. */
const EXPORT_FORMAT = 2;

export interface ExportHead {
  readonly session: ArchivedSession;
  readonly lastEventId: number;
}

export function formatExportHead(meta: SessionMeta, protocolVersion: string): string {
  const { parent, lastEventId } = meta;
  const session = {
    ...sessionFields(meta),
    ...defined({ parent }),
    last_event_id: lastEventId,
  };
  return JSON.stringify({ x_export: { format: EXPORT_FORMAT, protocol_version: protocolVersion, session } });
}

/** Throws an Error that says what is wrong. */
export function parseExportHead(line: string): ExportHead {
  const head = exportOf(line);
  if (head.format !== EXPORT_FORMAT) {
    throw new Error(`the format is ${String(head.format)}, but this version of Harness reads only ${EXPORT_FORMAT}`);
  }
  const { session } = head;
  if (!isRecord(session)) throw new Error("'session' is missing");
  const wrong = (name: string, what: string): Error => new Error(`'session.${name}' ${what}`);
  const { last_event_id: lastEventId } = session;
  if (typeof lastEventId !== "number" || !Number.isSafeInteger(lastEventId) || lastEventId < 0) {
    throw new Error("'session.last_event_id' is not a number of events");
  }
  return {
    lastEventId,
    session: { ...readSessionFields(session, wrong), updatedAt: textField(session, "updated_at", wrong) },
  };
}

function exportOf(line: string): Record<string, unknown> {
  const value = jsonIn(line);
  if (value === undefined) throw new Error("it is not JSON, so this file is not an export of a session");
  const head = isRecord(value) ? value.x_export : undefined;
  if (!isRecord(head)) throw new Error("'x_export' is missing, so this file is not an export of a session");
  return head;
}
