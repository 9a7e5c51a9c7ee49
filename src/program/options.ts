/** What a program is put together from, and what it then is. */
import type { Settings } from "#artifacts";
import type { Clock, EffectPorts } from "#base";
import type { Control } from "#control";
import type {
  CallTrace,
  CheckToken,
  CredentialPort,
  CredentialStatus,
  CredentialStoreStatus,
  Plugin,
  Redaction,
  SessionStore,
  Tool,
  ToolSource,
} from "#engine";
import type { McpServerState } from "#mcp";
import type { Command, CommandOf, RedactionSummary, SessionId, SlashCommand } from "#protocol";
import type { ScheduleRow } from "#schedules";
import type { AddedTransport, OpenProject, SessionDependencies, SessionProfiles } from "#session";
import type { HeadsPlace, Signer, StoreChoice } from "#stores";
import type { UndoStoreOptions } from "#undo";
import type { ChooseModels } from "./models.ts";
import type { OutwardRedactor } from "./ports.ts";
import type { KnownProfile } from "./profile-files.ts";
import type { SessionPreview } from "./session-preview.ts";
import type { DaemonSeen } from "./subsystems.ts";
import type { UserWords } from "./user-words.ts";
import type { WriteHealth } from "./watched-store.ts";

/** Where a cassette is written, or which one is played. */
export type CassetteOption = { readonly record: string } | { readonly replay: string };

export interface HarnessOptions {
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Who has the keys of the models. Closed with the harness. */
  readonly credentials: CredentialPort;
  readonly clock: Clock;
  /** Absolute path; a session may name another. */
  readonly workspace: string;
  /**
   * Absolute path: a session that names no folder gets one of its own in here, where `workspace` cannot be a workspace. Absent: such a
   * session is refused.
   */
  readonly scratch?: string;
  /** `provider:name`; beats the settings. */
  readonly model?: string;
  readonly offlineAllowed: boolean;
  /** Instead of the models that the settings name. */
  readonly chooseModels?: ChooseModels;
  readonly scenarioFile: (name: string) => string;
  readonly store: StoreChoice;
  /** Signs the log at the end of each turn; without it the log is chained, not signed. */
  readonly signer?: Signer;
  /** Where the last known heads of logs on disk are kept; without it an older copy of a log is not noticed. */
  readonly heads?: HeadsPlace;
  /**
   * Where undo keeps what mutating calls change; a call that cannot be kept there is then refused. Default `off`: nothing
   * is kept and nothing can be undone.
   */
  readonly undo?: "off" | Pick<UndoStoreOptions, "directory" | "key" | "limits" | "settled">;
  /** Further files of the program that commands must not see, wherever they are: sockets and tokens of a service. */
  readonly ownPaths?: readonly string[];
  /** What a daemon knows of itself, once it listens. */
  readonly daemonSeen?: () => DaemonSeen | undefined;
  /** Default: what MCP servers print and do is not written down. */
  readonly serverLog?: SessionDependencies["serverLog"];
  /** Every permission request is answered with yes; deny rules still hold. */
  readonly autoApprove: boolean;
  /** How long a question waits for its answer when somebody is there; default 60 s. */
  readonly permissionTimeoutMs?: number;
  /** A question waits that long also when no client is there to answer it yet; default: it is denied at once then. */
  readonly waitsForHumans?: boolean;
  /** Whether a token still holds that an input came with which had to wait. Absent: such an input does not begin. */
  readonly checkToken?: CheckToken;
  /** Slash commands that the user has written. Default: none. */
  readonly userWords?: Pick<UserWords, "commands" | "aliases">;
  /** False: memories of the user and of the workspace are not read. Default: true. */
  readonly ownMemories?: boolean;
  /** Redacts whole sessions that leave the program as text. Absent: there is no `/sessions:export`. */
  readonly outward?: () => Promise<OutwardRedactor>;
  /** The profiles that sessions can have. Default: the one in the settings, for all of them. */
  readonly profiles?: Omit<SessionProfiles, "switchTo">;
  /** Sees to it that a daemon of this user runs, which runs schedules. Absent: clients cannot change schedules. */
  readonly startDaemon?: () => Promise<void>;
  /** Instead of the built-in tools. */
  readonly toolSources?: readonly ToolSource[];
  readonly plugins?: readonly Plugin[];
  /** Values that conditions see as `ctx`, for every session. */
  readonly context?: CommandOf<"SetContext">["values"];
  /** What `os.args()` gives to scripts: the program and its arguments. Default: none. */
  readonly args?: readonly string[];
  /** How deep its sessions are in a tree of agents; default 0, the root. */
  readonly depth?: number;
  /** Finds the project of a workspace. Absent: files of a workspace say nothing. */
  readonly projects?: OpenProject;
  /** How whoever starts this program adds an allow rule, for refusals: `--allow 'Write'`. Absent: they name the rule alone. */
  readonly howToAddRule?: (rule: string) => string;
  /** Keeps an allow rule for good; resolves to where it is written now. Absent: rules cannot be kept. */
  readonly keepRule?: (rule: string) => Promise<string>;
  /** Instead of the redaction that ships with the program. Without one there is no session. */
  readonly redaction?: () => Promise<Redaction>;
  /** Asked before each model call of a session: undefined, or who wants to see it. */
  readonly traceCall?: (session: SessionId) => CallTrace | undefined;
  /** Stands between the gate and the world of each session, to see what reaches it. Trusted as much as the ports themselves. */
  readonly observePorts?: (ports: EffectPorts) => EffectPorts;
  /**
   * Records what comes from outside into a file, written at shutdown, or plays one instead of the outside. Nothing is then kept
   * for undo. A replay needs no key, makes no connection and starts no program; its files are real.
   */
  readonly cassette?: CassetteOption;
}

