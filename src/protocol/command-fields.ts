/** The fields that rows of the command table are made of. Loads zod; rows get at it only when they are asked for a schema. */
import { z } from "zod";
import { visibleLine } from "#base";
import { type InputBlock, inputBlock } from "./content.ts";
import { todo } from "./event-fields.ts";
import { CallId, SessionId, TurnId } from "./ids.ts";
import { imageTypeOfBase64 } from "./image-type.ts";
import { idSchema, wire } from "./wire.ts";
import { MODES, PLAN_MAX_CHARS } from "./work.ts";

export { z } from "zod";

export const sessionId = idSchema(SessionId);
export const session = sessionId.describe("The session the command is for.");
export const turnId = idSchema(TurnId);
export const callId = idSchema(CallId);
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** More blocks are no input of a person. */
const MAX_BLOCKS = 100;
const MAX_FILE_NAME_CHARS = 255;
/** Of all files of an input; as much as an input gets by mentions. */
const MAX_FILE_CHARS = 400_000;
/** Vendors refuse an image that is none, and with it every later turn of the session. */
const sentBlock = inputBlock
  .refine((block) => block.type !== "image" || imageTypeOfBase64(block.data) === block.media_type, {
    message: "The data does not begin as an image of its media_type does",
    path: ["data"],
  })
  .refine((block) => block.type !== "file" || isFileName(block.name), {
    message: `The name of a file has 1 to ${MAX_FILE_NAME_CHARS} characters, no folders, and no control or hidden characters`,
    path: ["name"],
  })
  .refine((block) => block.type !== "file" || (block.text.isWellFormed() && !block.text.includes("\0")), {
    message: "This is not UTF-8 text; only text files can be sent",
    path: ["text"],
  });
export const content = z
  .array(sentBlock)
  .min(1)
  .max(MAX_BLOCKS)
  .refine((blocks) => charsOfFiles(blocks) <= MAX_FILE_CHARS, {
    message: `The files of an input have at most ${MAX_FILE_CHARS} characters in all`,
  });

/** One that is shown as it is, and that no program takes for a path. */
function isFileName(name: string): boolean {
  const isPath = /[/\\]/.test(name) || name === "." || name === "..";
  return name.trim() !== "" && name.length <= MAX_FILE_NAME_CHARS && !isPath && visibleLine(name) === name;
}

function charsOfFiles(blocks: readonly InputBlock[]): number {
  return blocks.reduce((chars, block) => chars + (block.type === "file" ? block.text.length : 0), 0);
}

/** The system takes an argument of at most 128 KiB, and a character may be four bytes. */
const MAX_SHELL_COMMAND_CHARS = 32_000;
export const shellCommand = z
  .string()
  .min(1)
  .max(MAX_SHELL_COMMAND_CHARS)
  .describe("For Bash, as a person typed it behind the `!`.");
export const queuedInput = z.number().int().positive().describe("The id of its InputQueued event.");
export const skill = z
  .string()
  .min(1)
  .max(64)
  .optional()
  .describe("A skill of the session that the input is for, as with /skills:NAME. Feature: skills.");
export const mode = z.enum(MODES);
export const plan = z.string().min(1).max(PLAN_MAX_CHARS);

export const rule = z.string().min(1).max(1000);

/** The four answers to a permission request. */
export const decision = z.enum(["allow_once", "allow_argv_glob", "allow_tool", "deny"]);

/** Values of the run context: plain data, bounded. */
export const contextValues = z
  .record(z.string().min(1).max(100), z.union([z.string().max(10_000), z.number(), z.boolean(), z.null()]))
  .refine((values) => Object.keys(values).length <= 100, "at most 100 values");

export const skipConflicts = z
  .boolean()
  .optional()
  .describe(
    "Skips paths that somebody else changed since, and restores the others. Otherwise one such path stops everything.",
  );

export const ruleList = z
  .array(wire({ effect: z.string(), rule: z.string(), source: z.string().describe("Where it is written.") }))
  .readonly()
  .describe("The rules in effect; those that answers added come last.");

export const sessionFacts = wire({
  branch: z
    .string()
    .optional()
    .describe(
      "The git branch of the folder, or the beginning of the commit that is checked out; absent outside of git.",
    ),
  mode: z
    .enum(["ask", "plan", "accept-edits", "auto"])
    .describe("The mode of the session; auto: every permission request is approved."),
  sandbox: z
    .enum(["auto", "required", "off"])
    .describe("The setting; the event SandboxStatus says what came of it when the first command runs."),
  context_tokens: z.number().int().optional().describe("What fits into the context of the model; absent if unknown."),
  models: z
    .array(
      wire({
        model: z.string(),
        context_tokens: z.number().int().optional(),
        usd_per_million: wire({ input: z.number(), output: z.number() }).optional().describe("Absent if unknown."),
      }),
    )
    .readonly()
    .describe("Known models of the providers whose key is set, or that need none."),
  servers: z
    .array(wire({ name: z.string(), state: z.string(), tools: z.number().int(), last_error: z.string().optional() }))
    .readonly()
    .describe("Its MCP servers."),
  hooks: z
    .array(wire({ event: z.string(), command: z.string(), source: z.string() }))
    .readonly()
    .describe("Shell hooks in force."),
  jobs: z
    .array(
      wire({
        job: z.string(),
        command: z.string(),
        started_at: z.string(),
        kept: z.boolean().describe("It goes on when nobody is attached."),
        ended: z.string().optional().describe("How it ended, in words; absent while it runs."),
      }),
    )
    .readonly()
    .describe("Background commands: those that run, and those that ended last, in the order in which they began."),
  todos: z.array(todo).readonly().describe("The agent's list of todos; empty: none."),
  agreed_plan: z.string().optional().describe("The plan in every request; absent: none is agreed."),
  proposed_plan: wire({ plan: z.string(), call_id: callId.optional() })
    .optional()
    .describe("The plan that waits for a person, with the call that asks."),
  queued: z
    .array(wire({ id: z.number().int().describe("Of its InputQueued event."), text: z.string() }))
    .readonly()
    .describe("Inputs that wait for their turn, oldest first; an image is [image], a file its name and size."),
}).describe("What the session runs with, redacted.");

