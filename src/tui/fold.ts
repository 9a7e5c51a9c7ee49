/** The conversation folded from the events of its session: inputs, answers, notices, summaries of turns. Pure. */
import { counted, visibleProse } from "#base";
import { displayText, type Event, type EventOf, type InputBlock, type SessionId } from "#protocol";
import { duration, money } from "./amounts.ts";
import { doing, withCallEvent } from "./call-events.ts";
import { imagesOf } from "./images.ts";
import { withNotice } from "./notices.ts";
import {
  add,
  type Block,
  closed,
  closedText,
  emptyTranscript,
  finishedCount,
  MAX_MOVING,
  notice,
  type Transcript,
  withoutImages,
} from "./transcript.ts";

/** `nowMs` is the monotonic time at which the event counts as having happened. */
export function withEvent(transcript: Transcript, event: Event, nowMs: number): Transcript {
  if (event.session !== transcript.session) return withDelegateEvent(transcript, event, nowMs);
  const before = { ...transcript, event: event.id };
  switch (event.kind) {
    case "TurnStarted": {
      const begun = closed(before);
      const { content } = event.payload;
      const images = imagesOf(content);
      const input = { kind: "input", text: textOf(content), ...(images.length > 0 && { images }) } as const;
      return {
        ...add(begun, input),
        isTurnRunning: true,
        turn: event.payload.turn,
        turnSinceMs: nowMs,
        changed: [],
        model: event.payload.model,
        doing: "waiting for the model",
        doingSinceMs: nowMs,
      };
    }
    case "TurnSteered":
      return add(closedText(before), { kind: "input", text: textOf(event.payload.content) });
    case "TextDelta": {
      const { step, block, text } = event.payload;
      return doing(withText(before, `${event.payload.turn}/${step}/${block}`, text), "answering", nowMs);
    }
    case "ThinkingDelta": {
      const { turn, step, block, text } = event.payload;
      return doing(withThinking(before, `${turn}/${step}/${block}`, text, nowMs), "thinking", nowMs);
    }
    case "CostIncremented":
      return { ...before, modelCostUsd: event.payload.cost_usd };
    case "TurnEnded":
      return withTurnEnd(before, event.payload, nowMs);
    case "TurnLost":
      return {
        ...notice(closed(before), "bad", `✗ ${event.payload.reason}: ${event.payload.message}`),
        isTurnRunning: false,
      };
    default:
      return withCallEvent(before, event, nowMs, 0) ?? withNotice(before, event);
  }
}

/** Questions and calls of the agents below stand in the conversation of their root. */
function withDelegateEvent(before: Transcript, event: Event, nowMs: number): Transcript {
  const after = withCallEvent(before, event, nowMs, 1);
  // What the agent waits for is not what this turn waits for.
  return after === undefined ? before : { ...after, doing: before.doing, doingSinceMs: before.doingSinceMs };
}

function withTurnEnd(before: Transcript, payload: EventOf<"TurnEnded">["payload"], nowMs: number): Transcript {
  const { outcome, usage, cost_usd: cost, steps } = payload;
  const tokens = usage.input_tokens + usage.output_tokens;
  const files = before.changed.length === 0 ? [] : [`${counted(before.changed.length, "file")} changed`];
  // A command of the person takes no step of the model.
  const used = [
    ...(steps === 0 ? [] : [counted(steps, "step")]),
    ...(tokens === 0 ? [] : [`${tokens} tokens`]),
    ...(cost === undefined || tokens === 0 ? [] : [money(cost)]),
  ];
  const parts = [duration(nowMs - before.turnSinceMs), ...used, ...files];
  const text = outcome === "answered" ? parts.join(" · ") : [outcome, ...parts].join(" · ");
  return {
    ...add(closed(before), { kind: "summary", text }),
    isTurnRunning: false,
    doing: "",
  };
}

function withText(before: Transcript, key: string, text: string): Transcript {
  const last = before.blocks.at(-1);
  if (last?.kind === "answer" && last.key === key && !last.isDone) {
    return { ...before, blocks: [...before.blocks.slice(0, -1), { ...last, text: last.text + text }] };
  }
  return add(closedText(before), { kind: "answer", key, text, printed: 0, isDone: false });
}

function withThinking(before: Transcript, key: string, text: string, nowMs: number): Transcript {
  const last = before.blocks.at(-1);
  if (last?.kind === "thinking" && last.key === key) {
    const longer = { ...last, text: last.text + text, forMs: nowMs - last.sinceMs };
    return { ...before, blocks: [...before.blocks.slice(0, -1), longer] };
  }
  // The model thinks before its first words arrive.
  const sinceMs = before.doing === "waiting for the model" ? before.doingSinceMs : nowMs;
  const forMs = nowMs - sinceMs;
  return add(closedText(before), { kind: "thinking", key, text, sinceMs, forMs, isDone: false });
}

function textOf(content: readonly InputBlock[]): string {
  return visibleProse(displayText(content));
}

/** A stretch of the log that is over. */
export function foldedBlocks(session: SessionId, events: readonly Event[]): readonly Block[] {
  const done: Block[] = [];
  let last = emptyTranscript(session, "");
  for (const event of events) {
    last = withEvent(last, event, Date.parse(event.ts));
    const count = last.blocks.length > MAX_MOVING ? finishedCount(last.blocks) : 0;
    if (count === 0) continue;
    done.push(...last.blocks.slice(0, count).map(withoutImages));
    last = { ...last, blocks: last.blocks.slice(count) };
  }
  return [...done, ...closed(last).blocks.map(withoutImages)];
}