export interface Harness {
  readonly control: Control;
  /** The log of all sessions, for faces that list and read it; whoever writes events goes through the control. */
  readonly store: Pick<SessionStore, "get" | "list" | "read" | "update">;
  /** The whole store, for taking sessions out of it and branching them. */
  readonly archive: SessionStore;
  /** `provider:name` that new sessions begin with. */
  readonly model: string;
  /** Tried in order when that model cannot answer. */
  readonly fallbacks: readonly string[];
  /** The offline model plays because nothing is configured. */
  readonly offline: boolean;
  /**
   * In a replay: the commands that its clients have to submit, in order. What people did while a turn ran (answers, a cancel) is
   * not among them: the cassette does it.
   */
  readonly recordedCommands: readonly Command[];
  /** What people can type: in this session, or in any. Throws SessionNotFound for one that is not open. */
  slashCommands(session?: SessionId): readonly SlashCommand[];
  /** Wires of plugins by their name, for a daemon to start. */
  readonly transports: ReadonlyMap<string, AddedTransport>;
  tools(): readonly Tool[];
  /** What the model would be sent first by a session in this folder. Nothing of it is sent, kept or asked. */
  preview(folder: string, context?: CommandOf<"SetContext">["values"]): Promise<SessionPreview>;
  /** The MCP servers of open sessions, and those of the configuration that none of them has started. */
  servers(): readonly McpServerState[];
  /** Those that a session can have; `active` is the one of the program, or that of the session. Rejects with SessionNotFound. */
  profiles(session?: SessionId): Promise<readonly (KnownProfile & { readonly active: boolean })[]>;
  /** Prompts that the daemon of this user sends at set times. */
  schedules(): Promise<readonly ScheduleRow[]>;
  health(): Health;
  /**
   * Ends all sessions and closes the log. Recording: writes the cassette, or rejects with CassetteNotWritten. Replaying: rejects with
   * CassetteMismatch when something was missing or left over that no turn and no command was refused with.
   */
  shutdown(): Promise<void>;
}

/** How the parts are that can fail while the program runs. */
export interface Health {
  readonly credentialHelper: CredentialStatus;
  readonly credentialStore: CredentialStoreStatus;
  readonly writes: WriteHealth;
  readonly redaction: {
    readonly state: "loading" | "loaded" | "failed";
    /** What it has replaced so far; absent where nobody counts. */
    readonly totals?: RedactionSummary;
  };
}
