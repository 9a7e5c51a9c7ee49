/** A conversation was made shorter: everything that the model reads in the place of what was removed is in this one event. */
import { z } from "zod";
import { inputBlock } from "./content.ts";
import { callId, count, sha256, step, turn } from "./event-fields.ts";
import { wire } from "./wire.ts";

const eventId = z.number().int().positive();

const pinnedBlock = wire({
  text: z.string(),
  from: z.string().optional().describe("Where it comes from; present if the model reads it as untrusted data."),
});

const touchedFile = wire({
  path: z.string(),
  changed: z.boolean().describe("A call changed it; false: calls only read it."),
  sha256: sha256.optional().describe("At the time of the compaction; absent if it could not be read."),
});

const prunedResult = wire({
  call_id: callId,
  name: z.string().describe("The tool."),
  result: eventId.describe("The ToolResult event, which keeps the content."),
  tokens: count.describe("About how many tokens that saves."),
});

export const compaction = wire({
  turn,
  step: step.optional(),
  boundary: z.number().int().nonnegative(),
  summary: z.string().describe("Derived from untrusted content. Empty if only results were removed."),
  strategy: z
    .enum(["summarize", "excerpt", "prune"])
    .optional()
    .describe(
      "summarize: a model wrote the summary. excerpt: Harness made it without a model. prune: no boundary moved, only results were removed.",
    ),
  trigger: z
    .enum(["window", "max_tokens", "max_history", "command", "overflow"])
    .optional()
    .describe("What made it necessary: a limit, the command of a person, or a provider that refused the request."),
  why: z.string().optional().describe("For people: the limit, and why no model wrote the summary if one should have."),
  focus: z.string().optional(),
  kept: z.array(inputBlock).optional().describe("What people said up to the boundary, word for word."),
  pinned: z
    .array(pinnedBlock)
    .optional()
    .describe("What still applied: the mode, the agreed plan, the todos, delegates and background commands at work."),
  files: z.array(touchedFile).optional().describe("Files that calls up to now have read or changed."),
  pruned: z.array(prunedResult).optional().describe("Results that the model reads as references from now on."),
  tokens_before: count.optional().describe("About how large the request was."),
  tokens_after: count.optional(),
  model: z.string().optional().describe("The model that wrote the summary."),
}).describe(
  "The conversation was compacted. Later requests have the summary in place of the history up to the boundary event, and references in place of the pruned results.",
);
