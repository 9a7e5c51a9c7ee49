/**
 * The conversation as a fold over events: what the model is shown is exactly what the log says, live and after a resume.
 * The result is always legal: roles alternate, no message is empty, and each tool call has its one result in the message
 * that follows. Compaction replaces a prefix by its summary; nothing else is ever edited.
 */
import { resourceReference } from "#base";
import {
  type CallId,
  type ContextBlock,
  type Event,
  type EventOf,
  type EventPayload,
  EXPIRED_CONTENT,
  type ImageBlock,
  type Message,
  type TextBlock,
  type ThinkingBlock,
  type ToolResultBlock,
  type ToolUseBlock,
  type TurnId,
} from "#protocol";
import { boundaryBlocks, prunedBlock } from "./boundary-text.ts";
import { type AssistantBlock, fromPiece, type Part, type Step, toPieces } from "./conversation-parts.ts";
import { interruptedNote } from "./interrupted-note.ts";
import { jobNote } from "./job-note.ts";
import { createPinned, pinNote } from "./pinned.ts";
import { restoredNote } from "./restored-note.ts";
import { conversationBlock } from "./sent-file.ts";

/** What the model reads about a call that was cut off by a cancel or a crash. */
export const UNFINISHED_CALL_TEXT =
  "This call did not finish: the turn was cancelled or the program stopped. Its effects up to that point are unknown.";

export interface Conversation {
  /** Events of one session, oldest first. */
  apply(event: Event): void;
  messages(): readonly Message[];
  /** What every request has to say, as far as it was said up to this event; by default all of it. */
  pinned(upTo?: number): readonly TextBlock[];
  /** Takes what an event pins, of one that is further back than what is read. */
  hold(event: Event): void;
  /** What the messages are made from, oldest first: for whoever decides what to compact. */
  parts(): readonly Part[];
  /** Something was compacted: results can be read again by their numbers. */
  readonly isCompacted: boolean;
  /** Takes over what a snapshot holds, its pieces in order and before any event; throws for what is no piece. */
  load(piece: string): void;
  /** What a snapshot that holds everything taken before lacks; all there is when `isWhole`. */
  take(): { readonly isWhole: boolean; readonly pieces: readonly string[] };
  /** What was taken was not kept: the next take is whole. */
  takeAllNext(): void;
}

