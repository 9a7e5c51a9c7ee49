/** What a sandbox is: a way to write a command line so that the kernel holds the program to a policy. */

/** What one command may see and touch. Every path is absolute and real, so that nothing in it is a symlink. */
export interface SandboxPolicy {
  /** The workspace: writable. */
  readonly root: string;
  /** Writable besides the workspace: the repository of a linked worktree. */
  readonly writable: readonly string[];
  /** Writable folders that cannot be renamed or replaced, because something protected is below them. Parents first. */
  readonly pinned: readonly string[];
  /** Files and folders that are there and cannot be changed. */
  readonly readOnly: readonly string[];
  /** Names that nothing may take: a placeholder stands there meanwhile, and somebody has to remove it again. */
  readonly held: readonly HeldName[];
  /** Seen as empty. */
  readonly hidden: readonly HiddenPath[];
  /** Parts of `/proc` through which root changes the kernel without any capability; made read-only. */
  readonly kernel: readonly string[];
  /** Files below a hidden folder that are needed all the same. */
  readonly shown: readonly string[];
  /** A folder of this session that the command sees as `/tmp`. */
  readonly tmp: string;
  /** What it sees in place of a hidden file. */
  readonly emptyFile: string;
  readonly network: SandboxNetwork;
}

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
  | { readonly kind: "open" }
  /** None but a loopback of its own. */
  | { readonly kind: "none" }
  /** Only through the egress proxy that listens on this socket. */
  | { readonly kind: "listed"; readonly socket: string; readonly noProxy: string };

export interface CommandLine {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
}

/** What the process port starts instead of the command. */
export interface WrappedCommand extends CommandLine {
  readonly env: Readonly<Record<string, string>>;
  readonly monitor?: true;
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
  wrap(command: CommandLine, policy: SandboxPolicy): WrappedCommand;
  /** What it does beyond the policy, one line each. */
  describe(): readonly string[];
}
