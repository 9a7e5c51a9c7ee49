/**
 * The conversation as blocks, folded from events: inputs, answers, calls with who allowed them, notices, summaries of turns. Pure. A
 * block that is finished never changes again, so that its rows can be printed for good.
 */
import { visibleProse } from "#base";
import type { CallId, EventOf, SessionId } from "#protocol";
import type { OpenFence } from "./answer-rows.ts";
import { appended, type BlockLog, emptyLog, entriesFrom } from "./block-log.ts";
import type { DrawnImage } from "./images.ts";

/** `at`: the event that began it. */
export type Block = (ShownBlock | CallBlock | DelegateBlock) & { readonly at?: number };

type ShownBlock =
  | { readonly kind: "input"; readonly text: string; readonly images?: readonly DrawnImage[] }
  | AnswerBlock
  | ThinkingBlock
  | { readonly kind: "notice"; readonly tone: Tone; readonly text: string }
  | { readonly kind: "summary"; readonly text: string };

interface ThinkingBlock {
  readonly kind: "thinking";
  readonly key: string;
  readonly text: string;
  readonly sinceMs: number;
  readonly forMs: number;
  readonly isDone: boolean;
}

export interface AnswerBlock {
  readonly kind: "answer";
  readonly key: string;
  readonly text: string;
  /** Characters whose rows are on the screen for good. */
  readonly printed: number;
  /** They end inside of it. */
  readonly fence?: OpenFence;
  readonly isDone: boolean;
}

export type Tone = "plain" | "dim" | "warn" | "bad" | "good";

export interface CallBlock {
  readonly kind: "call";
  readonly id: CallId;
  readonly name: string;
  readonly label: string;
  readonly subject: string;
  readonly args: unknown;
  /** Calls of delegates stand further in. */
  readonly depth: number;
  /** Since it runs, or waits for an answer. */
  readonly sinceMs: number;
  /** For answers. */
  readonly waitedMs: number;
  /** What the file held that it would change, if that is known. */
  readonly before?: string;
  readonly allowedBy?: string;
  /** What the call of the model that asked for it has cost; absent if that is not known. */
  readonly modelCostUsd?: number;
  /** A person has denied it, for this reason or none. */
  readonly deniedWhy?: string;
  /** A person is asked. */
  readonly isAsked: boolean;
  /** The end of its output while it runs. */
  readonly tail: readonly string[];
  readonly ended?: {
    readonly outcome: string;
    readonly isError: boolean;
    readonly durationMs: number;
    readonly lines: readonly string[];
    readonly labels: readonly string[];
    /** Until they are drawn. */
    readonly images?: readonly DrawnImage[];
  };
}

/** An agent that works for this one. */
export interface DelegateBlock {
  readonly kind: "delegate";
  readonly id: CallId;
  readonly agent: string;
  readonly task: string;
  /** Of the agent; the root has 0. */
  readonly depth: number;
  /** It works beside the conversation, which does not wait for it. */
  readonly isBeside: boolean;
  readonly session: SessionId;
  /** What its log has said so far. */
  readonly work: {
    /** The last event that was read. */
    readonly seen: number;
    readonly calls: number;
    /** Its newest call; empty: none yet. */
    readonly doing: string;
    readonly askedAtMs: number;
    /** The answer is on its way. */
    readonly isAsked: boolean;
  };
  readonly sinceMs: number;
  readonly ended?: { readonly isOk: boolean; readonly text: string; readonly durationMs: number };
}

export interface Transcript {
  readonly session: SessionId;
  /** The last event. */
  readonly event: number;
  /** Not finished, or behind one that is not; oldest first. */
  readonly blocks: readonly Block[];
  readonly finished: BlockLog<Block>;
  /** Of the finished ones, how many are on the screen for good. */
  readonly printed: number;
  readonly isTurnRunning: boolean;
  /** The newest turn; empty before the first. */
  readonly turn: string;
  readonly turnSinceMs: number;
  /** Of the newest call of the model, if its price is known. */
  readonly modelCostUsd: number | undefined;
  /** Files that the calls of the turn changed. */
  readonly changed: readonly string[];
  readonly todos: EventOf<"TodosChanged">["payload"]["todos"];
  readonly model: string;
  /** What the turn does, when no other row that moves says so. */
  readonly doing: string;
  readonly doingSinceMs: number;
}