export const scheduleName = z.string().min(1).max(64).describe("Lower-case letters, digits, - and _.");
/** Of a schedule. */
const PROMPT_MAX_CHARS = 100_000;
export const schedulePrompt = z.string().min(1).max(PROMPT_MAX_CHARS).describe("What each run is sent.");
const at = z.iso.datetime();

export const scheduleRow = wire({
  name: z.string(),
  times: z.string().describe("For people."),
  folder: z.string().describe("Where its sessions work."),
  model: z.string().optional(),
  profile: z.string().optional(),
  plan: z.literal(true).optional().describe("Its sessions begin in plan mode."),
  max_cost_usd: z.number().optional(),
  max_steps: z.number().optional(),
  created_at: at.optional(),
  problem: z.string().optional().describe("Its file was altered, or sealed with another key: it does not run."),
  next_at: at.optional().describe("Absent: there is no further tick."),
  waits_until: at.optional().describe("The clock was set back: no tick comes before it has passed this time again."),
  totals: wire({ claimed: z.number().int(), missed: z.number().int(), lost: z.number().int() }),
  ticks: z
    .array(
      wire({
        at,
        state: z.enum(["requested", "claimed", "running", "done", "failed", "refused", "missed", "lost"]),
        manual: z.literal(true).optional().describe("A person asked for it, outside the times."),
        session: z.string().optional(),
        ended_at: at.optional(),
        message: z.string().optional().describe("Why it failed, was refused or missed, or got lost."),
        count: z.number().int().optional().describe("Of missed ticks in a row."),
        at_least: z.literal(true).optional().describe("There were more than could be counted."),
        last_at: at.optional().describe("The last of several missed ticks."),
      }),
    )
    .readonly()
    .describe("What became of its ticks, the newest first."),
}).describe("A schedule without its prompt, redacted.");

export const slashOutcome = wire({
  text: z.string().optional().describe("To be shown to the person. The model does not see it."),
  command: z
    .looseObject({ kind: z.string() })
    .optional()
    .describe("To be submitted by the client, with the checks of that command; the session is to be added."),
  session: sessionId.optional().describe("Where the person continues."),
  input: z.string().optional().describe("To be sent as the person's next input."),
}).describe("What the client does next, in this order. Nothing is left to do where it is empty.");

const paths = z.array(wire({ path: z.string(), why: z.string() })).readonly();
const changedPath = { path: z.string(), what: z.enum(["added", "changed", "removed"]) };

export const changesReport = wire({
  changes: z.array(wire(changedPath)).readonly().describe("By path. What was undone or changed back is left out."),
  more: z.number().int().nonnegative().describe("Further changes that are not listed."),
  unknown: paths.describe("Perhaps changed, without a record of the content."),
  interrupted: z
    .array(wire({ call: z.string(), tool: z.string() }))
    .readonly()
    .describe("Calls that were interrupted, so that their changes are unknown."),
  file: wire({
    ...changedPath,
    before: z.string().optional(),
    after: z.string().optional(),
    why: z.string().optional().describe("Why there are no texts."),
  })
    .optional()
    .describe("The path that was asked for, with its text before and after; absent when it was not changed."),
}).describe("What calls changed, redacted.");

export const ackReport = wire({
  file: z.string(),
  sha256: sha256.optional().describe("Of the content as it was shown, before redaction. Absent for a removed file."),
  text: z.string().optional().describe("The content that the answer is for. Absent for a removed file."),
  acked_text: z.string().optional().describe("The version that was acked last, where it was kept."),
}).describe("A file that waits for an ack, redacted.");

export const undoReport = wire({
  action: z.enum(["undo", "redo"]),
  outcome: z
    .enum(["done", "partial", "refused", "planned"])
    .describe(
      "refused: there are conflicts, and nothing was changed. partial: some paths were not restored. planned: a dry run.",
    ),
  reason: z.string().optional().describe("Set when it was refused."),
  session: sessionId,
  turns: z.array(turnId).readonly(),
  calls: z.array(callId).readonly(),
  restored: z.array(wire({ path: z.string(), what: z.string() })).readonly(),
  conflicts: z.array(wire({ path: z.string(), why: z.string(), call: callId })).readonly(),
  failed: paths,
  kept: paths.describe("Directories that stay because something else is in them."),
  uncovered: paths.describe("Changed by the calls, but not covered by undo, so left unchanged."),
  leftOut: paths.describe("Not saved when the calls ran."),
  interrupted: z
    .array(
      wire({
        call: callId,
        turn: turnId,
        session: sessionId,
        tool: z.string(),
        time: z.number(),
        paths: z.array(z.string()).readonly().optional(),
      }),
    )
    .readonly()
    .describe("Calls of the session that were interrupted, so that their changes are unknown."),
}).describe("What was restored, and what was not and why.");