export function createConversation(): Conversation {
  let parts: Part[] = [];
  const steps = new Map<string, Step>();
  const calls = new Map<CallId, Step>();
  const pinned = createPinned();
  let compactedTo = 0;
  let isPruned = false;
  /** Parts that are not as they were taken last; those that are new, in their order. */
  const changed = new Set<Part>();
  let isWholeDue = true;

  function stepOf(event: Event, turn: TurnId, number: number): Step {
    const known = steps.get(stepName(turn, number));
    if (known !== undefined) {
      changed.add(known);
      return known;
    }
    const made: Step = {
      ...{ firstId: event.id, turn, number },
      ...{ blocks: new Map(), results: new Map(), resultIds: new Map() },
    };
    addPart(made);
    return made;
  }

  function addPart(part: Part): void {
    parts.push(part);
    changed.add(part);
    if (!("input" in part)) steps.set(stepName(part.turn, part.number), part);
  }

  /** What the model is told about what others did. Every other kind tells people and programs what happened, and the model nothing. */
  function addNote(event: Event): void {
    const text = noteOf(event);
    if (text === undefined) return;
    // Behind the step that ran: the model was asked before it was known.
    const { turn, step } = event.kind === "JobEnded" ? event.payload : {};
    if (turn !== undefined && step !== undefined) stepOf(event, turn, step);
    addPart({ firstId: event.id, input: [{ type: "text", text }] });
  }

  function addContext({ id, payload }: EventOf<"ContextAdded">): void {
    // Part of the prompt is not part of the conversation.
    if (payload.in_prompt === true) return;
    addPart({ firstId: id, input: payload.content.map((one) => fromOutside(one, payload)) });
  }

  function clear(step: Step): void {
    // A call that was voided here may have been asked for again elsewhere.
    for (const id of step.results.keys()) if (calls.get(id) === step) calls.delete(id);
    step.blocks.clear();
    step.results.clear();
    step.resultIds.clear();
  }

  function addSaid({ id, kind, payload }: EventOf<"TurnStarted"> | EventOf<"TurnSteered">): void {
    const input = "refused" in payload ? [] : payload.content.map(conversationBlock);
    addPart({ firstId: id, input, said: { turn: payload.turn, beginsTurn: kind === "TurnStarted" } });
  }

  /** What is behind the boundary is forgotten, as if it had never been read. */
  function compact(compaction: EventPayload<"CompactionTriggered">): void {
    const { boundary, strategy, pruned = [] } = compaction;
    for (const result of pruned) prune(result);
    if (strategy === "prune" || boundary < compactedTo) return;
    const kept: Part[] = [{ firstId: boundary, input: boundaryBlocks(compaction), compaction }];
    for (const part of parts) {
      if (part.firstId > boundary) kept.push(part);
      else if (!("input" in part)) {
        clear(part);
        steps.delete(stepName(part.turn, part.number));
      }
    }
    parts = kept;
    compactedTo = boundary;
    changed.clear();
    isWholeDue = true;
  }

  function prune(pruned: NonNullable<EventPayload<"CompactionTriggered">["pruned"]>[number]): void {
    const step = calls.get(pruned.call_id);
    const result = step?.results.get(pruned.call_id);
    if (step === undefined || result === undefined) return;
    step.results.set(pruned.call_id, prunedBlock(result, pruned));
    changed.add(step);
    isPruned = true;
  }

  function loadStep(step: Step): void {
    const known = steps.get(stepName(step.turn, step.number));
    if (known === undefined) addPart(step);
    else {
      clear(known);
      for (const [block, content] of step.blocks) known.blocks.set(block, content);
      for (const [id, result] of step.results) known.results.set(id, result);
      for (const [id, event] of step.resultIds) known.resultIds.set(id, event);
    }
    for (const id of step.results.keys()) calls.set(id, known ?? step);
  }

  return {
    apply(event) {
      pinned.apply(event);
      switch (event.kind) {
        case "TurnStarted":
          addSaid(event);
          break;
        case "TextDelta":
          addText(stepOf(event, event.payload.turn, event.payload.step), event.payload);
          break;
        case "ThinkingDelta":
          addThinking(stepOf(event, event.payload.turn, event.payload.step), event.payload);
          break;
        case "ToolCallStarted": {
          const { turn, step: number, block, call_id: id, name, args, parent } = event.payload;
          // A call that another call made is that one's business.
          if (calls.has(id) || parent !== undefined) break;
          const step = stepOf(event, turn, number);
          step.blocks.set(block, { type: "tool_use", id, name, input: asInput(args) });
          step.results.set(id, undefined);
          calls.set(id, step);
          break;
        }
        case "ToolResult": {
          const { call_id: id, content, is_error, outcome } = event.payload;
          const step = calls.get(id);
          if (step === undefined || step.results.get(id) !== undefined) break;
          const refused = outcome === "denied" || outcome === "not_executed" ? { refused: true } : {};
          step.results.set(id, { type: "tool_result", tool_use_id: id, content, is_error, ...refused });
          step.resultIds.set(id, event.id);
          changed.add(step);
          break;
        }
        case "Error":
          if (voidsStep(event.payload)) clear(stepOf(event, event.payload.turn, event.payload.step));
          break;
        case "TurnSteered":
          // Behind the step that ran when it was said, also when nothing of that step had come yet.
          stepOf(event, event.payload.turn, event.payload.step);
          addSaid(event);
          break;
        case "ContextAdded":
          addContext(event);
          break;
        case "Reprompted":
          addPart({ firstId: event.id, input: [{ type: "text", text: event.payload.text }] });
          break;
        case "CompactionTriggered":
          compact(event.payload);
          break;
        default:
          addNote(event);
      }
    },
    messages: () => toMessages(parts),
    pinned: pinned.upTo,
    hold: pinned.apply,
    parts: () => parts,
    get isCompacted() {
      return isPruned || compactedTo > 0;
    },
    load(text) {
      const piece = fromPiece(text);
      ({ compactedTo, isPruned } = piece);
      for (const part of piece.parts) {
        if ("input" in part) parts.push(part);
        else loadStep(part);
      }
      changed.clear();
      isWholeDue = false;
    },
    take() {
      const isWhole = isWholeDue;
      const pieces = [...toPieces({ compactedTo, isPruned, parts: isWhole ? parts : [...changed] })];
      changed.clear();
      isWholeDue = false;
      return { isWhole, pieces };
    },
    takeAllNext() {
      isWholeDue = true;
    },
  };
}

