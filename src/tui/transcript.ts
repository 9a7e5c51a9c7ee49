/**
 * The conversation as blocks, folded from events: inputs, answers, calls with who allowed them, notices, summaries of turns. Pure. A
 * block that is finished never changes again, so that its rows can be printed for good.
 */
import { counted, visibleLine, visibleProse } from "#base";
import {
  type CallId,
  type Event,
  howItEnded,
  type InputBlock,
  type SessionId,
  type ToolOutputBlock,
  todoLine,
} from "#protocol";

export type Block =
  | { readonly kind: "input"; readonly text: string }
  | { readonly kind: "answer"; readonly key: string; readonly text: string; readonly isDone: boolean }
  | { readonly kind: "thinking"; readonly key: string; readonly chars: number; readonly isDone: boolean }
  | CallBlock
  | { readonly kind: "notice"; readonly tone: Tone; readonly text: string }
  | { readonly kind: "summary"; readonly text: string };

export type Tone = "plain" | "dim" | "warn" | "bad" | "good";

export interface CallBlock {
  readonly kind: "call";
  readonly id: CallId;
  readonly label: string;
  readonly subject: string;
  readonly args: unknown;
  /** Calls of delegates stand further in. */
  readonly depth: number;
  readonly sinceMs: number;
  readonly allowedBy?: string;
  /** A person is asked. */
  readonly isAsked: boolean;
  /** The end of its output while it runs. */
  readonly tail: readonly string[];
  readonly ended?: {
    readonly outcome: string;
    readonly isError: boolean;
    readonly durationMs: number;
    readonly lines: readonly string[];
    readonly labels: readonly string[];
  };
}

export interface Transcript {
  readonly session: SessionId;
  /** Not settled yet, oldest first. */
  readonly blocks: readonly Block[];
  readonly isTurnRunning: boolean;
  readonly turnSinceMs: number;
  readonly turnCostUsd: number;
  readonly sessionCostUsd: number;
  /** Files that the calls of the turn changed. */
  readonly changed: readonly string[];
  readonly model: string;
  /** What is waited for, when nothing else on the screen says so. */
  readonly waiting: string;
}

const TAIL_LINES = 5;
const MAX_RESULT_LINES = 2_000;
const MAX_LIVE_BLOCKS = 10_000;

export function emptyTranscript(session: SessionId, model: string): Transcript {
  return {
    session,
    blocks: [],
    isTurnRunning: false,
    turnSinceMs: 0,
    turnCostUsd: 0,
    sessionCostUsd: 0,
    changed: [],
    model,
    waiting: "",
  };
}

/** `nowMs` is the monotonic time at which the event counts as having happened. */
export function withEvent(before: Transcript, event: Event, nowMs: number): Transcript {
  if (event.session !== before.session) return withDelegateEvent(before, event, nowMs);
  switch (event.kind) {
    case "TurnStarted": {
      const begun = closed(before);
      const text = textOf(event.payload.content);
      return {
        ...add(begun, { kind: "input", text }),
        isTurnRunning: true,
        turnSinceMs: nowMs,
        turnCostUsd: 0,
        changed: [],
        model: event.payload.model,
        waiting: "the model",
      };
    }
    case "TurnSteered":
      return add(closedText(before), { kind: "input", text: textOf(event.payload.content) });
    case "TextDelta": {
      const { step, block, text } = event.payload;
      return { ...withText(before, `${event.payload.turn}/${step}/${block}`, text), waiting: "" };
    }
    case "ThinkingDelta": {
      const { turn, step, block, text } = event.payload;
      return withThinking(before, `${turn}/${step}/${block}`, text.length);
    }
    case "CostIncremented": {
      const cost = event.payload.cost_usd ?? 0;
      return { ...before, turnCostUsd: before.turnCostUsd + cost, sessionCostUsd: before.sessionCostUsd + cost };
    }
    case "TurnEnded":
      return withTurnEnd(before, event.payload, nowMs);
    case "TurnLost":
      return {
        ...notice(closed(before), "bad", `✗ ${event.payload.reason}: ${event.payload.message}`),
        isTurnRunning: false,
      };
    default:
      return withCallEvent(before, event, nowMs, 0) ?? withNotice(before, event);
  }
}

