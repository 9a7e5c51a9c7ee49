/** What the conversation shows of tool calls and delegates, folded from their events. Pure. */
import { counted, defined, visibleLine } from "#base";
import { ClientId, type Event, type EventOf, type ToolOutputBlock } from "#protocol";
import { money } from "./amounts.ts";
import { changeOf } from "./change.ts";
import { imagesOf } from "./images.ts";
import { add, type CallBlock, changeCall, closedText, type DelegateBlock, type Transcript } from "./transcript.ts";

const TAIL_LINES = 5;
/** More than the widest terminal has columns. */
const MAX_TAIL_CHARS = 2_000;
const MAX_RESULT_LINES = 2_000;
const RULE_CHARS = 40;
const TAB_STOP = 8;

/** What becomes of calls and of the agents that they start; undefined for any other event. */
export function withCallEvent(before: Transcript, event: Event, nowMs: number, depth: number): Transcript | undefined {
  switch (event.kind) {
    case "ToolCallStarted":
      return withCall(before, event.payload, nowMs, depth);
    case "ToolIntent": {
      const { allowed_by: judged, call_id: id } = event.payload;
      if (judged === undefined) return before;
      return changeCall(before, id, (call) => ({ ...call, allowedBy: allowedBy(judged) }));
    }
    case "PermissionRequested": {
      const { call_id: id, before: held } = event.payload;
      const known = held === undefined ? {} : { before: held };
      return changeCall(before, id, (call) => ({ ...call, ...known, isAsked: true, sinceMs: nowMs }));
    }
    case "QuestionAsked":
      return changeCall(before, event.payload.call_id, (call) => ({ ...call, isAsked: true, sinceMs: nowMs }));
    case "PermissionAnswered": {
      const { call_id: id, args, decision, by, reason = "" } = event.payload;
      return changeCall(before, id, (call) => {
        const changed = args === undefined ? {} : { args, subject: subjectOf(call.name, args) };
        const denied = decision === "deny" && ClientId.is(by) ? { deniedWhy: visibleLine(reason) } : {};
        return { ...answeredCall(call, nowMs), ...changed, ...denied };
      });
    }
    case "QuestionAnswered":
      return changeCall(before, event.payload.call_id, (call) => answeredCall(call, nowMs));
    case "ToolCallProgress": {
      const { call_id: id, text } = event.payload;
      return changeCall(before, id, (call) => ({
        ...call,
        tail: [...call.tail, ...lastLines(text)].slice(-TAIL_LINES),
      }));
    }
    case "ToolResult": {
      const { call_id: id, content, outcome, is_error: isError, duration_ms: durationMs, labels = [] } = event.payload;
      const images = imagesOf(content);
      const drawn = images.length === 0 ? {} : { images };
      const ended = { outcome, isError, lines: linesOf(content), labels, ...drawn };
      const after = changeCall(before, id, (call) => {
        return { ...call, isAsked: false, ended: { ...ended, durationMs: Math.max(0, durationMs - call.waitedMs) } };
      });
      return doing(after, "waiting for the model", nowMs);
    }
    case "ToolOutcome": {
      const files = (event.payload.effects ?? []).flatMap(({ port, target }) => {
        return port === "write" || port === "move" || port === "remove" ? [target] : [];
      });
      return files.length === 0 ? before : { ...before, changed: [...new Set([...before.changed, ...files])] };
    }
    case "DelegationStarted": {
      const { call_id: id, agent, task, mode, depth: below, session } = event.payload;
      const isBeside = mode === "async";
      const name = visibleLine(agent || "delegate");
      return add(closedText(before), {
        ...{ kind: "delegate", id, agent: name, task: visibleLine(task), depth: below, isBeside, sinceMs: nowMs },
        ...{ session, work: { ...noWork, askedAtMs: nowMs } },
      });
    }
    case "DelegationEnded":
      return withDelegateEnd(before, event.payload, nowMs);
    default:
      return undefined;
  }
}

