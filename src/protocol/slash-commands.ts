/**
 * What a person can type in a conversation, once for every face: the rows of `GET /v1/slash-commands`, and how a line is read by
 * them. What a word does is up to the face; most are commands of the protocol.
 */

export interface SlashCommand {
  /** Empty for what ships with the program; `sessions` in `/sessions:list`. */
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

const text = { type: "string" } as const;

export const slashCommands = [
  row("model", "use another model from the next step on", { model: text }, ["model"]),
  row("rules", "show the permission rules; remove or save one that an answer added", {
    change: { type: "string", enum: ["revoke", "keep"] },
    rule: text,
  }),
  row("undo", "revert what the last turn, or the named call or turn, changed in the folder", { target: text }),
  row("redo", "apply again what was undone last", { target: text }),
  row("queue", "send this input when the running turn has ended", { text }, ["text"]),
  row("steer", "send a message to the running turn; the model reads it at its next step", { text }, ["text"]),
  row("cancel", "cancel the running turn (also Ctrl-C)"),
  row("sessions:list", "list the sessions of the daemon"),
  row("sessions:resume", "switch to another session", { session: text }, ["session"]),
  row("health", "show the state of each subsystem: log, redaction, keys, sandbox"),
  row("help", "this list"),
  row("quit", "leave (also Ctrl-D, or Ctrl-C twice)"),
] as const satisfies readonly SlashCommand[];

/** As it is typed, without the slash: `model`, `sessions:list`. */
export type SlashWord =
  | "model"
  | "rules"
  | "undo"
  | "redo"
  | "queue"
  | "steer"
  | "cancel"
  | "health"
  | "help"
  | "quit"
  | "sessions:list"
  | "sessions:resume";

export type SlashLine =
  | { readonly word: SlashWord; readonly args: Readonly<Record<string, string>> }
  /** A word of a plugin: CustomCommand carries it to the plugin. */
  | { readonly added: SlashCommand; readonly args: Readonly<Record<string, string>> }
  /** No such word, or arguments that do not fit one that is known. */
  | { readonly problem: string; readonly isKnown: boolean };

/** Reads a line that begins with a slash. `added` are words of plugins; none of them hides a word of the program. */
export function parseSlash(line: string, added: readonly SlashCommand[] = []): SlashLine {
  const [, word = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const own = slashCommands.find((one) => wordOf(one) === word);
  const command = own ?? added.find((one) => typedWord(one) === word);
  if (command === undefined) return { problem: `Unknown command: /${word}`, isKnown: false };
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
  if (left !== "" || isMissing) return misused;
  return own === undefined ? { added: command, args } : { word: wordOf(own), args };
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

/** Of a row of the table above. */
export function wordOf(command: (typeof slashCommands)[number]): SlashWord {
  return typedWord(command) as SlashWord; // the words of the table and no others
}

/** Without the slash. */
export function typedWord({ namespace, name }: SlashCommand): string {
  return namespace === "" ? name : `${namespace}:${name}`;
}

function row(
  word: SlashWord,
  description: string,
  properties: ArgsSchema["properties"] = {},
  required: readonly string[] = [],
): SlashCommand {
  const [namespace = "", name = ""] = word.includes(":") ? word.split(":") : ["", word];
  return {
    namespace,
    name,
    description,
    args_schema: { type: "object", properties, required, additionalProperties: false },
  };
}
