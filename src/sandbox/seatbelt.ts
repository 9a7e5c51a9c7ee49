/**
 * The macOS backend: a policy as a profile of `sandbox-exec`. Untested: it was written from the profile language's
 * documented forms and has not run on a Mac. It has no PID namespace, so a process that leaves the group can outlive the
 * command, and it does not let a domain list through: with one, a command has no network.
 */
import type { Sandbox, SandboxPolicy } from "./sandbox.ts";

export function createSeatbelt(program: string): Sandbox {
  return {
    name: "seatbelt",
    holdsNames: false,
    wrap: (command, policy) => ({
      file: program,
      args: ["-p", seatbeltProfile(policy), command.file, ...command.args],
      env: { TMPDIR: policy.tmp },
    }),
    describe: () => [
      "a profile of sandbox-exec (untested)",
      "no PID namespace: a process that leaves its group can outlive the command",
      "with a list of domains there is no network at all",
      "no resource limits",
    ],
  };
}

/** A later rule wins, so what is protected comes after what is writable. A pure function of the policy. */
export function seatbeltProfile(policy: SandboxPolicy): string {
  const below = (path: string): string => `(subpath ${quoted(path)})`;
  const list = (paths: readonly string[]): string => paths.map(below).join(" ");
  const deny = (what: string, paths: readonly string[]): string[] =>
    paths.length === 0 ? [] : [`(deny ${what} ${list(paths)})`];
  const fixed = policy.pinned.map((path) => `(literal ${quoted(path)})`).join(" ");
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* ${list([policy.root, policy.tmp, ...policy.writable])} (literal "/dev/null") (literal "/dev/tty"))`,
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
    ...(policy.network.kind === "open" ? [] : ["(deny network*)"]),
    "",
  ].join("\n");
}

/** A quote or a backslash in a path must not end the string. */
function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, "\\$&")}"`;
}
