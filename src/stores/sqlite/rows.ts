/** Sessions and their events as rows of SQLite. */
import type { EventPage, SessionMeta } from "#engine";
import type { SessionId } from "#protocol";
import { chainStart } from "../evidence.ts";
import type { EventRecord } from "../record.ts";
import type { Statements } from "./driver.ts";

export interface SessionRow extends Pick<SessionMeta, "id" | "profile" | "model" | "title" | "state"> {
  readonly pinned: number;
  readonly parent: SessionId | null;
  readonly working_dir: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_event_id: number;
}

/** While a session is open its last event tells when it changed. */
export const SELECT_SESSION = `SELECT id, working_dir, profile, model, created_at, CASE WHEN owner IS NULL THEN updated_at
    ELSE max(updated_at, coalesce((SELECT ts FROM events WHERE session = key ORDER BY events.id DESC LIMIT 1), '')) END
  AS updated_at, title, state, pinned, parent,
  coalesce((SELECT max(events.id) FROM events WHERE events.session = sessions.key), 0) AS last_event_id FROM sessions`;

export function startBlob(id: SessionId): Buffer {
  return Buffer.from(chainStart(id), "hex");
}

export function toMeta(row: SessionRow): SessionMeta {
  const { id, working_dir, profile, model, created_at, updated_at, title, state, pinned, parent, last_event_id } = row;
  return {
    id,
    workingDir: working_dir,
    profile,
    model,
    createdAt: created_at,
    updatedAt: updated_at,
    title,
    state,
    pinned: pinned === 1,
    ...(parent === null ? {} : { parent }),
    lastEventId: last_event_id,
  };
}

export type EventRow = EventRecord & { readonly id: number };

/** A row at a time, so that no more is read than the page holds. */
export function readPage(
  statement: Statements,
  key: number,
  { after, limit, maxChars = Number.POSITIVE_INFINITY }: EventPage,
): EventRow[] {
  const sql = `SELECT id, kind, ts, originator, payload FROM events WHERE session = ? AND id > ? ORDER BY id LIMIT ?`;
  const page: EventRow[] = [];
  let chars = 0;
  // The selected columns are the fields of the row.
  for (const row of statement(sql).iterate(key, after, limit) as IterableIterator<EventRow>) {
    page.push(row);
    chars += row.payload.length;
    if (chars >= maxChars) break;
  }
  return page;
}
