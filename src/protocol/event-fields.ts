/**
 * The fields that events share. What happened in a turn can be rebuilt from its events alone: `step` numbers the model calls of a
 * turn from 1, `block` the content blocks of one response from 0.
 */
import { z } from "zod";
import { CallId, ClientId, SessionId, TurnId } from "./ids.ts";
import { idSchema, wire } from "./wire.ts";
import { TODO_STATES } from "./work.ts";

export const turn = idSchema(TurnId);
export const step = z.number().int().positive();
export const block = z.number().int().nonnegative();
export const callId = idSchema(CallId);
export const durationMs = z.number().nonnegative();
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const attrs = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .describe("Span attributes that hooks and tools added.");
export const where = z.string().describe("Its source: file:line, a flag, or built-in.");

/** One of the agent's todos. */
export const todo = wire({ text: z.string(), state: z.enum(TODO_STATES) });

/** What holds a command: chosen by who allowed it. */
export const confinement = z.enum(["reader", "workspace", "outside"]);

export const judgement = wire({
  effect: z.enum(["allow", "ask", "deny"]),
  by: z
    .string()
    .describe("What decided: a rule, the quiet preset, a person, plan mode, tools_policy, a built-in rule."),
  source: where.optional(),
  why: z.string(),
  trail: z
    .array(wire({ stage: z.string(), name: z.string(), source: where, effect: z.string() }))
    .describe("Everything that was checked, in order."),
  confinement: confinement.optional().describe("Where an allowed command runs; absent for other tools."),
  steering: z.array(z.string()).optional().describe("Steering files that a person allowed this command to change."),
});

/** What content is, besides its text: from outside, or not to get out. */
const label = z.enum(["private", "untrusted"]);
export const labels = z.array(label);

export const queuedId = z.number().int().positive().describe("The id of an InputQueued event.");
const found = z.record(z.string(), z.string().nullable());

/** Small: what a decision rested on besides the policy, so that another policy can be asked about the same call later. */
export const judgedOn = wire({
  paths: found
    .optional()
    .describe(
      "What paths resolved to, each named by a hash: empty for the path as written, / for its normalized form, null for outside the workspace.",
    ),
  looks: found.optional().describe("Other checks of the disk, each as a hash, and their results."),
  labels: labels.optional().describe("The labels of the session."),
  plan_mode: z.boolean().optional(),
  repeated: z.boolean().optional().describe("The same call had been repeated many times."),
  own_command: idSchema(ClientId).optional().describe("The client whose own command it was."),
  rules_changed: z.number().int().positive().optional().describe("Changes to the session's rules up to then."),
  args: z.unknown().optional().describe("The arguments that were judged, if a hook changed them."),
  subject: z.string().optional().describe("What rules were compared with, for a tool that defines it itself."),
  sandbox: z.enum(["off", "none"]).optional().describe("Why commands had no sandbox; absent if they had one."),
  unsettled: z.boolean().optional().describe("A label was added during the decision."),
  allowed_by: wire({ by: z.string(), source: where.optional() }).optional().describe("Set for a memoized call."),
});

export const count = z.number().int().nonnegative();
export const depth = z.number().int().nonnegative().describe("0 for the root agent.");
export const delegate = wire({
  agent: z.string().describe("Empty if it has no name."),
  depth,
  parent: idSchema(SessionId),
});
export const pathAndReason = wire({ path: z.string(), why: z.string() });

export const usage = wire({
  input_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  cache_read_tokens: z.number().int().nonnegative(),
  cache_write_tokens: z.number().int().nonnegative(),
});

export const total = wire({
  cost_usd: z.number().nonnegative(),
  tokens: z.number().int().nonnegative(),
  steps: z.number().int().nonnegative(),
  calls: z.number().int().nonnegative(),
});

/** How many secrets were replaced, by class, and which rules decided that; never a value. */
export const redactionSummary = wire({
  policy_version: z.string().describe("Changes with the rules, the disabled kinds and the user's patterns."),
  redacted_count: count,
  counts: z.record(z.string(), count).describe("By the kind in the marker."),
});

/** How a turn ended. */
export const turnOutcome = z.enum(["answered", "yielded", "cancelled", "step_limit", "error"]);

/** How a tool call ended; `denied` and `not_executed` never reached the tool. */
export const callOutcome = z.enum(["ok", "error", "denied", "not_executed", "cancelled", "timeout"]);

export const toolClass = z.enum(["read_only", "mutating", "sensitive"]);

export type JudgedOn = z.infer<typeof judgedOn>;
export type Label = z.infer<typeof label>;
export type RedactionSummary = z.infer<typeof redactionSummary>;
export type Usage = z.infer<typeof usage>;
export type TurnOutcome = z.infer<typeof turnOutcome>;
export type CallOutcome = z.infer<typeof callOutcome>;
export type ToolClass = z.infer<typeof toolClass>;
