/**
 * The world as the program sees it. Everything that has an effect or is not deterministic arrives through one of these
 * interfaces; `system.ts` implements them for real, tests hand in fakes. Tools get the three effect ports (files,
 * processes, web) already bound to one workspace and one call.
 */
import type { MemoryPort } from "./memory-port.ts";
import type { ModelPort } from "./model-port.ts";
import type { ServerPort } from "./server-port.ts";

export interface Clock {
  /** Wall time in milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that never goes backwards; only differences mean anything. */
  monotonicMs(): number;
  /** Milliseconds since the machine was started, the time while it was suspended included. The same for all processes. */
  uptimeMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  bytes(count: number): Uint8Array<ArrayBuffer>;
}

export interface FileInfo {
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly mode: number;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileInfo["kind"];
}

/**
 * Files of one workspace. Every path, relative or absolute, must resolve inside the workspace, symlinks followed; one
 * that does not is refused with an `EffectError` of reason `OutsideWorkspace`. Missing files are `NotFound`.
 */
export interface FilePort {
  /** The absolute workspace root. */
  readonly root: string;
  /** Relative paths of what no tool gets at, with all that is below them. */
  readonly hidden?: readonly string[];
  /** The path relative to the root ("." for the root itself), or an `OutsideWorkspace` error. Touches the disk. */
  locate(path: string): Promise<string>;
  /** Undefined when nothing is there. Follows symlinks inside the workspace. */
  stat(path: string): Promise<FileInfo | undefined>;
  /** The whole file; `TooLarge` above `maxBytes`, before reading. */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
  /** Sorted by name. */
  list(path: string): Promise<DirectoryEntry[]>;
  /** Replaces or creates the file atomically, parents included; keeps the mode of a file that was there. */
  write(path: string, content: Uint8Array): Promise<void>;
  /** Makes the directory and its parents; one that is there already is fine, anything else there is `AlreadyExists`. */
  makeDirectory(path: string): Promise<void>;
  /** Refuses to overwrite (`AlreadyExists`). */
  move(from: string, to: string): Promise<void>;
  /** A directory that is not empty needs `recursive`. The workspace root itself is refused. */
  remove(path: string, options: { readonly recursive: boolean }): Promise<void>;
}

/**
 * What holds a command. `reader`: nobody was asked, so it changes and sends nothing. `workspace`: a rule or a person allowed it.
 * `outside`: a person agreed to this one call without a sandbox, or the user switched the sandbox off.
 */
export type Confinement = "reader" | "workspace" | "outside";

/** Written to a program that has ended, a line is lost. */
export interface ProcessInput {
  write(text: string): void;
  end(): void;
}

export interface ProcessSpec {
  readonly file: string;
  readonly args: readonly string[];
  /** Relative to the workspace root; must be inside it. */
  readonly cwd?: string;
  /** Added to the allowlisted environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Instead of `stdin`, for a program that is spoken to while it runs. Called once, when it has started. */
  readonly onStdin?: (stdin: ProcessInput) => void;
  readonly timeoutMs: number;
  /** How long it has between the polite signal and the last one when it is stopped. Default: a moment. */
  readonly termGraceMs?: number;
  /** What holds it. The gate sets it from who allowed the call; a tool has no say in it. Absent: `reader`. */
  readonly confinement?: Confinement;
  /**
   * A program of ours that only reads, with arguments of ours: the search. It sees the workspace and nothing of the machine. `cwd` is
   * then as `locate` gives it: a link in it is refused.
   */
  readonly ownProgram?: true;
  /** A person allowed this very command to change steering files, such as git's configuration. Only the gate sets it. */
  readonly mayChangeSteering?: true;
  /**
   * The program only starts another one in a PID namespace and watches it, as bubblewrap does, and writes its status
   * lines (`child-pid`, `exit-code`) to descriptor 3. A polite signal goes past it, and it did not start the other one
   * when it ends without an exit code there.
   */
  readonly monitor?: true;
  /** What the program reads from the descriptors 5, 6 and so on: files without a name. */
  readonly inputs?: readonly Uint8Array[];
  /** Called with the process that waits at the gate of a monitored program, before it passes. What it throws stops the command. */
  readonly onWaiting?: (pid: number) => void;
  /** The same with the first process of its namespace. */
  readonly onMade?: (pid: number) => void;
  /** Called once it runs. It goes on beside the turns: it ends with this process, also when that is killed. */
  readonly onStarted?: () => void;
  /** Called with each chunk as it arrives. */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Buffer) => void;
}

export interface ProcessExit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** `output`: it printed more than its confinement allows. */
  readonly ended: "exit" | "timeout" | "cancelled" | "output";
  readonly durationMs: number;
  /** One line about its confinement, for whoever reads the result. */
  readonly note?: string;
  /** The time that it had, where its confinement gave it less than was asked for. */
  readonly timeoutMs?: number;
}

/** Runs programs in their own process group; timeout, cancel and the end of this process end the whole group. */
export interface ProcessPort {
  /** Rejects only with an `EffectError` (`NotFound`, `OutsideWorkspace`, `SpawnFailed`); an exit code is a result. */
  run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessExit>;
}

export interface WebRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Sends `authorization` and `cookie` too, to the first host only; without it they are dropped. */
  readonly credentials?: boolean;
  /** Whether a redirect may lead to another host; each hop is checked either way. Default: refused. */
  readonly otherHosts?: boolean;
  /** Asked with each redirect before anything is done about it; what it rejects with refuses the request. */
  readonly onHop?: (url: string) => Promise<void>;
}

export interface WebPost extends WebRequest {
  readonly body: Uint8Array;
}

export interface WebResponse {
  readonly status: number;
  /** After redirects. */
  readonly url: string;
  readonly contentType: string;
  /** Names in lower case; repeated ones are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The body went past `maxBytes` and was cut there. */
  readonly truncated: boolean;
}

/** Public addresses only, and those a policy names; every hop is resolved, checked and then connected to by address. */
export interface WebPort {
  /**
   * Rejects with an `EffectError` (`AddressRefused`, `SandboxRefused`, `TooManyRedirects`, `Timeout`, `NetworkFailed`,
   * `InvalidUrl`).
   */
  get(request: WebRequest, signal: AbortSignal): Promise<WebResponse>;
  /** As `get`. A redirect that asks for a GET gets one; the body never goes to another host. */
  post(request: WebPost, signal: AbortSignal): Promise<WebResponse>;
}

/** What a tool may touch, bound to one workspace. */
export interface EffectPorts {
  readonly files: FilePort;
  readonly processes: ProcessPort;
  readonly web: WebPort;
  readonly servers: ServerPort;
  readonly memory: MemoryPort;
  /** Absent outside a call of a session. */
  readonly model?: ModelPort;
}

/** What a program's name means on this machine right now, so that it can be told later whether it still means the same. */
export interface ProgramFacts {
  /** Path, device, inode, size and time of the file that the name would start; `absent` when there is none. */
  program(name: string, cwd: string): string;
  /** Hash of the environment that a child gets. */
  environment(): string;
}