function withCallEvent(before: Transcript, event: Event, nowMs: number, depth: number): Transcript | undefined {
  switch (event.kind) {
    case "ToolCallStarted": {
      const { call_id: id, label, args } = event.payload;
      const call: CallBlock = {
        kind: "call",
        id,
        label: visibleLine(label),
        subject: subjectOf(args),
        args,
        depth,
        sinceMs: nowMs,
        isAsked: false,
        tail: [],
      };
      return { ...add(closedText(before), call), waiting: "" };
    }
    case "ToolIntent": {
      const { by } = event.payload.allowed_by ?? {};
      return by === undefined
        ? before
        : changeCall(before, event.payload.call_id, (call) => ({ ...call, allowedBy: by }));
    }
    case "PermissionRequested":
    case "QuestionAsked":
      return changeCall(before, event.payload.call_id, (call) => ({ ...call, isAsked: true }));
    case "PermissionAnswered":
    case "QuestionAnswered":
      return changeCall(before, event.payload.call_id, (call) => ({ ...call, isAsked: false, sinceMs: nowMs }));
    case "ToolCallProgress": {
      const { call_id: id, text } = event.payload;
      return changeCall(before, id, (call) => ({
        ...call,
        tail: [...call.tail, ...lines(text)].slice(-TAIL_LINES),
      }));
    }
    case "ToolResult": {
      const { call_id: id, content, outcome, is_error: isError, duration_ms: durationMs, labels = [] } = event.payload;
      const ended = { outcome, isError, durationMs, lines: linesOf(content), labels };
      return { ...changeCall(before, id, (call) => ({ ...call, isAsked: false, ended })), waiting: "the model" };
    }
    case "ToolOutcome": {
      const files = (event.payload.effects ?? []).flatMap(({ port, target }) => {
        return port === "write" || port === "move" || port === "remove" ? [target] : [];
      });
      return files.length === 0 ? before : { ...before, changed: [...new Set([...before.changed, ...files])] };
    }
    default:
      return undefined;
  }
}

/** Questions and calls of the agents below stand in the conversation of their root. */
function withDelegateEvent(before: Transcript, event: Event, nowMs: number): Transcript {
  return withCallEvent(before, event, nowMs, 1) ?? before;
}

function withNotice(before: Transcript, event: Event): Transcript {
  switch (event.kind) {
    case "Error": {
      const { reason, message, terminal, retry } = event.payload;
      const again = retry === undefined ? "" : ` Retry ${retry.attempt} of ${retry.of}.`;
      return notice(before, terminal ? "bad" : "warn", `${terminal ? "✗" : "…"} ${reason}: ${message}${again}`);
    }
    case "ModelWaiting":
      return { ...before, waiting: `the model (gives up in ${Math.round(event.payload.left_ms / 1000)} s)` };
    case "HookError":
      return notice(before, "warn", `hook ${event.payload.hook} failed: ${event.payload.message}`);
    case "Cancelled":
      return notice(closed(before), "warn", "Cancelled.");
    case "DelegationStarted": {
      const { agent, task } = event.payload;
      return notice(before, "dim", `→ ${agent || "delegate"}: ${task}`);
    }
    case "DelegationEnded": {
      const { agent, status, steps, tool_calls: calls } = event.payload;
      const text = `← ${agent || "delegate"}: ${status}, ${counted(steps, "step")}, ${counted(calls, "call")}`;
      return notice(before, status === "ok" ? "dim" : "warn", text);
    }
    case "ModeChanged":
      return notice(before, "warn", `mode: ${event.payload.previous} → ${event.payload.mode}`);
    case "TodosChanged":
      return notice(before, "dim", todoLine(event.payload.todos) ?? "todo: none");
    case "JobEnded":
      return notice(before, "dim", `& ${event.payload.job} ended: ${howItEnded(event.payload)}`);
    case "ModelChanged":
      return {
        ...notice(before, "dim", `model: ${event.payload.previous} → ${event.payload.model}`),
        model: event.payload.model,
      };
    case "SandboxStatus":
      return event.payload.active ? before : notice(before, "warn", event.payload.detail);
    case "InputRefused": {
      const { reason, message } = event.payload;
      // Whoever took it back has it in their editor.
      if (reason === "InputWithdrawn") return notice(before, "dim", "A queued input was taken back.");
      return notice(before, "bad", `✗ a queued input was not started: ${message}`);
    }
    case "BudgetWarning": {
      const { scope, kind, used, limit } = event.payload;
      return notice(before, "warn", `budget of the ${scope}: ${Number(used.toFixed(4))} of ${limit} ${kind} used`);
    }
    case "WorkspaceRestored": {
      const { action, counts } = event.payload;
      const left = counts.conflicts === 0 ? "" : `, ${counts.conflicts} in conflict and left unchanged`;
      return notice(before, "good", `${action}: ${counted(counts.restored, "path")} restored${left}`);
    }
    default:
      return before;
  }
}

