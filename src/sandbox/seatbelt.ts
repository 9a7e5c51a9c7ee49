/**
 * The macOS backend: a policy as a profile of `sandbox-exec`. Untested: it was written from the profile language's documented forms and
 * has not run on a Mac. It mounts nothing, so the home and the scratch folder are named by variables; it has no PID namespace, so a
 * process that leaves the group can outlive the command; and it has no way to the egress proxy: a command has no network at all.
 */
import { defined } from "#base";
import type { Sandbox, SandboxPolicy } from "./sandbox.ts";

/** Programs, libraries and settings of the system. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/System", "/Library", "/private/etc", "/opt/homebrew", "/dev"];

export function createSeatbelt(program: string): Sandbox {
  return {
    name: "seatbelt",
    holdsNames: false,
    program,
    wrap: (command, policy) => ({
      file: program,
      args: ["-p", seatbeltProfile(policy), command.file, ...command.args],
      env: { ...policy.env, ...scratchVariables(policy) },
    }),
    describe: () => [
      "a profile of sandbox-exec (untested)",
      "no PID namespace: a process that leaves its group can outlive the command",
      "no network at all",
      "no resource limits",
    ],
  };
}

/** Where the scratch folders of the session really are; the reader has none. */
function scratchVariables({ scratch, env }: SandboxPolicy): Record<string, string> {
  const folderOf = (path: string | undefined): string | undefined =>
    scratch.flatMap((one) => ("from" in one && one.path === path ? [one.from] : []))[0];
  const tmp = folderOf("/tmp");
  const home = folderOf(env.HOME);
  return { ...defined({ TMPDIR: tmp, HOME: home }) };
}

/** A later rule wins, so what is protected comes after what is writable. A pure function of the policy. */
export function seatbeltProfile(policy: SandboxPolicy): string {
  const below = (path: string): string => `(subpath ${quoted(path)})`;
  const list = (paths: readonly string[]): string => paths.map(below).join(" ");
  const deny = (what: string, paths: readonly string[]): string[] =>
    paths.length === 0 ? [] : [`(deny ${what} ${list(paths)})`];
  const scratch = policy.scratch.flatMap((one) => ("from" in one ? [one.from] : []));
  const writable = [...policy.writable, ...scratch];
  const readable = [...SYSTEM, ...[...policy.shown, ...policy.placed].map(({ from }) => from), ...writable];
  const fixed = policy.pinned.map((path) => `(literal ${quoted(path)})`).join(" ");
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-read-data file-write* network*)",
    `(allow file-read* ${list(readable)})`,
    '(allow file-write* (literal "/dev/null") (literal "/dev/tty"))',
    ...(writable.length === 0 ? [] : [`(allow file-write* ${list(writable)})`]),
    ...deny("file-write*", [...policy.readOnly, ...policy.held.map(({ path }) => path)]),
    ...(fixed === "" ? [] : [`(deny file-write-unlink ${fixed})`]),
    // To connect to a socket is neither reading nor writing it.
    ...deny(
      "file-read* file-write* network-outbound",
      policy.hidden.map(({ path }) => path),
    ),
    "(deny process-info* (target others))",
    "(deny signal (target others))",
    "(allow signal (target same-sandbox))",
    ...(policy.network.kind === "direct" ? ["(allow network*)"] : []),
    "",
  ].join("\n");
}

/** A quote or a backslash in a path must not end the string. */
function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, "\\$&")}"`;
}
