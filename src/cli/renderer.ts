/** Events as a person reads them in a terminal: the answer on standard output, everything else on standard error. */
import { counted, cutMiddle, type PaintName, paint, visibleLine, visibleProse } from "#base";
import { type CallId, compactionLine, displayText, type Event, reasonText, type ToolOutputBlock } from "#protocol";
import type { Terminal } from "./terminal.ts";
import { workLines } from "./work-lines.ts";

const PREVIEW_LINES = 6;
const PREVIEW_CHARS = 100;
/** Of a line that says why something was refused and what to do: long enough for both. */
export const REFUSAL_CHARS = 2000;

/** A letter or a picture whose marks or joiners may come with the next piece. */
const OPEN_END = /(?:\p{L}|\p{N}|\p{ExtPict})\p{M}{0,4}$/u;

export interface Renderer {
  show(event: Event): void;
  /** Ends an unfinished line, so that a prompt starts on its own. */
  finishLine(): void;
}

export interface RendererOptions {
  /** False for `deploy`: only the final answer is printed, by the command itself. */
  readonly answer: boolean;
  /** Show tool calls and notices. */
  readonly activity: boolean;
}

export function createRenderer(terminal: Terminal, { answer, activity }: RendererOptions): Renderer {
  let midLine = false;
  /** The end of the answer so far, which is shown already. */
  let before = "";
  /** Lines shown of each running call. */
  const progress = new Map<CallId, number>();
  /** The turn runs what the person here, or another one, has typed: they read all of its output. */
  let isOwnCommand = false;

  function finishLine(): void {
    if (midLine) terminal.out("\n");
    midLine = false;
    before = "";
  }

  /** On one line, whatever is in the text. */
  function note(colour: PaintName, text: string): void {
    finishLine();
    terminal.err(`${paint(terminal, colour, visibleLine(text))}\n`);
  }

  /** A message of several lines: what follows the first stands behind a bar. */
  function message(colour: PaintName, text: string): void {
    for (const [at, line] of text.split("\n").entries()) note(colour, at === 0 ? line : `  │ ${line}`);
  }

  function showProgress(callId: CallId, text: string): void {
    for (const line of text.split("\n").filter((part) => part.trim() !== "")) {
      const shown = progress.get(callId) ?? 0;
      if (isOwnCommand) note("dim", `  ${line}`);
      else if (shown < PREVIEW_LINES) note("dim", `  ${clip(line)}`);
      else if (shown === PREVIEW_LINES) note("dim", "  …");
      progress.set(callId, shown + 1);
    }
  }

  return {
    finishLine,
    show(event) {
      switch (event.kind) {
        case "TextDelta": {
          const { text } = event.payload;
          if (!answer || text === "") break;
          terminal.out(visibleProse(before + text).slice(visibleProse(before).length));
          before = OPEN_END.exec(text.slice(-8))?.[0] ?? "";
          midLine = !text.endsWith("\n");
          break;
        }
        case "TurnStarted":
          isOwnCommand = event.payload.own_command === true;
          break;
        case "ToolCallStarted":
          if (activity && !isOwnCommand) note("cyan", `● ${event.payload.label} ${summarise(event.payload.args)}`);
          break;
        case "ToolCallProgress":
          if (activity) showProgress(event.payload.call_id, event.payload.text);
          break;
        case "ToolResult": {
          if (!activity) break;
          const { is_error, content, outcome, duration_ms, call_id } = event.payload;
          const took = duration_ms >= 1000 ? ` (${(duration_ms / 1000).toFixed(1)} s)` : "";
          // The end of the turn says it.
          if (isOwnCommand && outcome === "denied") break;
          // What was shown while it ran is not shown again.
          if (progress.delete(call_id) && outcome !== "denied") {
            const why = isOwnCommand ? linesOf(content).at(-1) : undefined;
            if (outcome !== "ok" || took !== "") note(is_error ? "yellow" : "dim", `  ${why ?? `[${outcome}]`}${took}`);
            break;
          }
          const rows = outcome === "denied" ? refusal(content) : preview(content, is_error);
          const ending = `${outcome === "ok" ? "" : `  [${outcome}]`}${took}`;
          for (const [at, row] of rows.entries()) {
            note(is_error ? "yellow" : "dim", at === rows.length - 1 ? row + ending : row);
          }
          break;
        }
        case "Error": {
          const { reason, message: detail, terminal: final, retry, retry_after_ms = 0 } = event.payload;
          // A rate limit says itself how long it lasts.
          const when = reason === "RateLimited" ? "" : ` in ${(retry_after_ms / 1000).toFixed(1)} s`;
          const again = retry && ` Retry ${retry.attempt} of ${retry.of}${when}.`;
          if (final || activity)
            message(final ? "red" : "yellow", `${final ? "✗" : "…"} ${reason}: ${detail}${again ?? ""}`);
          break;
        }
        case "CompactionTriggered":
          if (activity) note("dim", compactionLine(event.payload));
          break;
        case "ModelWaiting": {
          const { waited_ms, left_ms } = event.payload;
          const text = `… waiting for the model, ${wholeSeconds(waited_ms)} (gives up in ${wholeSeconds(left_ms)})`;
          // An answer that goes into a file gets no line break where the model paused.
          if (activity && midLine && !terminal.interactive) terminal.err(`${paint(terminal, "dim", text)}\n`);
          else if (activity) note("dim", text);
          break;
        }
        case "ScriptLogged":
          if (activity) message(event.payload.level === "info" ? "dim" : "yellow", `[script] ${event.payload.message}`);
          break;
        case "HookError":
          message("yellow", `hook ${event.payload.hook} failed: ${event.payload.message}`);
          break;
        case "MCPServerDown": {
          const { name, attempts, reason } = event.payload;
          message("yellow", `${reasonText("MCPServerUnavailable", { name, attempts })} ${reason}`);
          break;
        }
        case "HookTimeout": {
          const { hook: cmd, event: name, timeout_ms } = event.payload;
          message("yellow", reasonText("HookTimeout", { event: name, cmd, timeout: timeout_ms / 1000 }));
          break;
        }
        case "HooksAsked":
          for (const { hook, message: text } of event.payload.decisions) {
            if (activity && text !== undefined) message("yellow", `hook ${hook}: ${text}`);
          }
          break;
        case "ContextAdded":
          if (activity && !isOwnCommand)
            note("dim", `context from ${event.payload.origin} ${clip(event.payload.what)}`);
          break;
        case "Reprompted":
          if (activity) note("yellow", `sent back to work (${event.payload.source}): ${whole(event.payload.text)}`);
          break;
        case "TurnSteered":
          if (activity) note("dim", `sent during the turn: ${clip(displayText(event.payload.content, " "))}`);
          break;
        case "SandboxStatus":
          if (!event.payload.active) note("yellow", event.payload.detail);
          break;
        case "MCPToolsChanged": {
          const { name, tools } = event.payload;
          note(
            "yellow",
            `the MCP server ${name} has changed its tools ${clip(tools.join(", "))}; they wait for: harness mcp approve ${name}`,
          );
          break;
        }
        case "InputRefused":
          note("red", `✗ a queued input was not started: ${event.payload.reason}: ${event.payload.message}`);
          break;
        case "DelegationStarted": {
          const { agent, task, session } = event.payload;
          if (activity) note("cyan", `  → ${agent || "delegate"} (${session}): ${clip(task)}`);
          break;
        }
        case "DelegationVerified": {
          const { verified, attempt, reason = "" } = event.payload;
          if (activity)
            note(
              verified ? "dim" : "yellow",
              `  attempt ${attempt} ${verified ? "verified" : `not accepted: ${whole(reason)}`}`,
            );
          break;
        }
        case "DelegationEnded": {
          const { agent, status, reason, steps, tool_calls, cut_off = [] } = event.payload;
          const why = reason === undefined ? "" : ` (${reason})`;
          const ended = `  ← ${agent || "delegate"}: ${status}${why}, ${counted(steps, "step")}, ${counted(tool_calls, "call")}`;
          if (activity) note(status === "ok" ? "dim" : "yellow", ended);
          for (const { name, call_id, session } of cut_off) {
            note("yellow", `    interrupted, and nobody knows how far it got: ${name} (${call_id} of ${session})`);
          }
          break;
        }
        case "ProjectChanged": {
          const { in_force, files, problems } = event.payload;
          if (in_force) {
            if (activity) note("dim", `in effect from now on: ${files.join(", ")}`);
            break;
          }
          note("yellow", "not in effect; the last good version stays, where there is one:");
          for (const problem of problems) message("yellow", `  ${problem}`);
          break;
        }
        case "BudgetLeft": {
          const left = event.payload.budgets.map(({ scope, kind, used, limit }) => {
            return `${scope} ${Number(Math.max(0, limit - used).toFixed(4))} of ${limit} ${kind}`;
          });
          if (activity) note("dim", `budget left: ${left.join(", ")}`);
          break;
        }
        case "BudgetWarning": {
          const { scope, kind, used, limit } = event.payload;
          note("yellow", `budget of the ${scope}: ${Number(used.toFixed(4))} of ${limit} ${kind} used`);
          break;
        }
        case "ModeChanged":
          note("yellow", `mode: ${event.payload.previous} → ${event.payload.mode}`);
          break;
        case "PlanChanged":
        case "TodosChanged":
        case "JobStarted":
        case "JobKept":
        case "JobEnded":
        case "ScheduleChanged":
          if (activity) for (const line of workLines(event)) note("dim", line);
          break;
        case "ModelChanged":
          if (activity) note("yellow", `model: ${event.payload.previous} → ${event.payload.model}`);
          break;
        case "WorkspaceRestored": {
          const { action, by, counts } = event.payload;
          const left = counts.conflicts === 0 ? "" : `, ${counts.conflicts} in conflict and left unchanged`;
          if (activity) note("yellow", `${action} by ${by}: ${counted(counts.restored, "path")} restored${left}`);
          break;
        }
        case "TokenRequested": {
          const { code, identity_class, sessions, commands, can_mint, expires_at, confirm_by } = event.payload;
          const where = sessions === undefined ? "all sessions" : sessions.join(", ");
          const mints = can_mint ? ", and may create further tokens" : "";
          note("yellow", `A program is requesting a token: ${identity_class}, ${where}, until ${expires_at}${mints}.`);
          note("yellow", `  It may send: ${commands.join(", ")}`);
          note("bold", `  To allow it, give it this code before ${confirm_by}: ${code}`);
          break;
        }
        case "Cancelled":
          note("yellow", "Cancelled.");
          break;
        case "TurnEnded":
          finishLine();
          break;
        default:
      }
    },
  };
}

