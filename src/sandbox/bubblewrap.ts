/**
 * The Linux backend: a policy as arguments of bubblewrap. It begins with nothing and mounts what the policy shows; a later mount covers
 * an earlier one, so what is hidden comes last. Builds command lines only; starts nothing.
 */
import { basename, dirname } from "node:path";
import { GATE_SCRIPT } from "#world";
import type { ResourceLimits } from "./resource-limits.ts";
import { limitArguments, limitBuiltin, withinOwnLimits } from "./resource-limits.ts";
import type { CommandLine, Mount, Sandbox, SandboxPolicy, Scratch } from "./sandbox.ts";
import { type FilteredProcessor, seccompProgram } from "./seccomp.ts";

/** An empty read-only folder needs no room; this is the least that is given. */
const EMPTY_FOLDER_BYTES = 4096;
const SHARED_MEMORY_BYTES = { reader: 16 * 1024 ** 2, workspace: 1024 ** 3 };
/** Where bubblewrap reads its arguments, which every program inside could read from its command line otherwise, and the filter. */
const ARGUMENTS_DESCRIPTOR = 5;
const FILTER_DESCRIPTOR = 6;

/** Where a program that is called like a shell is one. What lies elsewhere may be anybody's, also of the workspace. */
const SHELL_FOLDERS = ["/bin", "/usr/bin", "/usr/local/bin"];

export interface BubblewrapOptions {
  /** Absolute path of `bwrap`. */
  readonly bwrap: string;
  /** `closed`: its own user namespace, and no further ones in it. `none`: bubblewrap must then run as root. */
  readonly userNamespace: "closed" | "own" | "none";
  /** `prlimit`, which sets the limits from inside; absent: only Bash has them. */
  readonly prlimit?: string;
  readonly processor: FilteredProcessor;
}

export function createBubblewrap(options: BubblewrapOptions): Sandbox {
  const filters = new Map<boolean, Buffer>();
  const filterOf = (unixSockets: boolean): Buffer => {
    const known = filters.get(unixSockets) ?? seccompProgram({ processor: options.processor, unixSockets });
    filters.set(unixSockets, known);
    return known;
  };
  return {
    name: "bubblewrap",
    holdsNames: true,
    program: options.bwrap,
    wrap(command, policy) {
      const { gated } = policy;
      const inner = gated ? withGate(withLimits(command, options, withinOwnLimits(policy.limits))) : command;
      const mounts = Buffer.from(
        bubblewrapArguments(policy, options)
          .map((word) => `${word}\0`)
          .join(""),
      );
      const files = ["--args", String(ARGUMENTS_DESCRIPTOR), "--seccomp", String(FILTER_DESCRIPTOR)];
      return {
        file: options.bwrap,
        args: [...(gated ? ["--json-status-fd", "3"] : []), ...files, "--", inner.file, ...inner.args],
        env: policy.env,
        ...(gated && { monitor: true }),
        inputs: [mounts, filterOf(policy.unixSockets)],
      };
    },
    describe: () => [
      `separate PID, IPC, UTS and cgroup namespaces${USER_NAMESPACES[options.userNamespace]}; all capabilities dropped; no new privileges`,
      "a system call filter with a list of allowed socket families",
      "ends when Harness ends, even if Harness is killed with SIGKILL",
      ...(options.prlimit === undefined
        ? ["no resource limits for programs other than Bash: prlimit was not found"]
        : []),
    ],
  };
}

const USER_NAMESPACES = {
  closed: ", separate user namespace, no nested user namespaces",
  own: ", separate user namespace",
  none: "",
} as const;

