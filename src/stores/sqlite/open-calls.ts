/** The calls of a session that were begun and have not ended, in a table of their own: after a crash nobody reads the log for them. */
import type { EventDraft } from "#engine";
import type { EventOf, SessionId } from "#protocol";
import { type EventRecord, toEvent } from "../record.ts";
import type { Statements } from "./driver.ts";

/** Inside the transaction that stores the drafts, of which the first has the id `firstEvent`. */
export function noteCalls(statement: Statements, key: number, drafts: readonly EventDraft[], firstEvent: number): void {
  const whole = callsWithin(drafts);
  for (const [index, draft] of drafts.entries()) {
    const isWhole = "call_id" in draft.payload && whole.has(draft.payload.call_id);
    if (!isWhole) noteCall(statement, key, draft, firstEvent + index);
  }
}

/** Of one event; nothing for what neither begins nor ends a call. */
export function noteCall(statement: Statements, key: number, draft: EventDraft, event: number): void {
  if (draft.kind === "ToolIntent") {
    const sql = "INSERT OR REPLACE INTO open_calls (session, call_id, event) VALUES (?, ?, ?)";
    statement(sql).run(key, draft.payload.call_id, event);
  } else if (draft.kind === "ToolOutcome") {
    statement("DELETE FROM open_calls WHERE session = ? AND call_id = ?").run(key, draft.payload.call_id);
  }
}

export function readOpenCalls(statement: Statements, key: number, id: SessionId): EventOf<"ToolIntent">[] {
  const sql = `SELECT events.id, kind, ts, originator, payload FROM open_calls
    JOIN events ON events.session = open_calls.session AND events.id = open_calls.event
    WHERE open_calls.session = ? ORDER BY events.id`;
  // The selected columns are the fields of an EventRecord and the id; only intents are noted.
  const rows = statement(sql).all(key) as (EventRecord & { id: number })[];
  return rows.map((row) => toEvent(id, row.id, row) as EventOf<"ToolIntent">);
}

/** Calls that begin and end in these drafts: nobody can ever find them open. */
function callsWithin(drafts: readonly EventDraft[]): ReadonlySet<unknown> {
  const begun = new Set<unknown>();
  const whole = new Set<unknown>();
  for (const { kind, payload } of drafts) {
    if (kind === "ToolIntent") begun.add(payload.call_id);
    else if (kind === "ToolOutcome" && begun.has(payload.call_id)) whole.add(payload.call_id);
  }
  return whole;
}