function withCall(
  before: Transcript,
  { call_id: id, name, label, args, parent }: EventOf<"ToolCallStarted">["payload"],
  sinceMs: number,
  depth: number,
): Transcript {
  const call: CallBlock = {
    ...{ kind: "call", id, name, label: visibleLine(label), subject: subjectOf(name, args), args, sinceMs },
    // Calls that another call makes stand below it.
    depth: depth + (parent === undefined ? 0 : 1),
    ...(depth === 0 && parent === undefined && defined({ modelCostUsd: before.modelCostUsd })),
    isAsked: false,
    waitedMs: 0,
    tail: [],
  };
  return { ...add(closedText(before), call), doing: "" };
}

/** What it takes from here on is its own time. */
function answeredCall(call: CallBlock, nowMs: number): CallBlock {
  return { ...call, isAsked: false, waitedMs: call.waitedMs + nowMs - call.sinceMs, sinceMs: nowMs };
}

function withDelegateEnd(
  before: Transcript,
  payload: EventOf<"DelegationEnded">["payload"],
  nowMs: number,
): Transcript {
  const {
    call_id: id,
    agent,
    status,
    reason,
    steps,
    tool_calls: calls,
    cost_usd: cost,
    duration_ms: durationMs,
  } = payload;
  const facts = [
    reason === undefined ? status : `${status}: ${reason}`,
    counted(steps, "step"),
    counted(calls, "call"),
    ...(cost === undefined ? [] : [money(cost)]),
  ];
  const ended = { isOk: status === "ok", text: facts.join(" · "), durationMs };
  const at = before.blocks.findLastIndex((block) => block.kind === "delegate" && block.id === id);
  const started = before.blocks[at];
  if (started?.kind === "delegate") return { ...before, blocks: before.blocks.with(at, { ...started, ended }) };
  // Its beginning is printed: it worked beside the conversation.
  const name = visibleLine(agent || "delegate");
  return add(before, {
    ...{ kind: "delegate", id, agent: name, task: "", depth: 1, isBeside: true, sinceMs: nowMs, ended },
    ...{ session: payload.session, work: noWork },
  });
}

/** The rule by its text, a person as one. */
function allowedBy({ by, trail }: NonNullable<EventOf<"ToolIntent">["payload"]["allowed_by"]>): string {
  const rule =
    by === "rule" ? trail.findLast(({ stage, effect }) => stage === "rule" && effect === "allow") : undefined;
  if (rule === undefined) return visibleLine(by);
  const text = visibleLine(rule.name);
  return `rule ${text.length > RULE_CHARS ? `${text.slice(0, RULE_CHARS)}…` : text}`;
}

export function doing(before: Transcript, what: string, nowMs: number): Transcript {
  return before.doing === what ? before : { ...before, doing: what, doingSinceMs: nowMs };
}

const noWork: DelegateBlock["work"] = { seen: 0, calls: 0, doing: "", askedAtMs: 0, isAsked: false };

/** Of a change the file; what it changes stands below. The first argument needs no name. */
export function subjectOf(name: string, args: unknown): string {
  const { path } = changeOf({ name, args, before: undefined }) ?? {};
  if (path !== undefined) return visibleLine(path);
  if (typeof args !== "object" || args === null) return visibleLine(String(args ?? ""));
  // Its task stands in the row of the agent.
  if (name === "delegate" && "agent" in args && typeof args.agent === "string") return visibleLine(args.agent);
  const values = Object.entries(args).map(([key, value], at) => {
    if (at === 0 && typeof value === "string") return value;
    if (Array.isArray(value)) return counted(value.length, key.replace(/s$/, ""));
    return `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  return visibleLine(values.join(" "));
}

/** Only what can be shown is looked at: a tool may print a megabyte a second. */
function lastLines(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-TAIL_LINES)
    .map((line) => visibleLine(withoutTabs(line.slice(0, MAX_TAIL_CHARS))));
}

function linesOf(content: readonly ToolOutputBlock[]): string[] {
  const text = content.map((block) => (block.type === "text" ? block.text : `[${block.media_type}]`)).join("\n");
  return text
    .trimEnd()
    .split("\n")
    .slice(0, MAX_RESULT_LINES)
    .map((line) => visibleLine(withoutTabs(line)));
}

/** What was printed stands in the columns in which a terminal shows it. */
function withoutTabs(line: string): string {
  if (!line.includes("\t")) return line;
  return line
    .split("\t")
    .reduce((before, piece) => `${before}${" ".repeat(TAB_STOP - (before.length % TAB_STOP))}${piece}`);
}
