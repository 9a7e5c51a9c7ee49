/**
 * A session as a Markdown document that a person can read: what was asked, said, called, allowed and spent, turn by turn.
 * Pure and deterministic; holds one step at a time. Names no ids below the head, so that two sessions can be compared.
 */
import type { SessionMeta } from "#engine";
import {
  type CallId,
  type Event,
  type EventOf,
  type EventPayload,
  EXPIRED_CONTENT,
  fileLabel,
  type InputBlock,
  type ToolOutputBlock,
} from "#protocol";
import { fence, inline, prose, quote, shorten } from "./markdown.ts";

export interface TranscriptPart {
  /** Counted from 1; 0 is the head. */
  readonly turn: number;
  /** A paragraph or a few, without the blank line after it. */
  readonly text: string;
}

export interface TranscriptOptions {
  /** False leaves out durations, so that two runs of the same thing read the same. */
  readonly timing: boolean;
  /** For text that came in several events, when it is whole and before it is shortened. */
  readonly clean?: (text: string) => string;
}

/** The parts in order; joined with a blank line they are the document. */
export async function* transcript(
  meta: SessionMeta,
  events: AsyncIterable<Event>,
  options: TranscriptOptions = { timing: true },
): AsyncGenerator<TranscriptPart> {
  yield { turn: 0, text: headOf(meta) };
  const fold = createFold(options);
  for await (const event of events) {
    for (const text of fold.apply(event)) yield { turn: fold.turn, text };
  }
  for (const text of fold.finish()) yield { turn: fold.turn, text };
}

function headOf({ id, title, model, workingDir, createdAt, parent, pinned }: SessionMeta): string {
  const facts = [
    `- session: \`${id}\`${pinned ? " (pinned)" : ""}`,
    `- model: ${inline(model)}`,
    `- folder: ${inline(workingDir)}`,
    `- started: ${inline(createdAt)}`,
    ...(parent === undefined ? [] : [`- from: \`${parent}\``]),
  ];
  return `# ${title === "" ? "Session" : inline(title)}\n\n${facts.join("\n")}`;
}

interface OpenCall {
  readonly started: EventPayload<"ToolCallStarted">;
  readonly notes: string[];
}

/** What was agreed, and what goes on beside the turns. */
function workNote(event: Event): string | undefined {
  switch (event.kind) {
    case "ModeChanged":
      return event.payload.mode === "accept-edits" ? "_Mode: accept-edits._" : undefined;
    case "PlanChanged": {
      const { state, plan } = event.payload;
      return plan === undefined ? `_The plan is ${state}._` : `_The plan is ${state}:_\n\n${quote(plan)}`;
    }
    case "TodosChanged":
      return `_Todos:_\n\n${quote(event.payload.todos.map(({ text: what, state }) => `- ${state}: ${what}`).join("\n"))}`;
    case "JobStarted":
      return `_In the background: ${inline(event.payload.command)} (${event.payload.job})._`;
    case "JobEnded":
      return `_The background command ${event.payload.job} ended: ${event.payload.status}._`;
    default:
      return undefined;
  }
}