/** Namespaces and mounts. A pure function of the policy. */
export function bubblewrapArguments(
  policy: SandboxPolicy,
  { userNamespace }: Pick<BubblewrapOptions, "userNamespace">,
): string[] {
  const bind = (kind: "--bind" | "--ro-bind") => (path: string) => [kind, path, path];
  const show = ({ from, to }: Mount) => ["--ro-bind", from, to];
  return [
    // A session's network namespace is entered with its user namespace; a new one in it is still this user's.
    ...(userNamespace === "none" ? [] : ["--unshare-user"]),
    ...(userNamespace === "closed" ? ["--disable-userns"] : []),
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(policy.network.kind === "none" ? ["--unshare-net"] : []),
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    ...policy.shown.flatMap(show),
    ...policy.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    "--dev",
    "/dev",
    "--size",
    String(SHARED_MEMORY_BYTES[policy.confinement]),
    "--perms",
    "1777",
    "--tmpfs",
    "/dev/shm",
    "--remount-ro",
    "/dev",
    "--proc",
    "/proc",
    ...policy.kernel.flatMap(bind("--ro-bind")),
    ...inOrder([
      ...policy.scratch.map((one) => ({ path: one.path, words: scratchFolder(one) })),
      ...policy.placed.map((one) => ({ path: one.to, words: show(one) })),
    ]),
    ...policy.writable.flatMap(bind("--bind")),
    ...policy.pinned.flatMap(bind("--bind")),
    ...policy.readOnly.flatMap(bind("--ro-bind")),
    ...policy.replaced.flatMap(show),
    ...policy.held.flatMap(({ path, placeholder }) =>
      placeholder === "folder" ? emptyFolder(path) : bind("--ro-bind")(path),
    ),
    ...policy.hidden.flatMap(({ path, kind }) =>
      kind === "directory" ? emptyFolder(path) : ["--ro-bind", policy.emptyFile, path],
    ),
    // What bubblewrap begins with is memory that a command could fill.
    "--remount-ro",
    "/",
    "--chdir",
    policy.cwd,
  ];
}

/** A folder before what is in it: the shorter path is never the inner one. */
function inOrder(mounts: readonly { readonly path: string; readonly words: readonly string[] }[]): string[] {
  return mounts.toSorted((a, b) => a.path.length - b.path.length).flatMap(({ words }) => words);
}

function scratchFolder(scratch: Scratch): string[] {
  if ("from" in scratch) return ["--bind", scratch.from, scratch.path];
  const { path, sizeBytes, mode } = scratch;
  return [...(mode === undefined ? [] : ["--perms", mode]), "--size", String(sizeBytes), "--tmpfs", path];
}

/** Mounting memory costs a tenth of a read-only bind. Whoever changes the mode of it writes into thin air. */
function emptyFolder(path: string): string[] {
  return ["--perms", "0555", "--size", String(EMPTY_FOLDER_BYTES), "--tmpfs", path];
}

/** Bash sets them itself, which spares a program; the others are started by one that does. */
function withLimits(command: CommandLine, { prlimit }: BubblewrapOptions, limits: ResourceLimits): CommandLine {
  if (isScriptOf(["bash"], command)) return beginWith(limitBuiltin(limits), command);
  if (prlimit === undefined) return command;
  return { file: prlimit, args: [...limitArguments(limits), "--", command.file, ...command.args] };
}

/** Outermost: whatever it starts begins only when it is sure to end with this program. A shell waits there itself. */
function withGate(command: CommandLine): CommandLine {
  if (isScriptOf(["bash", "sh"], command)) return beginWith(GATE_SCRIPT, command);
  return beginWith(GATE_SCRIPT, { file: "/bin/sh", args: ["-c", 'exec "$@"', "sh", command.file, ...command.args] });
}

/** Whether what follows `-c` is the script, and a shell of the system reads it: an option there comes before the script. */
function isScriptOf(shells: readonly string[], { file, args: [flag, script] }: CommandLine): boolean {
  const isShell = shells.includes(basename(file)) && SHELL_FOLDERS.includes(dirname(file));
  return isShell && flag === "-c" && script !== undefined && !/^[-+]/.test(script);
}

function beginWith(line: string, { file, args: [flag = "-c", script = "", ...rest] }: CommandLine): CommandLine {
  return { file, args: [flag, `${line}; ${script}`, ...rest] };
}
