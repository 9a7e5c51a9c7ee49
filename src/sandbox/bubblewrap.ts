/**
 * The Linux backend: a policy as arguments of bubblewrap. Mounts come in order and a later one covers an earlier one, so
 * what is hidden comes after what is writable. Builds command lines only; starts nothing.
 */

import { basename, dirname } from "node:path";
import { GATE_SCRIPT } from "#base";
import { EGRESS_PORT, FORWARDER } from "./egress-forwarder.ts";
import type { ResourceLimits } from "./resource-limits.ts";
import { limitArguments, limitBuiltin } from "./resource-limits.ts";
import type { CommandLine, Sandbox, SandboxPolicy } from "./sandbox.ts";

/** Where the egress proxy's socket is inside. */
const INNER_SOCKET = "/run/harness/egress.sock";
const INNER_NODE = "/run/harness/node";
const INNER_READY = "/run/harness/ready";
/** An empty read-only folder needs no room; this is the least that is given. */
const EMPTY_FOLDER_BYTES = 4096;
const RUN_FOLDER_BYTES = 16 * 1024 * 1024;

/** Where a program that is called like a shell is one. What lies elsewhere may be anybody's, also of the workspace. */
const SHELL_FOLDERS = ["/bin", "/usr/bin", "/usr/local/bin"];

const USER_NAMESPACES = {
  closed: ", own user namespace and none below it",
  own: ", own user namespace",
  none: "",
} as const;

export interface BubblewrapOptions {
  /** Absolute path of `bwrap`. */
  readonly bwrap: string;
  /** `closed`: its own user namespace, and no further ones in it. `none`: bubblewrap must then run as root. */
  readonly userNamespace: "closed" | "own" | "none";
  /** `prlimit`, which sets the limits from inside; absent: only Bash has them. */
  readonly prlimit?: string;
  readonly limits: ResourceLimits;
  /** Runs the forwarder to the egress proxy. */
  readonly node: string;
}

export function createBubblewrap(options: BubblewrapOptions): Sandbox {
  return {
    name: "bubblewrap",
    holdsNames: true,
    wrap(command, policy) {
      const inner = withGate(withForwarder(withLimits(command, options), policy));
      return {
        file: options.bwrap,
        args: [...bubblewrapArguments(policy, options), "--", inner.file, ...inner.args],
        env: environmentOf(policy),
        monitor: true,
      };
    },
    describe: () => [
      `own PID, IPC, UTS and cgroup namespace${USER_NAMESPACES[options.userNamespace]}; all capabilities dropped; no new privileges`,
      "ends with the program that started it, also when that one is killed with SIGKILL",
      options.prlimit === undefined
        ? "no resource limits for programs other than Bash: prlimit was not found"
        : `resource limits: ${limitArguments(options.limits).join(" ")}`,
    ],
  };
}

/** Everything before `--`. A pure function of the policy. */
export function bubblewrapArguments(
  policy: SandboxPolicy,
  { userNamespace, node }: Pick<BubblewrapOptions, "userNamespace"> & Partial<Pick<BubblewrapOptions, "node">>,
): string[] {
  const bind = (kind: "--bind" | "--ro-bind") => (path: string) => [kind, path, path];
  const runFolders = policy.hidden.filter(({ path }) => path === "/run");
  const hidden = policy.hidden.filter(({ path }) => path !== "/run");
  return [
    ...(userNamespace === "none" ? [] : ["--unshare-user"]),
    ...(userNamespace === "closed" ? ["--disable-userns"] : []),
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(policy.network.kind === "open" ? [] : ["--unshare-net"]),
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--json-status-fd",
    "3",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    ...policy.kernel.flatMap(bind("--ro-bind")),
    // Before the workspace, which may lie in one of them.
    ...runFolders.flatMap(({ path }) => ["--size", String(RUN_FOLDER_BYTES), "--tmpfs", path]),
    "--bind",
    policy.tmp,
    "/tmp",
    "--bind",
    policy.tmp,
    "/var/tmp",
    ...bind("--bind")(policy.root),
    ...policy.writable.flatMap(bind("--bind")),
    ...policy.pinned.flatMap(bind("--bind")),
    ...policy.readOnly.flatMap(bind("--ro-bind")),
    ...policy.held.flatMap(({ path, placeholder }) =>
      placeholder === "folder" ? emptyFolder(path) : bind("--ro-bind")(path),
    ),
    ...hidden.flatMap(({ path, kind }) =>
      kind === "directory" ? emptyFolder(path) : ["--ro-bind", policy.emptyFile, path],
    ),
    ...policy.shown.flatMap(bind("--ro-bind")),
    ...(policy.network.kind === "listed" ? ["--ro-bind", policy.network.socket, INNER_SOCKET] : []),
    // Wherever the program is installed, also where commands see nothing of it.
    ...(policy.network.kind === "listed" && node !== undefined ? ["--ro-bind", node, INNER_NODE] : []),
  ];
}

/** Mounting memory costs a tenth of a read-only bind. Whoever changes the mode of it writes into thin air. */
function emptyFolder(path: string): string[] {
  return ["--perms", "0555", "--size", String(EMPTY_FOLDER_BYTES), "--tmpfs", path];
}

/** Bash sets them itself, which spares a program; the others are started by one that does. */
function withLimits(command: CommandLine, { prlimit, limits }: BubblewrapOptions): CommandLine {
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

/** The command waits until the forwarder listens; without one it does not run. */
function withForwarder(command: CommandLine, { network }: SandboxPolicy): CommandLine {
  if (network.kind !== "listed") return command;
  const script = [
    `mkfifo ${INNER_READY} || exit 126`,
    `"$1" -e "$2" ${EGRESS_PORT} ${INNER_SOCKET} > ${INNER_READY} < /dev/null &`,
    `read -r ready < ${INNER_READY} || { echo "the way to the egress proxy did not open" >&2; exit 126; }`,
    'shift 2; exec "$@"',
  ].join("\n");
  return { file: "/bin/sh", args: ["-c", script, "sh", INNER_NODE, FORWARDER, command.file, ...command.args] };
}

function environmentOf({ network }: SandboxPolicy): Record<string, string> {
  const scratch = {
    TMPDIR: "/tmp",
    // The home folder is read-only; what would be cached there goes where the session's other scratch files are.
    XDG_CACHE_HOME: "/tmp/.cache",
    npm_config_cache: "/tmp/.cache/npm",
  };
  if (network.kind !== "listed") return scratch;
  const proxy = `http://127.0.0.1:${EGRESS_PORT}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
  return {
    ...scratch,
    ...Object.fromEntries(names.flatMap((name) => [name, name.toLowerCase()]).map((name) => [name, proxy])),
    NO_PROXY: network.noProxy,
    no_proxy: network.noProxy,
    NODE_USE_ENV_PROXY: "1",
  };
}
