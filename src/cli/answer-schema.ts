/** `--output-schema`: the final answer must be JSON that matches a schema; the model is asked again at most twice. */
import { messageOf } from "#base";
import { ReasonError, reasonText } from "#protocol";
import type { CliSession } from "./cli-session.ts";
import type { EndedTurn } from "./session-view.ts";

/** Asks after the first answer. */
export const MAX_REASKS = 2;
const MAX_PROBLEMS = 5;

export interface AnswerSchema {
  readonly schema: Readonly<Record<string, unknown>>;
}

/** `text` is the content of `file`. */
export function parseAnswerSchema(file: string, text: string): AnswerSchema {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    const why = messageOf(error);
    throw new ReasonError("ConfigInvalid", `${file}: not JSON: ${why}`);
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new ReasonError("ConfigInvalid", `${file}: expected a JSON Schema object`);
  }
  // A JSON object has string keys.
  return { schema: schema as Record<string, unknown> };
}

/** The turn whose answer is the matching JSON text, or the last turn as an AnswerInvalid error. */
export async function sendForSchema(session: CliSession, prompt: string, { schema }: AnswerSchema): Promise<EndedTurn> {
  const { Validator } = await import("@cfworker/json-schema");
  const validator = new Validator(schema, "2020-12", false);
  const wanted = `Answer with one JSON value and nothing else. It must match this JSON Schema:\n${JSON.stringify(schema)}`;
  let turn = await session.send(`${prompt}\n\n${wanted}`);
  for (let asked = 0; ; asked++) {
    if (turn.outcome !== "answered") return turn;
    const checked = checkAnswer(turn.answer, validator);
    if (checked.json !== undefined) return { ...turn, answer: checked.json };
    if (asked === MAX_REASKS) {
      const message = reasonText("AnswerInvalid", { attempts: asked + 1, detail: checked.problem });
      return { ...turn, outcome: "error", reason: "AnswerInvalid", message };
    }
    turn = await session.send(`That answer does not match the schema: ${checked.problem}\n${wanted}`);
  }
}

type Checked =
  | { readonly json: string; readonly problem?: never }
  | { readonly json?: never; readonly problem: string };

interface SchemaValidator {
  validate(value: unknown): { valid: boolean; errors: { instanceLocation: string; error: string }[] };
}

function checkAnswer(answer: string, validator: SchemaValidator): Checked {
  const json = stripFence(answer);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { problem: `not JSON (${messageOf(error)})` };
  }
  const { valid, errors } = validator.validate(value);
  if (valid) return { json };
  const lines = errors.slice(-MAX_PROBLEMS).map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
  return { problem: lines.join(" ") };
}

/** Models like to wrap JSON in a code fence. */
function stripFence(answer: string): string {
  const text = answer.trim();
  return /^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(text)?.[1]?.trim() ?? text;
}
