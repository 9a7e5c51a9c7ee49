/** What the program hands to each of its sessions, and what a session finds in its folder. */
import {
  type PermissionRule,
  type ProfileInForce,
  type ProfileScope,
  type Project,
  type ProjectLoader,
  type Settings,
  tighterBudgets,
} from "#artifacts";
import type { Clock, EffectPorts, FilePort, MemoryStore } from "#base";
import type { Control, RestoreCommand, SessionLimits } from "#control";
import type { OpenWorktree } from "#delegation";
import type {
  BuiltInRuns,
  CallTrace,
  CheckToken,
  CredentialPort,
  CustomHandler,
  EventBus,
  Hook,
  PluginTransport,
  Provider,
  Redaction,
  RequestMiddleware,
  SessionStore,
  SlashCaller,
  SlashOutcome,
  SlashSource,
  Subscriber,
  ToolMiddleware,
  ToolSource,
} from "#engine";
import type { Rule } from "#governance";
import type { ClientId, CommandOf, IdMint, ReasonError, ReplyOf, SessionId } from "#protocol";
import type { ModelChoice } from "#providers";
import type { ChangesQuery, SessionChanges, UndoReport } from "#undo";
import type { ScratchFolders } from "#world";
import type { AskForAck } from "./live-project.ts";
import type { ProgramServers } from "./program-servers.ts";
import type { SandboxPlace, SessionSandbox } from "./sandbox.ts";
import type { ProgramTape } from "./tape.ts";

export interface SessionDependencies {
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly ids: IdMint;
  readonly store: SessionStore;
  readonly models: ModelChoice;
  /** Those that people can choose from. */
  readonly modelRows: () => ReplyOf<"DescribeSession">["result"]["models"];
  /** The choice of models that other settings make. Throws as a wrong model does. */
  readonly modelsFor: (settings: Settings) => Promise<ModelChoice>;
  readonly extensions: Extensions;
  readonly toolSources: readonly ToolSource[];
  /** The tools and the rules that other settings make. */
  readonly partsFor: (settings: Settings) => Pick<SessionDependencies, "toolSources" | "rules" | "rulesVersion">;
  /** Absent: every session has the profile of the program. */
  readonly profiles: SessionProfiles | undefined;
  /** Of the user's configuration and of plugins. */
  readonly rules: readonly Rule[];
  readonly rulesVersion: string;
  readonly undo: Undo | undefined;
  /** Absent: no delegate has a folder of its own. */
  readonly openWorktree: OpenWorktree | undefined;
  /** The memories of the user and of one workspace, by its real path. */
  readonly memoryOf: (root: string) => MemoryStore;
  /** For a session that names no other. */
  readonly workspace: string;
  /** For a session that names none where `workspace` cannot be one. */
  readonly scratch: ScratchFolders | undefined;
  /** The model that was named for this run, if one was: it beats that of a session that is opened again. */
  readonly namedModel: string | undefined;
  readonly autoApprove: boolean;
  /** Sessions go on when nobody is attached. */
  readonly isService: boolean;
  readonly context: CommandOf<"SetContext">["values"];
  readonly howToAddRule: ((rule: string) => string) | undefined;
  readonly keepRule: ((rule: string) => Promise<string>) | undefined;
  readonly projects: OpenProject | undefined;
  readonly args: readonly string[];
  /** 0 for root agents; hooks are told, and hold the same at every depth. */
  readonly depth: number;
  /** Files of the program itself, but for the log that is kept in a workspace. */
  readonly ownPaths: readonly string[];
  readonly sandboxFor: (place: SandboxPlace) => SessionSandbox;
  readonly observePorts: ((ports: EffectPorts) => EffectPorts) | undefined;
  readonly traceCall: ((session: SessionId) => CallTrace | undefined) | undefined;
  readonly redaction: Promise<Redaction>;
  readonly checkToken: CheckToken | undefined;
  /** Resolves when the redaction knows every key that was found so far; to why not, when it cannot. */
  readonly secretsTold: () => Promise<ReasonError | undefined>;
  readonly tape: ProgramTape;
  /** For MCP servers on the network. */
  readonly credentials: Pick<CredentialPort, "reach" | "route">;
  /** What its sessions share of their MCP servers. */
  readonly programServers: ProgramServers;
  /** What MCP servers print and do goes to the operation log. */
  readonly serverLog: (level: "debug" | "info" | "warn" | "error", text: string) => void;
  /** Slash commands of every session; a session adds its own. */
  readonly slash: {
    readonly sources: readonly SlashSource[];
    readonly builtIns: BuiltInRuns;
    /** By name, what each alias of the user stands for. */
    readonly aliases: ReadonlyMap<string, string>;
  };
  /** Makes the session of a delegate known to clients. */
  readonly adopt: Control["adopt"];
}

