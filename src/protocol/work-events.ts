/** What the agent and the person agree on and what goes on beside the turns: modes, plans, todos, background commands. */
import { z } from "zod";
import { callId, confinement, durationMs, sha256, step, todo, turn } from "./event-fields.ts";
import { ClientId, JobId } from "./ids.ts";
import { idSchema, wire } from "./wire.ts";
import { MODES, TODOS_MAX } from "./work.ts";

const by = idSchema(ClientId).optional().describe("The client that asked for it; absent if the agent did.");
const job = idSchema(JobId);
const mode = z.enum(MODES);

export const workEvents = {
  PlanModeChanged: wire({ active: z.boolean() }).describe("Plan mode was entered or left."),
  ModeChanged: wire({ mode, previous: mode, by }).describe(
    "The session has another mode. Entering or leaving plan mode also publishes PlanModeChanged, which comes first.",
  ),
  PlanChanged: wire({
    state: z
      .enum(["proposed", "agreed", "done", "dropped"])
      .describe("proposed: nobody could be asked, so the plan waits for ExitPlanMode."),
    plan: z.string().optional().describe("As Markdown; absent when it is done or dropped."),
    edited: z.boolean().optional().describe("True if the person changed the text that the agent had proposed."),
    call_id: callId.optional().describe("The call that proposed or closed it."),
    by,
  }).describe(
    "A plan waits for approval; or it was agreed, and every later request has it; or it is done or was dropped, and requests no longer have it.",
  ),
  TodosChanged: wire({
    turn: turn.optional().describe("Absent when a person cleared the list."),
    call_id: callId.optional(),
    todos: z.array(todo).max(TODOS_MAX).describe("The whole list, in order."),
  }).describe("The list of todos is now this one."),
  JobStarted: wire({
    turn,
    call_id: callId.describe("The call that started it. Its ToolIntent says what allowed it."),
    job,
    command: z.string().describe("At most 2000 characters."),
    confinement: confinement.optional(),
    timeout_ms: durationMs.describe("When this time is over, the command is ended."),
  }).describe(
    "A command is about to run in the background. The log has this event before it runs; if JobEnded is missing, it was interrupted.",
  ),
  JobOutput: wire({ call_id: callId, job, text: z.string() }).describe(
    "Output of a background command, for people; at most 256 KiB of it for each command.",
  ),
  JobKept: wire({ job, by: idSchema(ClientId) }).describe(
    "A person handed a background command to the daemon: it keeps its session open when nobody is attached.",
  ),
  JobEnded: wire({
    call_id: callId,
    job,
    turn: turn.optional().describe("The turn that ran when it ended; absent between turns."),
    step: step.optional(),
    status: z
      .enum(["exited", "timeout", "output", "stopped", "failed", "lost"])
      .describe(
        "exited: by itself. output: it printed too much. stopped: by a call, a person or the end of the session. failed: it could not run. lost: the program stopped while it ran.",
      ),
    exit_code: z.number().int().optional(),
    signal: z.string().optional(),
    detail: z.string().optional().describe("Why, in one line."),
    duration_ms: durationMs,
    printed_bytes: z.number().int().nonnegative(),
    output_hash: sha256.optional().describe("Of all that it printed; absent if it is lost."),
  }).describe("A background command has ended. The model reads a note about it at its next step or turn."),
} as const;
