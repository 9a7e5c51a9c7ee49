/** The prompts of a server as it lists them: checked, bounded, with names that can be typed. Its words are untrusted. */
import { isRecord, type ServerPrompt, visibleLine } from "#base";

const MAX_PROMPTS = 500;
const MAX_ARGUMENTS = 32;
const MAX_WORDS_CHARS = 500;
const MAX_SHOWN_CHARS = 160;
/** What can be typed behind `/mcp:SERVER:`. */
const PROMPT_NAME = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;
const ARGUMENT_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

export interface PromptListReader {
  /** False when no further prompt is read. */
  add(page: readonly unknown[]): boolean;
  prompts(): readonly ServerPrompt[];
}

export function readPrompts(refuse: (text: string) => void): PromptListReader {
  const prompts = new Map<string, ServerPrompt>();
  return {
    add(page) {
      for (const entry of page) {
        const prompt = readPrompt(entry);
        if (typeof prompt === "string") refuse(prompt);
        else if (prompts.has(prompt.name)) refuse(`the prompt ${prompt.name} is listed twice; the first one is used`);
        else if (prompts.size < MAX_PROMPTS) prompts.set(prompt.name, prompt);
        else {
          refuse(`it lists more than ${MAX_PROMPTS} prompts; the others are left out`);
          return false;
        }
      }
      return true;
    },
    prompts: () => [...prompts.values()],
  };
}

function readPrompt(entry: unknown): ServerPrompt | string {
  if (!isRecord(entry) || typeof entry.name !== "string") return "a prompt without a name is left out";
  const { name, title, description, arguments: listed = [] } = entry;
  const leftOut = (why: string): string =>
    `the prompt ${visibleLine(name.slice(0, MAX_SHOWN_CHARS))} is left out: ${why}`;
  if (!PROMPT_NAME.test(name)) return leftOut("a name must have 1 to 64 of the characters A-Z a-z 0-9 _ - . :");
  if (!Array.isArray(listed) || listed.length > MAX_ARGUMENTS) {
    return leftOut(`its arguments are not a list of at most ${MAX_ARGUMENTS}`);
  }
  const args: { readonly name: string; readonly isRequired: boolean }[] = [];
  for (const argument of listed) {
    if (!isRecord(argument) || typeof argument.name !== "string" || !ARGUMENT_NAME.test(argument.name)) {
      return leftOut("the name of an argument must begin with a letter and have only A-Z a-z 0-9 _ - .");
    }
    if (args.some((known) => known.name === argument.name)) return leftOut("it lists an argument twice");
    args.push({ name: argument.name, isRequired: argument.required === true });
  }
  // As they are typed: one that may be left out has no place before one that may not.
  const inOrder = args.toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));
  return { name, description: words(description ?? title), args: inOrder };
}

function words(text: unknown): string {
  return typeof text === "string" ? visibleLine(text.slice(0, MAX_WORDS_CHARS)) : "";
}
