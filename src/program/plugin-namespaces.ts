/** The namespaces that plugins own: who has claimed each, its slash commands, and what a CustomCommand in it goes to. */
import { type Clock, defined, isRecord, messageOf, withinTime } from "#base";
import type { CustomHandler, PluginSlashCommand, SlashAnswer, SlashCaller, SlashSource } from "#engine";
import { builtInWords, ReasonError, type SlashArgs, type SlashCommand, slashArguments } from "#protocol";

const NAME = /^[a-z][a-z0-9-]{0,62}$/;
const DESCRIPTION_CHARS = 200;
const DEFAULT_TIMEOUT_MS = 30_000;
/** Of a text that is shown, and of an input. */
const ANSWER_CHARS = 100_000;
/** Of a name that somebody made up. */
const NAME_SHOWN = 100;
/** The program has words in them, or will have. */
const RESERVED = new Set([
  ...["agents", "mcp", "profiles", "project", "sessions", "skills", "user"],
  ...builtInWords.map(({ namespace }) => namespace),
]);

interface Namespace {
  readonly plugin: string;
  handler?: CustomHandler;
  readonly words: Map<string, SlashCommand & { readonly run: RunWord }>;
}

export interface PluginNamespaces {
  readonly handlers: ReadonlyMap<string, CustomHandler>;
  /** Every namespace that a plugin has, and the words in them. */
  readonly slash: SlashSource;
  /** Both throw when something is taken or malformed. */
  claim(plugin: string, namespace: string, handler: CustomHandler): void;
  addSlashCommand(plugin: string, command: PluginSlashCommand): void;
}

export function createPluginNamespaces(clock: Pick<Clock, "sleep">): PluginNamespaces {
  const owned = new Map<string, Namespace>();
  const handlers = new Map<string, CustomHandler>();

  function ownedBy(plugin: string, name: string): Namespace {
    if (!NAME.test(name)) throw new Error(`'${name}' is not a valid namespace: use lowercase letters, digits and '-'`);
    if (RESERVED.has(name)) throw new Error(`the namespace '${name}' is reserved for Harness`);
    const known = owned.get(name);
    if (known !== undefined && known.plugin !== plugin) {
      throw new Error(`the namespace '${name}' is taken by the plugin ${known.plugin}`);
    }
    const namespace: Namespace = known ?? { plugin, words: new Map() };
    owned.set(name, namespace);
    handlers.set(name, async (command, from) => {
      const { session, verb, payload } = command;
      const word = namespace.words.get(verb);
      // Whoever sends the command need not have read the schema.
      if (word !== undefined) return word.run(slashArguments(word, payload), { session, client: from });
      if (namespace.handler !== undefined) return namespace.handler(command, from);
      throw new ReasonError("InvalidCommand", `there is no /${name}:${command.verb.slice(0, NAME_SHOWN)}`);
    });
    return namespace;
  }

  return {
    handlers,
    slash: {
      owner: "plugins",
      get namespaces() {
        return [...owned.keys()];
      },
      entries: () => [...owned.values()].flatMap(({ words }) => [...words.values()]),
    },
    claim(plugin, name, handler) {
      const namespace = ownedBy(plugin, name);
      if (namespace.handler !== undefined) throw new Error(`the namespace '${name}' is taken`);
      namespace.handler = handler;
    },
    addSlashCommand(plugin, command) {
      const namespace = ownedBy(plugin, command.namespace);
      const row = rowOf(command);
      if (namespace.words.has(row.name)) throw new Error(`the word /${row.namespace}:${row.name} is taken`);
      namespace.words.set(row.name, { ...row, run: runOf(plugin, row, command, clock) });
    },
  };
}

function rowOf({ namespace, name, description, args = [] }: PluginSlashCommand): SlashCommand {
  for (const part of [name, ...args.map((argument) => argument.name)]) {
    if (!NAME.test(part)) throw new Error(`/${namespace}:${name}: '${part}' is not a valid name`);
  }
  if (description.length > DESCRIPTION_CHARS || /\p{Cc}/u.test(description)) {
    throw new Error(
      `/${namespace}:${name}: the description must be one line of at most ${DESCRIPTION_CHARS} characters`,
    );
  }
  const properties = args.map(
    ({ name: key, values }) => [key, { type: "string", ...defined({ enum: values }) }] as const,
  );
  const required = args.filter((argument) => argument.required === true).map((argument) => argument.name);
  return {
    namespace,
    name,
    description,
    args_schema: { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false },
  };
}

type RunWord = (args: SlashArgs, caller: Pick<SlashCaller, "session" | "client">) => Promise<SlashAnswer>;

function runOf(
  plugin: string,
  row: SlashCommand,
  { run, timeoutMs = DEFAULT_TIMEOUT_MS }: PluginSlashCommand,
  clock: Pick<Clock, "sleep">,
): RunWord {
  const word = `/${row.namespace}:${row.name}`;
  const late = (): Error => new Error(`it did not answer within ${timeoutMs / 1000} s`);
  return async (args, { session, client }) => {
    try {
      const answer = await withinTime(clock, timeoutMs, (signal) => run(args, { session, client, signal }), late);
      return answerOf(answer);
    } catch (cause) {
      if (cause instanceof ReasonError) throw cause;
      const detail = `${word}: ${messageOf(cause)}`;
      throw new ReasonError("PluginFailed", { name: plugin, detail, place: `plugin ${plugin}` }, { cause });
    }
  };
}

function answerOf(answer: unknown): SlashAnswer {
  if (!isRecord(answer)) throw new Error("it did not answer with text or input");
  const { text, input } = answer;
  for (const part of [text, input]) {
    if (part !== undefined && typeof part !== "string") throw new Error("it answered with something that is not text");
    if (part !== undefined && part.length > ANSWER_CHARS)
      throw new Error(`it answered with more than ${ANSWER_CHARS} characters`);
  }
  return defined({ text, input }) as SlashAnswer;
}