function noteOf(event: Event): string | undefined {
  switch (event.kind) {
    case "WorkspaceRestored":
      return restoredNote(event.payload);
    case "DelegationEnded":
      return interruptedNote(event.payload);
    case "JobEnded":
      return jobNote(event.payload);
    case "ResourceUpdated": {
      // Quoted, so that a name cannot pass for a sentence of ours.
      const name = JSON.stringify(resourceReference(event.payload.server, event.payload.uri));
      return `[harness: The resource ${name} has changed since it was read. Read it again before you rely on it.]`;
    }
    default:
      return pinNote(event);
  }
}

function stepName(turn: TurnId, number: number): string {
  return `${turn}/${number}`;
}

function fromOutside(
  block: TextBlock | ImageBlock,
  { origin, what }: EventPayload<"ContextAdded">,
): ImageBlock | ContextBlock {
  return block.type === "text" ? { ...block, from: `${origin} ${what}` } : block;
}

function addText(step: Step, { block, text }: EventPayload<"TextDelta">): void {
  const before = step.blocks.get(block);
  const known = before?.type === "text" ? before.text : "";
  // Each expired delta carries the marker; to the model one says it all.
  if (text === EXPIRED_CONTENT && known.endsWith(EXPIRED_CONTENT)) return;
  step.blocks.set(block, { type: "text", text: known + text });
}

/** Only the finished block can be given back; the text before it is for people. */
function addThinking(step: Step, { block, provider, data }: EventPayload<"ThinkingDelta">): void {
  if (data === undefined) return;
  const content: ThinkingBlock = { type: "thinking", provider, data };
  step.blocks.set(block, content);
}

/** Wires take an object only; what was not one is kept where the model can see its mistake. */
function asInput(args: unknown): unknown {
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  return isObject ? args : { invalid_arguments: args };
}

/** An error about one call says nothing about the response that asked for it. */
function voidsStep(error: EventPayload<"Error">): error is EventPayload<"Error"> & { turn: TurnId; step: number } {
  return !error.terminal && error.turn !== undefined && error.step !== undefined && error.call_id === undefined;
}

function toMessages(parts: readonly Part[]): Message[] {
  const messages: Message[] = [];
  for (const part of parts) {
    if ("input" in part) {
      add(messages, { role: "user", content: part.input });
      continue;
    }
    const content = orderedBlocks(part);
    add(messages, { role: "assistant", content });
    const calls = content.filter((block) => block.type === "tool_use");
    add(messages, { role: "user", content: calls.map((call) => part.results.get(call.id) ?? unfinished(call)) });
  }
  return messages;
}

/** Joins neighbours of one role: a turn that got no answer is followed by the next input, and wires refuse that apart. */
function add(messages: Message[], message: Message): void {
  if (message.content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === "user" && message.role === "user") {
    messages[messages.length - 1] = { role: "user", content: [...last.content, ...message.content] };
  } else if (last?.role === "assistant" && message.role === "assistant") {
    messages[messages.length - 1] = { role: "assistant", content: [...last.content, ...message.content] };
  } else {
    messages.push(message);
  }
}

/** Without empty texts, and without thinking that led to nothing: wires refuse a message that ends with it. */
function orderedBlocks(step: Step): AssistantBlock[] {
  const blocks = [...step.blocks]
    .sort(([a], [b]) => a - b)
    .map(([, block]) => block)
    .filter((block) => block.type !== "text" || block.text !== "");
  while (blocks.at(-1)?.type === "thinking") blocks.pop();
  return blocks;
}

function unfinished(call: ToolUseBlock): ToolResultBlock {
  return {
    type: "tool_result",
    tool_use_id: call.id,
    content: [{ type: "text", text: UNFINISHED_CALL_TEXT }],
    is_error: true,
    refused: true,
  };
}
