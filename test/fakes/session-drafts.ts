/** Drafts of whole turns, for tests of what is made from a log. */
import type { EventDraft } from "#engine";
import { CallId, ClientId, type EventKind, type EventPayload, TurnId } from "#protocol";

const usage = { input_tokens: 100, output_tokens: 20, cache_read_tokens: 5, cache_write_tokens: 0 };

export const CLIENT = ClientId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");

export function turnId(n: number): TurnId {
  return TurnId.from(`TT${String(n).padStart(24, "0")}`);
}

export function callId(n: number): CallId {
  return CallId.from(`CC${String(n).padStart(24, "0")}`);
}

export function draft<Kind extends EventKind>(kind: Kind, payload: EventPayload<Kind>): EventDraft {
  // The payload is the one of this kind.
  return { kind, ts: "2026-01-01T00:00:00.000Z", originator: CLIENT, payload } as EventDraft;
}

export function sessionStarted(): EventDraft {
  return draft("SessionStarted", { working_dir: "/w", profile: "default", model: "scripted:x" });
}

/** A turn that answers `text` to `input`; `extra` comes between the two. */
export function turnDrafts(n: number, input: string, text: string, extra: readonly EventDraft[] = []): EventDraft[] {
  const turn = turnId(n);
  return [
    draft("TurnStarted", { turn, content: [{ type: "text", text: input }], model: "scripted:x" }),
    ...extra,
    draft("TextDelta", { turn, step: 2, block: 0, text: text.slice(0, 5) }),
    draft("TextDelta", { turn, step: 2, block: 0, text: text.slice(5) }),
    draft("TurnEnded", { turn, outcome: "answered", steps: 2, usage, cost_usd: 0.0125, duration_ms: 1500 }),
  ];
}

/** A session of two turns, of which the first makes a call. */
export function twoTurns(second: string): EventDraft[] {
  return [
    sessionStarted(),
    ...turnDrafts(1, "begin", "the same answer", callDrafts(1, { command: "ls" }, "a.txt")),
    ...turnDrafts(2, "go on", second),
  ];
}

/** A call of step 1 that asks, runs and gives `result`. */
export function callDrafts(n: number, args: unknown, result: string): EventDraft[] {
  const turn = turnId(n);
  const call_id = callId(n);
  const name = "exec";
  return [
    draft("ToolCallStarted", { turn, step: 1, block: 1, call_id, name, label: "Bash", args, class: "mutating" }),
    draft("PermissionRequested", { turn, call_id, name, label: "Bash", args, summary: "run it", reason: "no rule" }),
    draft("PermissionAnswered", { turn, call_id, decision: "allow_once", by: CLIENT }),
    draft("ToolIntent", { turn, step: 1, call_id, name, class: "mutating", args_hash: "0".repeat(64) }),
    draft("ToolOutcome", { turn, call_id, outcome: "ok", result_hash: "1".repeat(64) }),
    draft("ToolResult", {
      turn,
      step: 1,
      call_id,
      name,
      content: [{ type: "text", text: result }],
      is_error: false,
      outcome: "ok",
      duration_ms: 42,
    }),
  ];
}
