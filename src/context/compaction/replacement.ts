/** What stands in the place of what a compaction removes: made by a model where one can, and without one where not. */
import { messageOf } from "#base";
import { type CompactionPoint, type CompactionProblem, textTokens } from "#engine";
import { type EventPayload, reasonText } from "#protocol";
import { fittingPins, keptInputs, type PinnedBlock } from "./kept.ts";
import type { Shares } from "./limits.ts";
import { isBoundary, type Plan, tokensOf } from "./plan.ts";
import { summaryRequest, unusable } from "./summary.ts";
import { type FileFacts, touchedFiles } from "./touched-files.ts";
import { excerptOf } from "./transcript.ts";

type Compaction = EventPayload<"CompactionTriggered">;

export interface Replacement
  extends Pick<Compaction, "boundary" | "summary" | "strategy" | "kept" | "pinned" | "files" | "pruned" | "model"> {
  /** Estimated tokens. */
  readonly saved: number;
  /** Why no model wrote the summary, if one should have. */
  readonly problem?: string;
}

export interface ReplacementParts {
  readonly at: CompactionPoint;
  readonly plan: Plan;
  readonly shares: Shares;
  readonly focus: string | undefined;
  readonly byModel: boolean;
  /** Of delegates and background commands that are at work. */
  readonly openCalls: readonly PinnedBlock[];
  readonly files: FileFacts;
  readonly summaryModel: () => Promise<string>;
  /** The largest request of a model, where it is known. */
  readonly window: (model: string) => number | undefined;
}

/** Around the texts of a boundary: its own sentences. */
const BOUNDARY_TOKENS = 120;
/** A budget that refuses the summary refuses the step as well: nothing is removed for it. */
const ENDS_TURN: ReadonlySet<string> = new Set(["Cancelled", "BudgetExceeded", "PriceUnknown"]);

export async function replacementOf(parts: ReplacementParts): Promise<Replacement | CompactionProblem> {
  const { at, plan, shares } = parts;
  const { pruned, boundary } = plan;
  const references = pruned.length === 0 ? {} : { pruned: [...pruned] };
  const freed = pruned.reduce((sum, { tokens }) => sum + tokens, 0);
  if (boundary === undefined) {
    // The boundary that is in force: the log is read from there when the session is opened again.
    const [first] = at.conversation.parts();
    const inForce = first !== undefined && isBoundary(first) ? first.firstId : 0;
    return { boundary: inForce, summary: "", strategy: "prune", ...references, saved: freed };
  }
  const written = await summaryOf(parts, boundary.replaced);
  if ("reason" in written) return written;
  const kept = keptInputs(boundary.replaced, shares.kept);
  const applies = at.conversation.pinned(boundary.event).flatMap((block): PinnedBlock[] => {
    if (block.type !== "text") return [];
    return [{ text: block.text, ...("from" in block && typeof block.from === "string" && { from: block.from }) }];
  });
  const pinned = fittingPins([...applies, ...parts.openCalls], shares.pinned);
  const files = await touchedFiles(at.conversation.parts(), parts.files);
  if (at.signal.aborted) return cancelled();
  const texts = [written.summary, JSON.stringify([pinned, files])];
  const left = texts.reduce((sum, text) => sum + textTokens(text), BOUNDARY_TOKENS) + textTokens(JSON.stringify(kept));
  return {
    boundary: boundary.event,
    ...written,
    ...(kept.length > 0 && { kept }),
    ...(pinned.length > 0 && { pinned }),
    ...(files.length > 0 && { files }),
    ...references,
    saved: freed + tokensOf(boundary.replaced) - left,
  };
}

type Written = Pick<Replacement, "summary" | "strategy" | "model" | "problem">;

async function summaryOf(
  { at, shares, focus, byModel, summaryModel, window }: ReplacementParts,
  replaced: NonNullable<Plan["boundary"]>["replaced"],
): Promise<Written | CompactionProblem> {
  const excerpt = (): Written => ({ strategy: "excerpt", summary: excerptOf(replaced, shares.summary) });
  if (!byModel) return excerpt();
  let model: string;
  try {
    model = await summaryModel();
  } catch (error) {
    return { ...excerpt(), problem: messageOf(error) };
  }
  const { session } = at;
  const { summary: roomTokens } = shares;
  // A cheaper model often has a smaller window than the model of the session.
  const limitTokens = Math.min(shares.limit, window(model) ?? shares.limit);
  const answer = await at.ask(summaryRequest({ session, model, focus, replaced, limitTokens, roomTokens }));
  if (at.signal.aborted) return cancelled();
  const { outcome } = answer;
  if (outcome.type === "failed" && ENDS_TURN.has(outcome.reason)) {
    return { reason: outcome.reason, message: outcome.message };
  }
  const problem = unusable(answer, tokensOf(replaced), roomTokens);
  if (problem !== undefined) return { ...excerpt(), problem };
  return { strategy: "summarize", summary: answer.text.trim(), model: outcome.type === "done" ? outcome.model : model };
}

function cancelled(): CompactionProblem {
  return { reason: "Cancelled", message: reasonText("Cancelled") };
}
