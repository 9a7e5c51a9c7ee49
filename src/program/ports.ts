/** What a program gets from the outside: environment, clock, keys, and where it says things. The real ones are made by its entry. */
import type { Settings } from "#artifacts";
import type { Clock } from "#base";
import type { HelperCredentials } from "#credentials";
import type { DetachedProcess } from "#world";
import type { BuildInfo } from "./build-info.ts";
import type { LogRedaction } from "./log-redaction.ts";

export interface ProgramPorts {
  /** What the program was started with, without node and script. */
  readonly args: readonly string[];
  readonly terminal: MessageOutput;
  /** For what is shown without having passed a session. */
  readonly outward: OutwardText;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The keys of models; none is in `env`. Closed by whoever made it. */
  readonly credentials: HelperCredentials;
  readonly cwd: string;
  readonly clock: Clock;
  readonly build: BuildInfo;
  /** The file that this program runs from: of a bundle one that no other build has by that name. */
  readonly programFile: string;
  /** Folder with the scenarios that ship with the program. */
  readonly scenariosDir: string;
  /** Folder with the skills that ship with the program. */
  readonly skillsDir: string;
  /** Folder with the profiles that ship with the program. */
  readonly profilesDir: string;
  /** Starts this program once more, detached and with the same environment and keys; what it prints goes to the open file. */
  readonly relaunch: (
    args: readonly string[],
    options: { readonly cwd: string; readonly output: number },
  ) => DetachedProcess;
  /**
   * For a command that runs until it is told to stop: from now on SIGTERM and SIGHUP end it with its own exit code, and it may
   * take so long.
   */
  readonly endsWhenStopped: (graceMs?: number, options?: { readonly outlivesOutput: boolean }) => void;
}

/** What opening a project needs. Without `skillsDir` it has its own skills alone, and neither built-in ones nor those of the user. */
export type ProjectPorts = Pick<ProgramPorts, "env" | "cwd" | "clock" | "build" | "terminal"> &
  Partial<Pick<ProgramPorts, "skillsDir">>;

/** Where messages for whoever started the program are written. */
export interface MessageOutput {
  err(text: string): void;
  /** A person is there, so that questions can be asked. */
  readonly interactive: boolean;
  readonly colour: boolean;
  /** Called on Ctrl-C and when the program is told to end. Returns how to stop listening. */
  onInterrupt(listener: () => void): () => void;
}

export interface OutwardRedactor {
  text(text: string): string;
  /** A value that becomes JSON. */
  value<T>(value: T): T;
  /** For one walk through a log. */
  log(): LogRedaction;
}

/** Redaction of what a command shows or writes that no session has published. */
export interface OutwardText {
  /** The configuration that was read: what it calls a secret is one from now on. Default: the user's own file. */
  use(settings: Pick<Settings, "redaction" | "models" | "mcpServers" | "agentServers">): void;
  /** Rejects with RedactionFailed, and with ConfigInvalid when nobody can tell what the user calls a secret. */
  load(): Promise<OutwardRedactor>;
  /** The error in one line for a person; its code alone where redaction cannot be had. Never rejects. */
  describe(error: unknown): Promise<string>;
  /** The message of an error without its code; empty where redaction cannot be had. Never rejects. */
  messageOf(error: unknown): Promise<string>;
  /** The text, or nothing where redaction cannot be had. Never rejects. */
  orNothing(text: string): Promise<string>;
}