/** What has been written and is not yet a part: the text of the current block, and calls without a result. */
function createFold({ timing, clean = (whole) => whole }: TranscriptOptions) {
  let turn = 0;
  let text = "";
  let thinking = "";
  let started = false;
  const calls = new Map<CallId, OpenCall>();

  function* flush(): Generator<string> {
    if (thinking.trim() !== "") yield details("Thinking", shorten(clean(thinking)));
    if (text.trim() !== "") yield prose(clean(text));
    thinking = "";
    text = "";
  }

  function noteOf(event: Event): string | undefined {
    switch (event.kind) {
      case "SessionStarted":
        if (started) return `_Opened again with ${inline(event.payload.model)}._`;
        started = true;
        return undefined;
      case "SessionEnded":
        return `_Session ended (${event.payload.reason})._`;
      case "DelegationStarted": {
        const { agent, session, task } = event.payload;
        const who = agent === "" ? "a delegate" : `the delegate ${inline(agent)}`;
        return `_To ${who} (${inline(session)}): ${inline(task)}_`;
      }
      case "DelegationEnded":
        return `_${inline(event.payload.agent || "The delegate")}: ${event.payload.status}._`;
      case "ModelChanged":
        return `_Model: ${inline(event.payload.previous)} → ${inline(event.payload.model)}._`;
      case "PlanModeChanged":
        return event.payload.active ? "_Plan mode on._" : "_Plan mode off._";
      case "Cancelled":
        return `_Cancelled (${event.payload.reason})._`;
      case "CompactionTriggered":
        if (event.payload.strategy === "prune")
          return "_From here on, the model sees references in place of old results._";
        return `_From here on, the model sees a summary of the conversation so far:_\n\n${quote(event.payload.summary)}`;
      case "Error":
        return errorNote(event.payload);
      case "HookError":
        return `_Hook ${inline(event.payload.hook)} failed: ${inline(event.payload.message)}_`;
      case "MCPServerDown":
        return `_MCP server ${inline(event.payload.name)} is down: ${inline(event.payload.reason)}._`;
      case "MCPToolsChanged":
        return `_MCP server ${inline(event.payload.name)}: changed tools wait for approval: ${inline(event.payload.tools.join(", "))}._`;
      case "WorkspaceRestored": {
        const { action, restored, conflicts } = event.payload;
        const paths = restored.map(({ path }) => inline(path)).join(", ");
        const left =
          conflicts.length === 0 ? "" : `; left as they are: ${conflicts.map(({ path }) => inline(path)).join(", ")}`;
        return `_${action === "undo" ? "Undone" : "Redone"}: ${shorten(`${paths === "" ? "nothing" : paths}${left}`)}._`;
      }
      case "TurnSteered":
        return `_Message during the turn:_\n\n${quote(event.payload.content.map(blockText).join("\n\n"))}`;
      case "ContextAdded": {
        const { origin, what, content } = event.payload;
        return `_Added from the ${origin} ${inline(what)}:_\n\n${quote(shorten(content.map(blockText).join("\n\n")))}`;
      }
      case "InputRefused":
        return `_A queued input did not start: ${inline(event.payload.message)}_`;
      case "OrphanedCall":
        return `_The call of ${inline(event.payload.name)} was interrupted; its outcome is unknown._`;
      case "OrphanResolved": {
        const { resolution, note } = event.payload;
        return `_The interrupted call counts as ${resolution}${note === undefined ? "" : `: ${inline(note)}`}._`;
      }
      default:
        return workNote(event);
    }
  }

  return {
    get turn() {
      return turn;
    },
    *apply(event: Event): Generator<string> {
      switch (event.kind) {
        case "TurnStarted":
          yield* flush();
          turn += 1;
          yield turnHead(turn, event, timing);
          return;
        case "TextDelta":
          text += event.payload.text;
          return;
        case "ThinkingDelta":
          thinking += event.payload.text;
          return;
        case "ToolCallStarted":
          yield* flush();
          calls.set(event.payload.call_id, { started: event.payload, notes: [] });
          return;
        case "PermissionAnswered":
          calls.get(event.payload.call_id)?.notes.push(permissionNote(event.payload));
          return;
        case "QuestionAsked":
          calls.get(event.payload.call_id)?.notes.push(`Asked: ${inline(event.payload.question)}`);
          return;
        case "QuestionAnswered":
          calls.get(event.payload.call_id)?.notes.push(`Answered: ${inline(event.payload.answer)}`);
          return;
        case "ToolResult": {
          const call = calls.get(event.payload.call_id);
          calls.delete(event.payload.call_id);
          yield* flush();
          yield callPart(call, event.payload, timing);
          return;
        }
        case "TurnEnded":
          yield* flush();
          for (const call of calls.values()) yield callPart(call, undefined, timing);
          calls.clear();
          yield turnFoot(turn, event.payload, timing);
          return;
        case "Error":
          // A step that is tried again has written nothing that counts.
          if (!event.payload.terminal && event.payload.call_id === undefined) text = thinking = "";
      }
      const note = noteOf(event);
      if (note === undefined) return;
      yield* flush();
      yield note;
    },
    *finish(): Generator<string> {
      yield* flush();
      for (const call of calls.values()) yield callPart(call, undefined, timing);
    },
  };
}

