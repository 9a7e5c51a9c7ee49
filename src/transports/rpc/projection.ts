/**
 * Canonical events as threads, turns and items: a fold. The same events always give the same notifications with the same ids, live
 * or read from the log; nothing else goes in. The part it remembers is what is still open: a text, the output of a call, a question.
 */

import { createHash } from "node:crypto";
import { defined, ulidFromDigest } from "#base";
import type { CallId, Event, EventOf, SessionId, TurnId } from "#protocol";
import { approvalDecisionOf, type Item, type ItemType, type Notification, type Turn } from "./shapes.ts";

export interface Projection {
  /** Of one event, in order; most events have none. `title`: of a thread that is being made. */
  apply(event: Event, title?: string): readonly Notification[];
  /** Calls that somebody was asked about, with their thread, so that a late answer is recorded there; the oldest is forgotten first. */
  readonly askedIn: ReadonlyMap<CallId, SessionId>;
}

const MAX_ASKED = 1_000;

interface OpenText {
  readonly key: string;
  readonly item: Item;
  readonly parts: string[];
}

/** What is open in one thread. */
interface ThreadState {
  startedMs?: number;
  text?: OpenText;
  readonly logs: Map<CallId, Item>;
  readonly approvals: Map<CallId, Item>;
  /** Why the running turn fails, when an event has said so. */
  error?: { readonly reason: string; readonly message: string };
}