const VALUE_SIZE = 16;
const MAX_SIZED_DEPTH = 30;

export function emptyTranscript(session: SessionId, model: string): Transcript {
  return {
    session,
    event: 0,
    blocks: [],
    finished: emptyLog(),
    printed: 0,
    isTurnRunning: false,
    turn: "",
    turnSinceMs: 0,
    modelCostUsd: undefined,
    changed: [],
    todos: [],
    model,
    doing: "",
    doingSinceMs: 0,
  };
}

/** Text that nothing is added to any more. */
export function closedText(before: Transcript): Transcript {
  const last = before.blocks.at(-1);
  if (last === undefined || (last.kind !== "answer" && last.kind !== "thinking") || last.isDone) return before;
  return { ...before, blocks: [...before.blocks.slice(0, -1), { ...last, isDone: true }] };
}

/** At the end of a turn nothing runs any more. */
export function closed(before: Transcript): Transcript {
  const left = { outcome: "interrupted", isError: true, durationMs: 0, lines: [], labels: [] };
  const blocks = closedText(before).blocks.map((block) => {
    if (block.kind === "delegate" && block.ended === undefined) {
      return { ...block, ended: { isOk: false, text: "interrupted", durationMs: 0 } };
    }
    return block.kind === "call" && block.ended === undefined ? { ...block, isAsked: false, ended: left } : block;
  });
  return { ...before, blocks };
}

export function notice(before: Transcript, tone: Tone, text: string): Transcript {
  return add(before, { kind: "notice", tone, text: visibleProse(text) });
}

export function add(before: Transcript, block: Block): Transcript {
  return { ...before, blocks: [...before.blocks, { ...block, at: before.event }] };
}

/** Blocks that are copied with each event, so there are few, also while no frame is painted. */
export const MAX_MOVING = 100;

/** The same with few blocks that are not in the log of the finished ones. */
export function withFewMoving(before: Transcript): Transcript {
  return before.blocks.length > MAX_MOVING ? withFinished(before) : before;
}

/** Moves what is finished from the front of the blocks to the log. */
export function withFinished(before: Transcript): Transcript {
  const { blocks, finished, printed } = before;
  const count = finishedCount(blocks);
  if (count === 0) return before;
  const log = appended(finished, blocks.slice(0, count), { sizeOf, needed: printed });
  return { ...before, blocks: blocks.slice(count), finished: log };
}

/** About what it takes in memory, in characters. */
export function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length + VALUE_SIZE;
  if (typeof value !== "object" || value === null || depth > MAX_SIZED_DEPTH) return VALUE_SIZE;
  return Object.values(value).reduce((size, one) => size + sizeOf(one, depth + 1), VALUE_SIZE);
}

/** What was drawn is not kept. */
export function withoutImages(block: Block): Block {
  if (block.kind === "input" && block.images !== undefined) {
    const { images: _, ...rest } = block;
    return rest;
  }
  if (block.kind !== "call" || block.ended?.images === undefined) return block;
  const { images: _, ...ended } = block.ended;
  return { ...block, ended };
}

/** The newest call of this id. */
export function callOf({ blocks, finished }: Transcript, id: string): CallBlock | undefined {
  const isCall = (block: Block): block is CallBlock => block.kind === "call" && block.id === id;
  return blocks.findLast(isCall) ?? entriesFrom(finished, 0).findLast(isCall);
}

export function changeCall(before: Transcript, id: CallId, change: (call: CallBlock) => CallBlock): Transcript {
  const at = before.blocks.findLastIndex((block) => block.kind === "call" && block.id === id);
  const call = before.blocks[at];
  if (call?.kind !== "call" || call.ended !== undefined) return before;
  return { ...before, blocks: before.blocks.with(at, change(call)) };
}

/** Of the first blocks, before one that is not. */
export function finishedCount(blocks: readonly Block[]): number {
  const unfinished = blocks.findIndex((block) => !isFinished(block));
  return unfinished < 0 ? blocks.length : unfinished;
}

export function isFinished(block: Block): boolean {
  if (block.kind === "call") return block.ended !== undefined;
  if (block.kind === "delegate") return block.isBeside || block.ended !== undefined;
  return block.kind === "answer" || block.kind === "thinking" ? block.isDone : true;
}
