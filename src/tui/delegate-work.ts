/**
 * What the agents do that the turn waits for: read from their logs, once a second for each. Their events do not come to this session.
 * Pure.
 */
import { visibleLine } from "#base";
import type { SessionId } from "#protocol";
import { subjectOf } from "./call-events.ts";
import type { Effect } from "./effects.ts";
import type { Loaded } from "./loads.ts";
import type { DelegateBlock, Transcript } from "./transcript.ts";

const LOOK_MS = 1_000;
/** Rows below which nobody reads all of them. */
const MAX_WATCHED = 8;

/** Asks for what is new in the logs of those that run. */
export function withLooks(
  before: Transcript,
  nowMs: number,
): { readonly transcript: Transcript; readonly effects: readonly Effect[] } {
  const due = before.blocks
    .filter(isWatched)
    .filter(({ work }) => isDue(work, nowMs))
    .slice(0, MAX_WATCHED);
  if (due.length === 0) return { transcript: before, effects: [] };
  const blocks = before.blocks.map((block) => {
    if (block.kind !== "delegate" || !due.includes(block)) return block;
    return { ...block, work: { ...block.work, isAsked: true, askedAtMs: nowMs } };
  });
  const effects = due.map(({ session, work: { seen } }): Effect => {
    return { type: "load", name: "delegate-work", argument: `${session}/${seen}` };
  });
  return { transcript: { ...before, blocks }, effects };
}

/** What came of it. One whose log cannot be read is not asked about again. */
export function withWork(before: Transcript, loaded: Loaded): Transcript {
  if (loaded.name !== "delegate-work") return before;
  const session = loaded.argument.split("/")[0] as SessionId; // as it was asked for
  const blocks = before.blocks.map((block) => {
    if (block.kind !== "delegate" || block.session !== session) return block;
    return { ...block, work: workWith(block.work, loaded) };
  });
  return { ...before, blocks };
}

function workWith(work: DelegateBlock["work"], loaded: Loaded): DelegateBlock["work"] {
  if (loaded.type === "not-loaded") return { ...work, doing: visibleLine(loaded.text) };
  if (loaded.name !== "delegate-work") return work;
  const { seen, calls, call } = loaded.value;
  const doing = call === undefined ? work.doing : `${visibleLine(call.label)} ${subjectOf(call.name, call.args)}`;
  return { ...work, seen, doing, calls: work.calls + calls, isAsked: false };
}

function isWatched(block: Transcript["blocks"][number]): block is DelegateBlock {
  return block.kind === "delegate" && block.ended === undefined && !block.isBeside;
}

function isDue({ isAsked, askedAtMs }: DelegateBlock["work"], nowMs: number): boolean {
  return !isAsked && nowMs - askedAtMs >= LOOK_MS;
}