export function createProjection(): Projection {
  const threads = new Map<SessionId, ThreadState>();
  const askedIn = new Map<CallId, SessionId>();

  function stateOf(session: SessionId): ThreadState {
    const known = threads.get(session);
    if (known !== undefined) return known;
    const made: ThreadState = { logs: new Map(), approvals: new Map() };
    threads.set(session, made);
    return made;
  }

  function closeText(state: ThreadState, more: Readonly<Record<string, unknown>> = {}): Notification[] {
    const { text } = state;
    if (text === undefined) return [];
    delete state.text;
    return [completed(text.item, { ...text.item.data, text: text.parts.join(""), ...more })];
  }

  function addText(state: ThreadState, event: EventOf<"TextDelta"> | EventOf<"ThinkingDelta">): Notification[] {
    const { turn, step, block, text } = event.payload;
    const kind = event.kind === "TextDelta" ? "text" : "reasoning";
    const key = `${turn} ${step} ${block} ${kind}`;
    const said: Notification[] = [];
    if (state.text?.key !== key) {
      said.push(...closeText(state));
      const item = itemOf(event.session, turn, "assistant_message", `${key} ${event.id}`, { kind, step });
      state.text = { key, item, parts: [] };
      said.push({ method: "item.started", params: { item } });
    }
    if (text !== "") {
      state.text?.parts.push(text);
      if (state.text !== undefined) said.push(delta(state.text.item, text));
    }
    return said;
  }

  function addOutput(state: ThreadState, { session, payload }: EventOf<"ToolCallProgress">): Notification[] {
    const known = state.logs.get(payload.call_id);
    if (known !== undefined) return [delta(known, payload.text)];
    const item = itemOf(session, payload.turn, "tool_log", payload.call_id, { callId: payload.call_id });
    state.logs.set(payload.call_id, item);
    return [{ method: "item.started", params: { item } }, delta(item, payload.text)];
  }

  function endCall(state: ThreadState, { session, payload }: EventOf<"ToolResult">): Notification[] {
    const { turn, call_id, name, content, is_error, outcome, reason, duration_ms } = payload;
    const log = state.logs.get(call_id);
    state.logs.delete(call_id);
    const item = itemOf(session, turn, "tool_exec", call_id);
    const data = { callId: call_id, tool: name, outcome, isError: is_error, content, durationMs: duration_ms };
    return [
      ...(log === undefined ? [] : [completed(log, log.data)]),
      completed(item, { ...data, ...defined({ reason }) }),
    ];
  }

  function ask(state: ThreadState, { session, payload }: EventOf<"PermissionRequested">): Notification[] {
    const { turn, call_id, name, label, args, summary, reason, scope, class: grade, expires_at } = payload;
    const asked = {
      ...{ requestId: call_id, tool: name, label, args, summary, reason },
      ...defined({ action: payload.action, scope, class: grade, expiresAt: expires_at }),
    };
    const item = itemOf(session, turn, "approval", call_id, asked);
    state.approvals.set(call_id, item);
    askedIn.set(call_id, session);
    const [oldest] = askedIn.keys();
    if (askedIn.size > MAX_ASKED && oldest !== undefined) askedIn.delete(oldest);
    return [
      { method: "item.started", params: { item } },
      {
        method: "approval.requested",
        params: { ...asked, threadId: session, turnId: turn, itemId: item.itemId },
      },
    ];
  }

  function answer(state: ThreadState, { session, payload }: EventOf<"PermissionAnswered">): Notification[] {
    const { turn, call_id, decision, by, rule, reason } = payload;
    const open = state.approvals.get(call_id);
    state.approvals.delete(call_id);
    const item = open ?? itemOf(session, turn, "approval", call_id, { requestId: call_id });
    const data = {
      ...item.data,
      decision: approvalDecisionOf(decision),
      by,
      ...defined({ rule, answerReason: reason }),
    };
    // One that nobody was asked about was not begun either.
    return [
      ...(open === undefined ? [{ method: "item.started", params: { item } } as const] : []),
      completed(item, data),
    ];
  }

  /** Whatever is still open ends with the turn. */
  function endTurn(state: ThreadState, { session, ts, payload }: EventOf<"TurnEnded">): Notification[] {
    const { turn: turnId, outcome, reason, steps, usage, cost_usd, duration_ms } = payload;
    const said = closeText(state);
    for (const log of state.logs.values()) said.push(completed(log, log.data));
    for (const item of state.approvals.values()) {
      said.push(completed(item, { ...item.data, decision: "reject", by: "turn ended" }));
    }
    const endedMs = Date.parse(ts);
    const status = outcome === "cancelled" ? "cancelled" : isAnswer(outcome) ? "completed" : "error";
    const time = { started: state.startedMs ?? endedMs - Math.round(duration_ms), completed: endedMs };
    const turn: Turn = { turnId, threadId: session, status, time };
    const facts = { outcome, steps, usage, ...defined({ costUsd: cost_usd }) };
    const error = { reason: reason ?? outcome, message: messageFor(state.error, reason, outcome) };
    threads.delete(session);
    said.push(
      status === "completed"
        ? { method: "turn.completed", params: { threadId: session, turn, ...facts } }
        : { method: "turn.error", params: { threadId: session, turn, error, ...facts } },
    );
    return said;
  }

  function project(event: Event, title: string): readonly Notification[] {
    const { session } = event;
    const state = stateOf(session);
    switch (event.kind) {
      case "SessionStarted": {
        // A session that is opened again says so, too; the thread is not new then.
        if (event.id !== 1) return [];
        const atMs = Date.parse(event.ts);
        const time = { created: atMs, updated: atMs };
        const thread = { threadId: session, title, directory: event.payload.working_dir, time };
        return [{ method: "thread.created", params: { thread } }];
      }
      case "SessionEnded":
        threads.delete(session);
        return [];
      case "TurnStarted": {
        const { turn: turnId, content } = event.payload;
        state.startedMs = Date.parse(event.ts);
        const turn: Turn = { turnId, threadId: session, status: "running", time: { started: state.startedMs } };
        const item = itemOf(session, turnId, "user_message", "input", { content });
        return [
          { method: "turn.started", params: { threadId: session, turn } },
          { method: "item.started", params: { item } },
          { method: "item.completed", params: { item } },
        ];
      }
      case "TextDelta":
      case "ThinkingDelta":
        return addText(state, event);
      case "CostIncremented":
        return closeText(state);
      case "ToolCallStarted": {
        const { turn, call_id, name, label, args, class: toolClass, parent } = event.payload;
        const more = { ...defined({ class: toolClass }), ...(parent ? { parent } : {}) };
        const item = itemOf(session, turn, "tool_exec", call_id, { callId: call_id, tool: name, label, args, ...more });
        return [...(parent ? [] : closeText(state)), { method: "item.started", params: { item } }];
      }
      case "ToolCallProgress":
        return addOutput(state, event);
      case "ToolResult":
        return endCall(state, event);
      case "ToolOutcome":
        return artifacts(event);
      case "PermissionRequested":
        return ask(state, event);
      case "PermissionAnswered":
        return answer(state, event);
      case "QuestionAsked": {
        const { turn, call_id, question, options } = event.payload;
        const asked = { threadId: session, turnId: turn, requestId: call_id, question };
        return [{ method: "question.asked", params: { ...asked, ...(options ? { options } : {}) } }];
      }
      case "AckRequested": {
        const { turn, call_id, delegate: _, ...asked } = event.payload;
        return [{ method: "ack.requested", params: { threadId: session, turnId: turn, requestId: call_id, ...asked } }];
      }
      case "AckSettled": {
        const { turn, call_id, ...settled } = event.payload;
        return [{ method: "ack.settled", params: { threadId: session, turnId: turn, requestId: call_id, ...settled } }];
      }
      case "OrphanedCall": {
        const { turn, call_id, name, args, started_at } = event.payload;
        const call = { threadId: session, turnId: turn, callId: call_id, tool: name, args };
        return [{ method: "call.orphaned", params: { ...call, startedAt: Date.parse(started_at) } }];
      }
      case "Error": {
        const { turn, reason, message, terminal } = event.payload;
        if (turn === undefined) return [];
        if (terminal) state.error = { reason, message };
        // The step is tried again: what it has written does not count.
        return closeText(state, terminal ? {} : { voided: true });
      }
      case "TurnEnded":
        return endTurn(state, event);
      default:
        return [];
    }
  }

  /** Of a delegate only its questions are told, never its end. */
  function forgetIdle(session: SessionId): void {
    const state = threads.get(session);
    if (state === undefined || state.startedMs !== undefined || state.text !== undefined) return;
    if (state.logs.size === 0 && state.approvals.size === 0 && state.error === undefined) threads.delete(session);
  }

  return {
    askedIn,
    apply(event, title = "") {
      const said = project(event, title);
      forgetIdle(event.session);
      return said.map(({ method, params }) => ({ method, params: { ...params, eventId: event.id } }));
    },
  };
}

