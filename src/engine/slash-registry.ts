/**
 * The slash commands of one session for every client: sources add rows, a namespace has one owner, and whoever runs a row gets
 * told what to do next. Lines are parsed by clients; here a row is a namespace, a name and arguments.
 */
import { visibleLine } from "#base";
import {
  builtInWords,
  type ClientId,
  type CommandKind,
  deedOf,
  isBuiltIn,
  ReasonError,
  type ReplyOf,
  type SessionId,
  type SlashArgs,
  type SlashCommand,
  slashArguments,
  typedWord,
} from "#protocol";

const NAMESPACE = /^[a-z][a-z0-9-]{0,62}$/;
/** What can be typed without quotes, and completed. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;
const DESCRIPTION_CHARS = 200;
/** Of a source whose rows come from elsewhere: a server, a folder. */
const SOURCE_ROWS_MAX = 1000;

/** What the client does next: shows the text, submits the command, continues in the session, sends the input. */
export type SlashOutcome = ReplyOf<"RunSlashCommand">["result"];

/** Who runs a row, and where. */
export interface SlashCaller {
  readonly session: SessionId;
  readonly client: ClientId;
  readonly identityClass: "human" | "agent";
  /** For rows that read or open other sessions. Throws TokenScope when the client could not send this command itself. */
  allow(kind: CommandKind, session?: SessionId): void;
}

export interface SlashEntry extends SlashCommand {
  /** Refused for agents. Completes the sentence "Only a human may …". No alias expands to it. */
  readonly humanOnly?: string;
  /** Arguments fit the schema. Rejects with a ReasonError that people can read. */
  run(args: SlashArgs, caller: SlashCaller): SlashOutcome | Promise<SlashOutcome>;
}

/** Rows of one kind: plugins, skills, agents, MCP servers, Markdown commands. */
export interface SlashSource {
  /** For people: `the plugin lint`, `skills`. */
  readonly owner: string;
  /** Those that no other source may use, with rows or without. */
  readonly namespaces: readonly string[];
  /** As they are now. One in a namespace of somebody else, or one that cannot be typed, is left out. */
  entries(): readonly SlashEntry[];
}

export interface SlashRegistry {
  /** The rows of `GET /v1/slash-commands`: built-ins first, then each source in its order. */
  rows(): readonly SlashCommand[];
  /** Throws InvalidCommand for a row that is not there, that a client carries out itself, or whose arguments do not fit. */
  run(row: Pick<SlashCommand, "namespace" | "name">, args: unknown, caller: SlashCaller): Promise<SlashOutcome>;
}

/** What the engine runs of the built-in words, by word. One that is missing here is not listed. */
export type BuiltInRuns = Readonly<Record<string, SlashEntry["run"]>>;

/** Throws ConfigInvalid when two sources claim a namespace, or one claims what cannot be typed. */
export function createSlashRegistry(sources: readonly SlashSource[], builtIns: BuiltInRuns): SlashRegistry {
  refuseConflicts(sources);
  const own = builtInWords.filter(isHere(builtIns));

  function entries(): readonly SlashEntry[] {
    return sources.flatMap(({ namespaces, entries: listed }) =>
      listed()
        .filter((entry) => NAME.test(entry.name) && namespaces.includes(entry.namespace) && !isBuiltIn(entry))
        .slice(0, SOURCE_ROWS_MAX),
    );
  }

  return {
    rows: () => [...own, ...entries().map(rowOf)],
    async run(row, given, caller) {
      const builtIn = own.find((one) => typedWord(one) === typedWord(row));
      if (builtIn !== undefined) return runBuiltIn(builtIn, slashArguments(builtIn, given ?? {}), builtIns, caller);
      const entry = entries().find((one) => typedWord(one) === typedWord(row));
      if (entry === undefined) {
        const detail = `there is no /${visibleLine(typedWord(row)).slice(0, 200)}; /help lists the commands`;
        throw new ReasonError("InvalidCommand", detail);
      }
      if (entry.humanOnly !== undefined && caller.identityClass !== "human") {
        throw new ReasonError("NotAllowed", `Only a human may ${entry.humanOnly}.`);
      }
      return entry.run(slashArguments(entry, given ?? {}), caller);
    },
  };
}

/** A word of the table that the engine runs exists where something runs it. */
function isHere(builtIns: BuiltInRuns) {
  return (row: SlashCommand): boolean => deedOf(row, {}).by !== "engine" || Object.hasOwn(builtIns, typedWord(row));
}

async function runBuiltIn(
  row: SlashCommand,
  args: SlashArgs,
  builtIns: BuiltInRuns,
  caller: SlashCaller,
): Promise<SlashOutcome> {
  const deed = deedOf(row, args);
  if (deed.by === "command") return { command: deed.command };
  const run = builtIns[typedWord(row)];
  if (deed.by === "client" || run === undefined) {
    throw new ReasonError("InvalidCommand", `/${typedWord(row)} is carried out by the client itself`);
  }
  return run(args, caller);
}

function refuseConflicts(sources: readonly SlashSource[]): void {
  const owners = new Map<string, string>();
  for (const { owner, namespaces } of sources) {
    for (const namespace of namespaces) {
      const taken = owners.get(namespace);
      if (taken !== undefined) {
        const detail = `${owner} and ${taken} both claim the slash commands /${namespace}:…; remove one of them`;
        throw new ReasonError("ConfigInvalid", detail);
      }
      if (namespace !== "" && !NAMESPACE.test(namespace)) {
        const detail = `${owner}: '${namespace}' is not a namespace of slash commands: small letters, digits and '-'`;
        throw new ReasonError("ConfigInvalid", detail);
      }
      owners.set(namespace, owner);
    }
  }
}

function rowOf({ namespace, name, description, args_schema }: SlashEntry): SlashCommand {
  return { namespace, name, description: visibleLine(description).slice(0, DESCRIPTION_CHARS), args_schema };
}
