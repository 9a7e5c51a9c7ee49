/**
 * What a person can type in a conversation, once for every face: the shape of a row of `GET /v1/slash-commands`, and how a line is
 * read by a list of rows. Pure: it knows neither where rows come from nor what they do.
 */
import { nearestName } from "#base";
import { ReasonError } from "./reasons.ts";

export interface SlashCommand {
  /** Empty for a word that ships with the program; `sessions` in `/sessions:list`. */
  readonly namespace: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schema. Arguments stand in the order of `properties`; the last one takes the rest of the line. */
  readonly args_schema: ArgsSchema;
}

export interface ArgsSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, { readonly type: "string"; readonly enum?: readonly string[] }>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export type SlashArgs = Readonly<Record<string, string>>;

export type SlashLine =
  | { readonly command: SlashCommand; readonly args: SlashArgs }
  /** No such word, or arguments that do not fit one that is known. */
  | { readonly problem: string; readonly isKnown: boolean };

/** The command of a line that a person began with `!`. Only a line that was typed: what a command or a file says is an input. */
export function ownCommandOf(line: string): string | undefined {
  return line.startsWith("!") ? line.slice(1).trim() : undefined;
}

/** Reads a line that begins with a slash. Of two rows with the same word the first one counts. */
export function parseSlash(line: string, rows: readonly SlashCommand[]): SlashLine {
  const [, word = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = rows.find((one) => typedWord(one) === word);
  if (command === undefined) return { problem: unknownCommand(word, rows), isKnown: false };
  const misused = { problem: `Usage: ${slashUsage(command)}`, isKnown: true };
  const names = Object.entries(command.args_schema.properties);
  const args: Record<string, string> = {};
  let left = rest.trim();
  for (const [index, [name, { enum: values }]] of names.entries()) {
    if (left === "") break;
    const [first = ""] = left.split(/\s/, 1);
    const value = index === names.length - 1 ? left : first;
    if (values !== undefined && !values.includes(value)) return misused;
    args[name] = value;
    left = left.slice(value.length).trim();
  }
  const isMissing = command.args_schema.required.some((name) => args[name] === undefined);
  return left !== "" || isMissing ? misused : { command, args };
}

function unknownCommand(word: string, rows: readonly SlashCommand[]): string {
  const nearest = nearestName(word, rows.map(typedWord));
  const hint = nearest === undefined ? "" : ` Did you mean /${nearest}?`;
  return `Unknown command: /${word}.${hint} /help lists the commands.`;
}

/** Arguments of a sender that need not have read the schema. Throws InvalidCommand with the usage. */
export function slashArguments(command: SlashCommand, given: unknown): SlashArgs {
  const { properties, required } = command.args_schema;
  const entries = typeof given === "object" && given !== null ? Object.entries(given) : undefined;
  const isFit = entries?.every(([name, value]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return property !== undefined && typeof value === "string" && (property.enum?.includes(value) ?? true);
  });
  const isWhole = required.every((name) => entries?.some(([key]) => key === name));
  if (entries === undefined || isFit !== true || !isWhole) {
    throw new ReasonError("InvalidCommand", `Usage: ${slashUsage(command)}`);
  }
  // Each value was found to be text.
  return Object.fromEntries(entries) as Record<string, string>;
}

/** `/rules [revoke|keep] [RULE]` */
export function slashUsage(command: SlashCommand): string {
  const { properties, required } = command.args_schema;
  const args = Object.entries(properties).map(([name, { enum: values }]) => {
    const shown = values?.join("|") ?? name.toUpperCase();
    return required.includes(name) ? shown : `[${shown}]`;
  });
  return [`/${typedWord(command)}`, ...args].join(" ");
}

/** Without the slash: `model`, `sessions:list`. */
export function typedWord({ namespace, name }: Pick<SlashCommand, "namespace" | "name">): string {
  return namespace === "" ? name : `${namespace}:${name}`;
}

/** Arguments that are all text, in the order in which they are typed; a `!` at the end marks one that is required. */
export function textArguments(...names: readonly string[]): ArgsSchema {
  const bare = names.map((name) => name.replace(/!$/, ""));
  return {
    type: "object",
    properties: Object.fromEntries(bare.map((name) => [name, { type: "string" }])),
    required: bare.filter((_, index) => names[index]?.endsWith("!")),
    additionalProperties: false,
  };
}
