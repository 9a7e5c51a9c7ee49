/** One row for an event that is neither text nor a call: what changed, and what went wrong. Pure. */
import { counted, visibleLine, visibleProse } from "#base";
import { compactionLine, type Event, howItEnded, reasonText, scheduleLine } from "#protocol";
import { withPlanNotice } from "./plan.ts";
import { closed, notice, type Transcript } from "./transcript.ts";

const MAX_PROBLEMS = 3;

export function withNotice(before: Transcript, event: Event): Transcript {
  switch (event.kind) {
    case "ModelWaiting":
      return { ...before, doing: `waiting for the model (gives up in ${Math.round(event.payload.left_ms / 1000)} s)` };
    case "Cancelled":
      return notice(closed(before), "warn", "Cancelled.");
    case "ModeChanged":
      return notice(before, "warn", `mode: ${event.payload.previous} → ${event.payload.mode}`);
    case "TodosChanged":
      return { ...before, todos: event.payload.todos };
    case "PlanChanged":
      return withPlanNotice(before, event);
    case "JobEnded":
      return notice(before, "dim", `& ${event.payload.job} ended: ${howItEnded(event.payload)}`);
    case "ScheduleChanged":
      return notice(before, "dim", scheduleLine(event.payload));
    case "ModelChanged":
      return {
        ...notice(before, "dim", `model: ${event.payload.previous} → ${event.payload.model}`),
        model: event.payload.model,
      };
    case "CompactionTriggered":
      return notice(before, "dim", compactionLine(event.payload));
    case "WorkspaceRestored": {
      const { action, counts } = event.payload;
      const left = counts.conflicts === 0 ? "" : `, ${counts.conflicts} in conflict and left unchanged`;
      return notice(before, "good", `${action}: ${counted(counts.restored, "path")} restored${left}`);
    }
    default:
      return withTrouble(before, event);
  }
}

function withTrouble(before: Transcript, event: Event): Transcript {
  switch (event.kind) {
    case "Error": {
      const { reason, message, terminal, retry } = event.payload;
      const again = retry === undefined ? "" : ` Retry ${retry.attempt} of ${retry.of}.`;
      return notice(before, terminal ? "bad" : "warn", `${terminal ? "✗" : "…"} ${reason}: ${message}${again}`);
    }
    case "MCPServerDown": {
      const { name, attempts, reason } = event.payload;
      return notice(
        before,
        "warn",
        `${reasonText("MCPServerUnavailable", { name, attempts })} ${visibleProse(reason)}`,
      );
    }
    case "HookTimeout": {
      const { hook: cmd, event: name, timeout_ms: timeoutMs } = event.payload;
      return notice(before, "warn", reasonText("HookTimeout", { event: name, cmd, timeout: timeoutMs / 1000 }));
    }
    case "ProjectChanged": {
      const { in_force: isInForce, files, problems } = event.payload;
      if (isInForce) return before;
      const why = problems.slice(0, MAX_PROBLEMS).map((text) => `\n  ${visibleLine(text)}`);
      return notice(before, "warn", `Not in effect: ${files.map(visibleLine).join(", ")}${why.join("")}`);
    }
    case "AckSettled": {
      const { outcome, file } = event.payload;
      const path = visibleLine(file);
      if (outcome === "changed") return notice(before, "warn", reasonText("HookHashChanged", { path }));
      if (outcome !== "unanswered") return notice(before, "dim", `${path}: ${outcome}`);
      return notice(before, "warn", `${path} keeps waiting for an ack: harness ack`);
    }
    case "HookError":
      return notice(before, "warn", `hook ${event.payload.hook} failed: ${event.payload.message}`);
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
    default:
      return before;
  }
}
