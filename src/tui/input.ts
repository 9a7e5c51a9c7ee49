/** What becomes of what people type: one row for each way to begin an input. Pure. */
import { parseSlash, type SlashCommand, typedWord } from "#protocol";
import type { Effect } from "./effects.ts";

/** The sub-state of the interface that is about input. */
export interface InputState {
  /** What can be typed behind a slash, as it was last asked for. */
  readonly commands: readonly SlashCommand[];
  /** Put aside for later; empty: nothing. */
  readonly stashed: string;
}

export interface InputSituation extends Pick<InputState, "commands"> {
  readonly isTurnRunning: boolean;
  /** To the running turn instead of after it. */
  readonly isSteering: boolean;
}

/** For inputs that begin in this way, the first row that does. */
const kinds: readonly {
  readonly begins: string;
  effects(text: string, situation: InputSituation): readonly Effect[];
}[] = [
  { begins: "/", effects: slashEffects },
  // Refused while a turn runs, with the reason.
  { begins: "!", effects: (text) => [{ type: "command", text }] },
  { begins: "", effects: (text, situation) => [{ type: wayOf(situation), text }] },
];

export const noInput: InputState = { commands: [], stashed: "" };

/** `text` is trimmed and not empty. */
export function inputEffects(text: string, situation: InputSituation): readonly Effect[] {
  const kind = kinds.find(({ begins }) => text.startsWith(begins));
  return [{ type: "clear" }, ...(kind?.effects(text, situation) ?? [])];
}

/** What is typed and what was put aside change places. */
export function swapStash(before: InputState, typed: string): { input: InputState; effects: readonly Effect[] } {
  const { stashed } = before;
  if (typed === "" && stashed === "") return { input: before, effects: [] };
  return { input: { ...before, stashed: typed }, effects: [{ type: "write", text: stashed }] };
}

function wayOf({ isTurnRunning, isSteering }: InputSituation): "send" | "queue" | "steer" {
  if (!isTurnRunning) return "send";
  return isSteering ? "steer" : "queue";
}

function slashEffects(text: string, { commands }: InputSituation): readonly Effect[] {
  const word = text.slice(1);
  // A namespace alone is not a command yet: what it has is offered.
  const isNamespace = word.endsWith(":") && commands.some(({ namespace }) => `${namespace}:` === word);
  return isNamespace ? [{ type: "write", text, isOffering: true }] : [{ type: "slash", text }];
}

/** Whether a row can be carried out as it is: it requires no argument. */
export function needsNothing(command: SlashCommand): boolean {
  return !("problem" in parseSlash(`/${typedWord(command)}`, [command]));
}