/** The arguments, cut: the value alone when there is only one. Whoever shows it makes it visible. */
export function summarise(args: unknown): string {
  if (typeof args !== "object" || args === null) return clip(String(args));
  const values = Object.entries(args);
  const [first] = values;
  if (values.length === 1 && first !== undefined && typeof first[1] === "string") return clip(first[1]);
  return clip(
    values.map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`).join(" "),
  );
}

/** A short error is a message and where it arose: its remedy stands at the end of a line. */
function preview(content: readonly ToolOutputBlock[], isError: boolean): readonly string[] {
  const lines = linesOf(content);
  const cut = isError && lines.length <= PREVIEW_LINES ? whole : clip;
  const shown = lines.slice(0, PREVIEW_LINES).map((line) => `  ${cut(line)}`);
  if (lines.length > PREVIEW_LINES) shown.push(`  … ${lines.length - PREVIEW_LINES} more lines`);
  return shown;
}

/** The remedy stands on the last line. */
function refusal(content: readonly ToolOutputBlock[]): readonly string[] {
  const lines = linesOf(content).map((line) => `  ${whole(line)}`);
  const left = lines.length - PREVIEW_LINES;
  return left <= 0 ? lines : [...lines.slice(0, PREVIEW_LINES - 1), `  … ${left} more lines`, ...lines.slice(-1)];
}

function linesOf(content: readonly ToolOutputBlock[]): readonly string[] {
  const text = content.map((block) => (block.type === "text" ? block.text : `[${block.media_type}]`)).join("\n");
  return text.trimEnd().split("\n");
}

function wholeSeconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

function whole(text: string): string {
  return cutMiddle(text, REFUSAL_CHARS);
}

/** Whoever shows it makes it visible. */
function clip(text: string): string {
  return text.length <= PREVIEW_CHARS ? text : `${text.slice(0, PREVIEW_CHARS - 1)}…`;
}
