/** An event of the log on one line: when, what, and the one thing a person wants to know about it. */
import { cutMiddle, visibleLine } from "#base";
import { compactionLine, displayText, type Event } from "#protocol";
import { REFUSAL_CHARS, summarise } from "./renderer.ts";

const LINE_CHARS = 200;

/** Visible, and cut; a failure keeps what to do about it, which stands at its end. */
export function eventLine(event: Event): string {
  const text = `${String(event.id).padStart(5)}  ${event.ts.slice(11, 23)}  ${event.kind}  ${gist(event)}`.trimEnd();
  if (isFailure(event)) return visibleLine(cutMiddle(text, REFUSAL_CHARS));
  // What is cut off anyway need not be made visible.
  const line = visibleLine(text.slice(0, LINE_CHARS + 1));
  return line.length <= LINE_CHARS ? line : `${line.slice(0, LINE_CHARS - 1)}…`;
}

/** Something was refused or went wrong. */
export function isFailure(event: Event): boolean {
  switch (event.kind) {
    case "Error":
    case "HookError":
    case "HookTimeout":
    case "OrphanedCall":
      return true;
    case "ToolResult":
      return event.payload.is_error;
    case "HooksAsked":
      return event.payload.blocked || event.payload.decisions.some(({ action }) => action === "failed");
    case "CallJudged":
      return event.payload.judged.effect === "deny";
    case "PermissionAnswered":
      return event.payload.decision === "deny";
    case "NetworkJudged":
      return event.payload.policy === "denied";
    case "ProjectChanged":
      return !event.payload.in_force;
    case "ScriptLogged":
      return event.payload.level === "error";
    case "DelegationVerified":
      return !event.payload.verified;
    case "DelegationEnded":
      return event.payload.status !== "ok";
    case "InputRefused":
      return true;
    case "TurnEnded":
      return event.payload.outcome !== "answered" && event.payload.outcome !== "yielded";
    default:
      return false;
  }
}

function gist(event: Event): string {
  switch (event.kind) {
    case "TurnStarted":
    case "InputQueued":
    case "TurnSteered":
      return displayText(event.payload.content, " ");
    case "InputRefused":
      return `${event.payload.queued} ${event.payload.reason}: ${event.payload.message}`;
    case "TurnEnded":
      return [event.payload.outcome, event.payload.reason].filter((part) => part !== undefined).join(" ");
    case "SessionEnded":
      return event.payload.reason;
    case "ToolCallStarted":
      return `${event.payload.call_id} ${event.payload.name} ${summarise(event.payload.args)}`;
    case "ToolIntent":
      return `${event.payload.call_id} ${event.payload.name}`;
    case "ToolOutcome":
      return `${event.payload.call_id} ${event.payload.outcome}`;
    case "ToolResult": {
      const { call_id, name, outcome, reason, content } = event.payload;
      const text = displayText(content, " ");
      return [call_id, name, outcome, reason ?? "", text].join(" ");
    }
    case "HooksAsked": {
      const { event: point, decisions, blocked } = event.payload;
      const said = decisions.map(
        ({ hook, action, reason }) => `${hook} ${action}${reason === undefined ? "" : `: ${reason}`}`,
      );
      return `${point}${blocked ? " blocked" : ""} ${said.join(", ")}`;
    }
    case "CallJudged": {
      const { call_id, name, judged } = event.payload;
      return `${call_id} ${name} ${judged.effect} by ${judged.by}: ${judged.why}`;
    }
    case "PermissionRequested":
      return `${event.payload.call_id} ${event.payload.summary} (${event.payload.reason})`;
    case "PermissionAnswered":
      return `${event.payload.call_id} ${event.payload.decision} by ${event.payload.by}`;
    case "AnswerTooLate":
      return `${event.payload.call_id} ${event.payload.decision} by ${event.payload.by}, too late`;
    case "AckRequested":
      return `${event.payload.call_id} ${event.payload.change} ${event.payload.file} ${event.payload.sha256 ?? ""}`;
    case "AckSettled":
      return `${event.payload.call_id} ${event.payload.outcome} ${event.payload.file} by ${event.payload.by ?? "nobody"}`;
    case "QuestionAnswered":
      return `${event.payload.call_id} ${event.payload.answer} by ${event.payload.by}`;
    case "CompactionTriggered": {
      const { trigger = "", why = "", strategy = "" } = event.payload;
      return `${compactionLine(event.payload)}: ${strategy}, ${trigger}: ${why}`;
    }
    case "ContextAdded":
      return `${event.payload.origin} ${event.payload.what}`;
    case "HookIntent":
      return `${event.payload.hook} (${event.payload.source}) ${event.payload.port} ${event.payload.target}`;
    case "LookupIntent":
      return `${event.payload.name} ${event.payload.port} ${event.payload.target} for ${event.payload.by}`;
    case "NetworkJudged":
      return `${event.payload.host} ${event.payload.policy} ${event.payload.reason ?? ""}`;
    case "ProjectChanged":
      return `${event.payload.in_force ? "" : "NOT IN FORCE "}${[...event.payload.files, ...event.payload.problems].join("; ")}`;
    case "ScriptLogged":
      return `${event.payload.level} ${event.payload.source} ${event.payload.message}`;
    case "HookError":
      return `${event.payload.hook} ${event.payload.message}`;
    case "HookTimeout":
      return `${event.payload.hook} ${event.payload.timeout_ms} ms`;
    case "DelegationStarted":
      return `${event.payload.call_id} ${event.payload.agent} ${event.payload.session} ${event.payload.task}`;
    case "DelegationVerified":
      return `${event.payload.session} attempt ${event.payload.attempt} ${event.payload.verified ? "verified" : `not accepted: ${event.payload.reason ?? ""}`}`;
    case "DelegationEnded":
      return `${event.payload.session} ${event.payload.agent} ${event.payload.status} ${event.payload.reason ?? ""}`;
    case "Error":
      return `${event.payload.reason} ${event.payload.message}`;
    default:
      return "";
  }
}