/**
 * Finds the project of a workspace; undefined where there is none. `profile`: one that is not that of the program. `resumed`: the
 * sessions whose profile is kept where the file is gone, the first one that has it. Throws ConfigInvalid, with every problem, for a broken one.
 */
export type OpenProject = (
  workspace: string,
  profile?: string,
  resumed?: readonly SessionId[],
) => Promise<OpenedProject | undefined>;

/** What a program needs to know so that its sessions can have different profiles. */
export interface SessionProfiles {
  /** Those that a session in a folder with this project can have. Throws ConfigInvalid for a folder that cannot be read. */
  known(project: Project | undefined): readonly { readonly name: string; readonly scope: ProfileScope }[];
  /** The settings under another profile where there is no project. Rejects with ConfigInvalid. */
  settings(profile: string, resumed?: readonly SessionId[]): Promise<Settings>;
  /** What became of the file of the profile since it was read; undefined while it is the same. Never rejects. */
  change(profile: ProfileInForce): Promise<string | undefined>;
  /** For when the session is resumed. */
  keep(session: SessionId, profile: ProfileInForce): void;
  /** `/profiles:NAME`: continues in a session with that profile. Rejects with a ReasonError that people can read. */
  switchTo(profile: string, args: string, caller: SlashCaller): Promise<SlashOutcome>;
}

export interface OpenedProject {
  readonly loader: ProjectLoader;
  readonly project: Project;
  readonly askForAck?: AskForAck;
  /** With what this project says; absent where those of the program have it already. */
  readonly settings?: Settings;
}

/** For a session, and for the delegates below it, in a folder whose project is not the one that the program was opened with. */
export async function withSettings(
  program: SessionDependencies,
  settings: Settings | undefined,
): Promise<SessionDependencies> {
  if (settings === undefined) return program;
  return { ...program, settings, ...program.partsFor(settings), models: await program.modelsFor(settings) };
}

/** For a session that may use less than its settings say. */
export function withLimits(program: SessionDependencies, limits: SessionLimits | undefined): SessionDependencies {
  if (limits === undefined) return program;
  const { settings } = program;
  const { maxSteps = settings.maxSteps, maxCostUsd } = limits;
  return {
    ...program,
    settings: {
      ...settings,
      maxSteps: Math.min(settings.maxSteps, maxSteps),
      budgets: tighterBudgets(settings.budgets, maxCostUsd === undefined ? {} : { tree: { maxCostUsd } }),
    },
  };
}

/** What plugins have registered. */
export interface Extensions {
  readonly requestChain: RequestMiddleware[];
  readonly toolChain: ToolMiddleware[];
  readonly subscribers: Subscriber[];
  readonly toolSources: ToolSource[];
  readonly providers: Provider[];
  readonly rules: PermissionRule[];
  readonly hooks: Hook[];
  readonly customHandlers: ReadonlyMap<string, CustomHandler>;
  readonly slash: SlashSource;
  /** By the name of the wire. */
  readonly transports: Map<string, AddedTransport>;
  store: SessionStore | undefined;
}

export interface AddedTransport {
  readonly plugin: string;
  readonly transport: PluginTransport;
}

/** What calls change, kept, and the way back. */
export interface Undo {
  readonly recorder: (files: FilePort) => ToolMiddleware;
  /** Publishes what was done on the bus of the session. */
  restore(bus: EventBus, root: string, command: RestoreCommand, by: ClientId): Promise<UndoReport>;
  /** What calls of a session have changed in its folder so far. */
  changes(root: string, session: SessionId, query?: ChangesQuery): Promise<SessionChanges>;
}
