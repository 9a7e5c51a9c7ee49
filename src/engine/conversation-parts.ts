/**
 * What a conversation is made of, and its form in a snapshot: text pieces that bring a conversation to where another one
 * was. The form is private to the program; `SNAPSHOT_FORMAT` changes with it, and older snapshots are then made anew.
 */
import type {
  CallId,
  ContextBlock,
  EventPayload,
  ImageBlock,
  Message,
  TextBlock,
  ToolResultBlock,
  TurnId,
} from "#protocol";

/** Goes up with every change of the pieces or of what the fold makes of an event. */
export const SNAPSHOT_FORMAT = 2;
/** A piece ends with the part that reaches this. */
const PIECE_CHARS = 1024 * 1024;

export type AssistantBlock = Extract<Message, { role: "assistant" }>["content"][number];

/** What one model call wrote, by block number, and its tool calls with what they gave so far. */
export interface Step {
  readonly firstId: number;
  readonly turn: TurnId;
  readonly number: number;
  readonly blocks: Map<number, AssistantBlock>;
  readonly results: Map<CallId, ToolResultBlock | undefined>;
  /** The events that brought the results. */
  readonly resultIds: Map<CallId, number>;
}

/** What a client said, what the model is told besides, or a summary of what was said before. */
export interface Said {
  readonly firstId: number;
  readonly input: readonly (TextBlock | ImageBlock | ContextBlock)[];
  /** Set for what a person, or the agent that delegates, said; not for notes and content from elsewhere. */
  readonly said?: { readonly turn: TurnId; readonly beginsTurn: boolean };
  /** What was compacted here; absent for anything else. */
  readonly compaction?: EventPayload<"CompactionTriggered">;
}

export type Part = Step | Said;

/** What one piece holds: parts that are new or, for a step that is known, what it has become. */
export interface Piece {
  readonly compactedTo: number;
  /** A result was replaced by a reference. */
  readonly isPruned: boolean;
  readonly parts: readonly Part[];
}

export function* toPieces({ compactedTo, isPruned, parts }: Piece): Generator<string> {
  const head = `{"compactedTo":${compactedTo},"isPruned":${isPruned},"parts":[`;
  let texts: string[] = [];
  let chars = 0;
  for (const part of parts) {
    const text = JSON.stringify(encode(part));
    texts.push(text);
    chars += text.length;
    if (chars < PIECE_CHARS) continue;
    yield `${head}${texts.join(",")}]}`;
    texts = [];
    chars = 0;
  }
  if (texts.length > 0) yield `${head}${texts.join(",")}]}`;
}

/** Throws for text that `toPieces` did not make. */
export function fromPiece(text: string): Piece {
  // Made by `toPieces` of the same format, which the caller has checked.
  const { parts, ...head } = JSON.parse(text) as Omit<Piece, "parts"> & { parts: readonly EncodedPart[] };
  return { ...head, parts: parts.map(decode) };
}

type EncodedPart =
  | Said
  | (Pick<Step, "firstId" | "turn" | "number"> & {
      readonly blocks: readonly (readonly [number, AssistantBlock])[];
      readonly results: readonly (readonly [CallId, ToolResultBlock | null])[];
      readonly resultIds: readonly (readonly [CallId, number])[];
    });

function encode(part: Part): EncodedPart {
  if ("input" in part) return part;
  const { firstId, turn, number, blocks, results, resultIds } = part;
  const gave = [...results].map(([id, result]) => [id, result ?? null] as const);
  return { firstId, turn, number, blocks: [...blocks], results: gave, resultIds: [...resultIds] };
}

function decode(part: EncodedPart): Part {
  if ("input" in part) return part;
  const { firstId, turn, number, blocks, results, resultIds } = part;
  const gave = results.map(([id, result]) => [id, result ?? undefined] as const);
  return { firstId, turn, number, blocks: new Map(blocks), results: new Map(gave), resultIds: new Map(resultIds) };
}
