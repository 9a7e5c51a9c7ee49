/**
 * Variables that make a program run or load something before its own first line: of the linker and of shells. The sandbox is itself
 * started by programs, outside and before it holds; so these are not in its environment, but are set inside, for the command alone.
 */
import type { CommandLine } from "./sandbox.ts";

const STEERING =
  /^(?:LD_|DYLD_|OBJC_|GLIBC_|MALLOC_|Malloc[A-Z]|BASH|GCONV_PATH$|GETCONF_DIR$|LOCPATH$|NLSPATH$|ENV$|IFS$|PS4$|SHELLOPTS$|SHLVL$)/;

/** A name that a shell cannot take (an exported function) ends it before the command. */
const SET_AND_RUN = 'while [ "$1" != -- ]; do export "$1" || exit 126; shift; done; shift; exec "$@"';

export interface SteeredCommand {
  readonly command: CommandLine;
  /** What is left, for the environment of the sandbox. */
  readonly env: Readonly<Record<string, string>>;
}

export function setInside(command: CommandLine, env: Readonly<Record<string, string>> = {}): SteeredCommand {
  const steering = Object.entries(env).filter(([name]) => STEERING.test(name));
  if (steering.length === 0) return { command, env };
  const settings = steering.map(([name, value]) => `${name}=${value}`);
  return {
    command: { file: "/bin/sh", args: ["-c", SET_AND_RUN, "sh", ...settings, "--", command.file, ...command.args] },
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !STEERING.test(name))),
  };
}