/** Each file that a call wrote through the file port. */
function artifacts({ session, payload }: EventOf<"ToolOutcome">): Notification[] {
  const written = (payload.effects ?? []).filter(({ port, target }) => port === "write" && !target.endsWith("/"));
  return written.flatMap(({ target }, index) => {
    const data = { callId: payload.call_id, path: target };
    const item = itemOf(session, payload.turn, "artifact", `${payload.call_id} ${index}`, data);
    return [
      { method: "item.started", params: { item } } as const,
      { method: "item.completed", params: { item } } as const,
    ];
  });
}

function itemOf(
  threadId: SessionId,
  turnId: TurnId,
  type: ItemType,
  key: string,
  data?: Readonly<Record<string, unknown>>,
): Item {
  const digest = createHash("sha256").update(`${threadId} ${turnId} ${type} ${key}`).digest();
  const itemId = `item_${ulidFromDigest(digest)}` as const;
  return { itemId, threadId, turnId, type, ...defined({ data }) };
}

function completed(item: Item, data: Item["data"]): Notification {
  return { method: "item.completed", params: { item: data === undefined ? item : { ...item, data } } };
}

function delta({ itemId, threadId, turnId, type }: Item, text: string): Notification {
  return { method: "item.delta", params: { itemId, threadId, turnId, type, delta: { text } } };
}

function isAnswer(outcome: string): boolean {
  return outcome === "answered" || outcome === "yielded";
}

function messageFor(error: ThreadState["error"], reason: string | undefined, outcome: string): string {
  if (error !== undefined && (reason === undefined || error.reason === reason)) return error.message;
  return outcome === "cancelled"
    ? "The turn was cancelled."
    : `The turn ended without an answer: ${reason ?? outcome}.`;
}
