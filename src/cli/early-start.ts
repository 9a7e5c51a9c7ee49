/** `harness` alone on a terminal: the screen is there before the program has loaded, unless lines are wanted. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { harnessPaths } from "#stores/keys";
import { createProcessScreen, takeScreenEarly, themes } from "#tui";
import type { CliPorts } from "./cli-ports.ts";
import type { Terminal } from "./terminal.ts";

/** Whether the user's configuration may ask for lines; what it says exactly is read later. */
export function mayStartEarly({ terminal, env }: Pick<CliPorts, "terminal" | "env">): boolean {
  if (!terminal.canDraw) return false;
  const file = join(harnessPaths(env).configDir, "config.toml");
  return !existsSync(file) || !readFileSync(file, "utf8").includes("plain");
}

/** The ports to go on with: whatever is said or asked before the interface has taken over gives the terminal back first. */
export function startEarly<Ports extends Pick<CliPorts, "terminal" | "env">>(
  ports: Ports,
): Ports & Pick<CliPorts, "early"> {
  const { terminal } = ports;
  const early = takeScreenEarly(createProcessScreen(process), themes[terminal.colour ? "dark" : "none"], () => {
    process.kill(process.pid, "SIGINT");
  });
  const released = <Name extends "out" | "err" | "ask" | "readLine" | "readSecret">(name: Name): Terminal[Name] => {
    const method = terminal[name] as (...args: unknown[]) => unknown;
    return ((...args: unknown[]) => {
      early.release();
      return method(...args);
    }) as Terminal[Name]; // the same arguments, the same result
  };
  const own = {
    out: released("out"),
    err: released("err"),
    ask: released("ask"),
    readLine: released("readLine"),
    readSecret: released("readSecret"),
  };
  return { ...ports, early, terminal: { ...terminal, ...own } };
}
