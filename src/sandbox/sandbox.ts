/** What a sandbox is: a way to write a command line so that the kernel holds the program to a policy. */
import type { ResourceLimits } from "./resource-limits.ts";

/** What one command may see and touch. Every path is absolute and real, so that nothing in it is a symlink. */
export interface SandboxPolicy {
  /** `reader`: nothing that it sees is writable but its scratch folders. */
  readonly confinement: "reader" | "workspace";
  /** The workspace. */
  readonly root: string;
  /** Parts of the machine that it sees and cannot change. What is not listed here or below is not there. Parents first. */
  readonly shown: readonly Mount[];
  /** Names of the machine that are symlinks there, such as `/bin`. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Parts of `/proc` through which root changes the kernel without any capability; made read-only. */
  readonly kernel: readonly string[];
  /** Folders for scratch files: memory of this size, or a folder of the session. */
  readonly scratch: readonly Scratch[];
  /** In scratch folders, and in the home among them: seen and not changed. */
  readonly placed: readonly Mount[];
  /** Folders that it sees and changes: the workspace and the repository of a linked worktree. Empty for the reader. */
  readonly writable: readonly string[];
  /** Writable folders that cannot be renamed or replaced, because something protected is below them. Parents first. */
  readonly pinned: readonly string[];
  /** Files and folders that are there and cannot be changed. */
  readonly readOnly: readonly string[];
  /** Files of the workspace that it sees in another version, whatever lies there. */
  readonly replaced: readonly Mount[];
  /** Names that nothing may take: a placeholder stands there meanwhile, and somebody has to remove it again. */
  readonly held: readonly HeldName[];
  /** Seen as empty: secrets, files of this program, programs that a rule denies. */
  readonly hidden: readonly HiddenPath[];
  /** What it sees in place of a hidden file. */
  readonly emptyFile: string;
  readonly network: SandboxNetwork;
  /** Whether it can make Unix sockets. */
  readonly unixSockets: boolean;
  readonly limits: ResourceLimits;
  /** It waits before its first line until it is certain to end with this program. Needs a shell; the search has none. */
  readonly gated: boolean;
  /** Where it begins. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Mount {
  readonly from: string;
  readonly to: string;
}

export type Scratch =
  | { readonly path: string; readonly sizeBytes: number; readonly mode?: string }
  | { readonly path: string; readonly from: string };

/** A protected name at which there is nothing, and what keeps it free while a command runs. */
export interface HeldName {
  readonly path: string;
  /** `folder`: an empty one, which git does not see and the sandbox makes. Otherwise a file with this content. */
  readonly placeholder: Placeholder;
}

export type Placeholder = "folder" | { readonly content: string };

export interface HiddenPath {
  readonly path: string;
  readonly kind: "file" | "directory";
}

export type SandboxNetwork =
  /** That of the machine. */
  | { readonly kind: "direct" }
  /** None but a loopback of its own. */
  | { readonly kind: "none" }
  /** The namespace of the session, whose only way out is the egress proxy. The caller enters it. */
  | { readonly kind: "session" };

export interface CommandLine {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
}

/** What the process port starts instead of the command. */
export interface WrappedCommand extends CommandLine {
  readonly env: Readonly<Record<string, string>>;
  readonly monitor?: true;
  /** What it reads from descriptor 5 on. */
  readonly inputs?: readonly Uint8Array[];
}

export interface ProbeStep {
  readonly name: string;
  readonly ok: boolean;
  /** What was found. */
  readonly detail: string;
  /** What a person can do about it; only when it is not ok. */
  readonly remedy?: string;
}

export type Probe =
  | { readonly available: true; readonly sandbox: Sandbox; readonly steps: readonly ProbeStep[] }
  | { readonly available: false; readonly why: string; readonly steps: readonly ProbeStep[] };

export interface Sandbox {
  readonly name: "bubblewrap" | "seatbelt";
  /** Names that do not exist can be kept free by something that stands there meanwhile. */
  readonly holdsNames: boolean;
  /** Absolute path of the program that makes it. */
  readonly program: string;
  wrap(command: CommandLine, policy: SandboxPolicy): WrappedCommand;
  /** What it does beyond the policy, one line each. */
  describe(): readonly string[];
}