function turnHead(turn: number, { ts, payload }: EventOf<"TurnStarted">, timing: boolean): string {
  const when = timing ? ` · ${inline(ts)}` : "";
  const input = payload.content.map(blockText).join("\n\n");
  return `## Turn ${turn}\n\n_${inline(payload.model)}${when}_\n\n${quote(input)}`;
}

function turnFoot(turn: number, payload: EventPayload<"TurnEnded">, timing: boolean): string {
  const { outcome, reason, steps, usage, cost_usd, duration_ms } = payload;
  const input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  const facts = [
    `${outcome.replace("_", " ")}${reason === undefined ? "" : ` (${inline(reason)})`}`,
    `${steps} ${steps === 1 ? "step" : "steps"}`,
    `${input} tokens in, ${usage.output_tokens} out`,
    cost_usd === undefined ? "cost not known" : `$${cost_usd.toFixed(4)}`,
    ...(timing ? [seconds(duration_ms)] : []),
  ];
  return `_Turn ${turn}: ${facts.join(" · ")}_`;
}

/** `result` is missing for a call that was cut off. */
function callPart(call: OpenCall | undefined, result: EventPayload<"ToolResult"> | undefined, timing: boolean): string {
  const name = call?.started.label ?? result?.name ?? "call";
  const outcome = result === undefined ? "did not finish" : outcomeText(result);
  const took = timing && result !== undefined ? ` · ${seconds(result.duration_ms)}` : "";
  const notes = (call?.notes ?? []).map((note) => `_${note}_`);
  return [
    `**${inline(name)}** · ${outcome}${took}`,
    call === undefined ? "" : argsBlock(call.started.args),
    ...notes,
    result === undefined ? "" : outputBlock(result.content),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function outcomeText({ outcome, reason, memoized }: EventPayload<"ToolResult">): string {
  const why = reason === undefined ? "" : ` (${inline(reason)})`;
  return `${outcome.replace("_", " ")}${why}${memoized === true ? " · same as before" : ""}`;
}

function argsBlock(args: unknown): string {
  if (args === EXPIRED_CONTENT) return "_arguments expired and removed_";
  if (typeof args === "string") return fence(shorten(args));
  const entries = typeof args === "object" && args !== null ? Object.entries(args) : [];
  if (entries.length === 0) return "";
  // One argument for a line; a text of several lines as it is.
  const lines = entries.map(([key, value]) => {
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    return shown.includes("\n") ? `${key}:\n${shown.replace(/^/gm, "  ")}` : `${key}: ${shown}`;
  });
  return fence(shorten(lines.join("\n")), "yaml");
}

function outputBlock(content: readonly ToolOutputBlock[]): string {
  const text = content.map(blockText).join("\n");
  return text.trim() === EXPIRED_CONTENT ? "_result expired and removed_" : fence(shorten(text));
}

function blockText(block: InputBlock | ToolOutputBlock): string {
  if (block.type === "text") return block.text;
  if (block.type === "file") return fileLabel(block);
  return `[${block.media_type}, ${Math.round((block.data.length * 3) / 4)} bytes]`;
}

function permissionNote({ decision, by, rule, reason }: EventPayload<"PermissionAnswered">): string {
  const said = {
    allow_once: "Allowed once",
    allow_argv_glob: "Allowed, also for similar calls",
    allow_tool: "Allowed, also for all later calls of this tool",
    deny: "Denied",
  }[decision];
  const who = by.startsWith("cli_") ? "" : ` by ${inline(by)}`;
  const why = reason === undefined ? "" : `: ${inline(reason)}`;
  return `${said}${who}${rule === undefined ? "" : ` (rule ${inline(rule)})`}${why}`;
}

function errorNote({ reason, message, terminal, call_id }: EventPayload<"Error">): string {
  const what = `${inline(reason)}: ${inline(message)}`;
  if (terminal) return `**Error** ${what}`;
  return call_id === undefined ? `_The attempt failed; Harness retried it. ${what}_` : `_${what}_`;
}

function details(summary: string, text: string): string {
  if (text.replaceAll(EXPIRED_CONTENT, "").trim() === "") return "_thinking expired and removed_";
  return `<details><summary>${summary}</summary>\n\n${fence(text)}\n\n</details>`;
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