function withTurnEnd(before: Transcript, payload: EventOfTurnEnd, nowMs: number): Transcript {
  const { outcome, usage, cost_usd: cost, steps } = payload;
  const seconds = ((nowMs - before.turnSinceMs) / 1000).toFixed(1);
  const tokens = usage.input_tokens + usage.output_tokens;
  const files = before.changed.length === 0 ? [] : [`${counted(before.changed.length, "file")} changed`];
  const money = cost === undefined ? [] : [`$${cost.toFixed(4)}`];
  const parts = [`${seconds} s`, counted(steps, "step"), `${tokens} tokens`, ...money, ...files];
  const text = outcome === "answered" ? parts.join(" · ") : [outcome, ...parts].join(" · ");
  return {
    ...add(closed(before), { kind: "summary", text }),
    isTurnRunning: false,
    waiting: "",
  };
}

type EventOfTurnEnd = Extract<Event, { kind: "TurnEnded" }>["payload"];

function withText(before: Transcript, key: string, text: string): Transcript {
  const last = before.blocks.at(-1);
  if (last?.kind === "answer" && last.key === key && !last.isDone) {
    return { ...before, blocks: [...before.blocks.slice(0, -1), { ...last, text: last.text + text }] };
  }
  return add(closedText(before), { kind: "answer", key, text, isDone: false });
}

function withThinking(before: Transcript, key: string, chars: number): Transcript {
  const last = before.blocks.at(-1);
  if (last?.kind === "thinking" && last.key === key) {
    return { ...before, blocks: [...before.blocks.slice(0, -1), { ...last, chars: last.chars + chars }] };
  }
  return { ...add(closedText(before), { kind: "thinking", key, chars, isDone: false }), waiting: "" };
}

/** Text that nothing is added to any more. */
function closedText(before: Transcript): Transcript {
  const last = before.blocks.at(-1);
  if (last === undefined || (last.kind !== "answer" && last.kind !== "thinking") || last.isDone) return before;
  return { ...before, blocks: [...before.blocks.slice(0, -1), { ...last, isDone: true }] };
}

/** At the end of a turn nothing runs any more. */
function closed(before: Transcript): Transcript {
  const left = { outcome: "interrupted", isError: true, durationMs: 0, lines: [], labels: [] };
  const blocks = closedText(before).blocks.map((block) => {
    return block.kind === "call" && block.ended === undefined ? { ...block, isAsked: false, ended: left } : block;
  });
  return { ...before, blocks };
}

export function notice(before: Transcript, tone: Tone, text: string): Transcript {
  return add(before, { kind: "notice", tone, text: visibleProse(text) });
}

function add(before: Transcript, block: Block): Transcript {
  return { ...before, blocks: [...before.blocks, block].slice(-MAX_LIVE_BLOCKS) };
}

function changeCall(before: Transcript, id: CallId, change: (call: CallBlock) => CallBlock): Transcript {
  const at = before.blocks.findLastIndex((block) => block.kind === "call" && block.id === id);
  const call = before.blocks[at];
  if (call?.kind !== "call" || call.ended !== undefined) return before;
  return { ...before, blocks: before.blocks.with(at, change(call)) };
}

export function isFinished(block: Block): boolean {
  if (block.kind === "call") return block.ended !== undefined;
  return block.kind === "answer" || block.kind === "thinking" ? block.isDone : true;
}

function subjectOf(args: unknown): string {
  if (typeof args !== "object" || args === null) return visibleLine(String(args ?? ""));
  const values = Object.entries(args);
  const [first] = values;
  if (values.length === 1 && typeof first?.[1] === "string") return visibleLine(first[1]);
  return visibleLine(
    values.map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`).join(" "),
  );
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(visibleLine);
}

function linesOf(content: readonly ToolOutputBlock[]): string[] {
  const text = content.map((block) => (block.type === "text" ? block.text : `[${block.media_type}]`)).join("\n");
  return text.trimEnd().split("\n").slice(0, MAX_RESULT_LINES).map(visibleLine);
}

function textOf(content: readonly InputBlock[]): string {
  return content.map((block) => (block.type === "text" ? visibleProse(block.text) : `[${block.type}]`)).join("\n");
}
