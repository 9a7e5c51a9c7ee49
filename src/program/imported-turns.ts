/** The last turns of a session as a summary for a session that continues it: what was asked, called and answered, shortened. No model. */
import { counted } from "#base";
import type { ImportedTurns } from "#control";
import { createRemains, type SessionStore } from "#engine";
import { displayText, type Event, type EventOf, type SessionId, type TurnId } from "#protocol";
import { readEvents } from "./session-texts.ts";

export const MAX_IMPORTED_TURNS = 50;
const MAX_INPUT_CHARS = 1_000;
const MAX_ANSWER_CHARS = 2_000;
const MAX_TOOLS = 10;

interface Turn {
  readonly number: number;
  readonly id: TurnId;
  readonly input: string;
  readonly calls: Map<string, number>;
  step: number;
  /** Of the last step that wrote text. */
  answer: string;
  outcome: string;
}

/** With `turns` 0 there is no summary and there are no labels. */
export async function importedTurns(
  store: Pick<SessionStore, "read">,
  from: SessionId,
  turns: number,
): Promise<ImportedTurns & { readonly turns: number }> {
  const remains = createRemains();
  const last: Turn[] = [];
  let begun = 0;
  for await (const event of readEvents(store, from)) {
    remains.apply(event);
    if (event.kind === "TurnStarted") {
      begun += 1;
      last.push(turnOf(event, begun));
      if (last.length > turns) last.shift();
    } else {
      const turn = last.at(-1);
      if (turn !== undefined) add(turn, event);
    }
  }
  const { planMode } = remains;
  if (last.length === 0) return { from, summary: "", labels: [], planMode, turns: 0 };
  const head = `The last ${counted(last.length, "turn")} of the session ${from}, shortened. The whole is in that session.`;
  return {
    ...{ from, planMode, turns: last.length },
    summary: [head, ...last.map(turnText)].join("\n\n"),
    labels: remains.labels,
  };
}

function turnOf({ payload: { turn: id, content, refused } }: EventOf<"TurnStarted">, number: number): Turn {
  const input = refused === true ? "[refused by a hook]" : displayText(content);
  return { number, id, input, calls: new Map(), step: 0, answer: "", outcome: "cut off" };
}

function add(turn: Turn, event: Event): void {
  if (event.kind === "TurnEnded") turn.outcome = event.payload.outcome;
  else if (event.kind === "ToolCallStarted" && event.payload.parent === undefined) {
    const { name } = event.payload;
    turn.calls.set(name, (turn.calls.get(name) ?? 0) + 1);
  } else if (event.kind === "TextDelta") {
    const { step, text } = event.payload;
    // What is longer is cut anyway.
    const before = step === turn.step ? turn.answer : "";
    turn.answer = before.length > MAX_ANSWER_CHARS ? before : before + text;
    turn.step = step;
  }
}

function turnText({ number, input, calls, answer, outcome }: Turn): string {
  const tools = [...calls].slice(0, MAX_TOOLS).map(([name, count]) => (count === 1 ? name : `${name} × ${count}`));
  const more = calls.size > MAX_TOOLS ? ", …" : "";
  return [
    `Turn ${number} (${outcome})`,
    `Asked: ${shortened(input, MAX_INPUT_CHARS)}`,
    ...(tools.length === 0 ? [] : [`Called: ${tools.join(", ")}${more}`]),
    ...(answer.trim() === "" ? [] : [`Answered: ${shortened(answer, MAX_ANSWER_CHARS)}`]),
  ].join("\n");
}

function shortened(text: string, maxChars: number): string {
  const whole = text.trim();
  return whole.length <= maxChars ? whole : `${whole.slice(0, maxChars).toWellFormed()}…`;
}
