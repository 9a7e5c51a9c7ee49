/** An MCP server as somebody declared it: how it is reached, and what it may do. */
import type { SourceLocation } from "./project.ts";

export interface McpServer {
  readonly name: string;
  readonly connection: McpConnection;
  /** How long the first request waits for it. */
  readonly startupTimeoutMs: number;
  readonly toolTimeoutMs: number;
  /** `auto`: eager up to 20 tools. */
  readonly discovery: "auto" | "eager" | "lazy";
  /** Absent: all. */
  readonly enabledTools?: readonly string[];
  readonly disabledTools: readonly string[];
  /** Those that the user says change nothing; what the server says of itself does not count. */
  readonly readOnlyTools: readonly string[];
  /** It may have the model answer it. Only the user's own entry can say that. */
  readonly sampling?: true;
  /** The name of the folder in which it keeps its files; default: its own name. */
  readonly folder?: string;
  /** The file with the user's own entry, where that is not `config.toml`. */
  readonly declaredIn?: string;
  /** What was approved of its program. Checked before each start. */
  readonly pin?: ServerPin;
}

/** The files that decide what a server runs, as they were when somebody approved them. */
export interface ServerPin {
  readonly files: readonly PinnedFile[];
  /** The answer comes from another machine: the interpreter of this one is not pinned. */
  readonly leavesInterpreter?: true;
  /** The file with the entry, for messages. */
  readonly declaredIn: string;
}

export interface PinnedFile {
  /** Absolute, as the command names it. */
  readonly path: string;
  /** Where that leads. Absent: anywhere. */
  readonly real?: string;
  /** Hex. */
  readonly sha256: string;
}

/** A server that a project declares. */
export interface DeclaredServer {
  readonly server: McpServer;
  /** As it is written. */
  readonly entry: unknown;
  readonly place: SourceLocation;
  /** `${NAME}` in its texts stands for a variable of the environment. */
  readonly expands?: true;
}

export type McpConnection =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** Names of variables that it gets as they are; no others, besides what every program needs. */
      readonly envVars: readonly string[];
      /** Hosts that it may reach; empty: none, "public": any public one. */
      readonly network: readonly string[] | "public";
      /** Folders of the machine that it sees, besides those that every command sees. */
      readonly paths: readonly string[];
      /** Folders of the workspace that its calls may change, relative to it; `.` is all of it. Absent: none. */
      readonly writable?: readonly string[];
      /** The user's own entry says that it runs without a sandbox. */
      readonly unconfined?: true;
      /** What the entry says of the file that decides what runs, hex. */
      readonly sha256?: string;
    }
  | {
      readonly kind: "http" | "sse";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Headers whose values are in variables of the environment, by their names. */
      readonly envHeaders?: Readonly<Record<string, string>>;
      /** The variable that holds a bearer token. */
      readonly bearerVariable?: string;
      /** The user's own entry says that its host may be at a loopback or private address. */
      readonly mayBePrivate?: boolean;
      /** For a login with OAuth, which needs none of it as a rule. */
      readonly oauth?: McpOAuth;
    };

export interface McpOAuth {
  /** A client that the user registered at the authorization server. */
  readonly clientId?: string;
  readonly clientSecretVariable?: string;
  /** Where somebody hosts the metadata document that describes this client. */
  readonly clientMetadataUrl?: string;
  readonly callbackPort?: number;
  /** Asked for besides what the server asks for. */
  readonly scopes?: readonly string[];
}
