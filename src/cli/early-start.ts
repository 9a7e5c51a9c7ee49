/** `harness` alone on a terminal: the screen is there before the program has loaded, unless lines are wanted. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { harnessPaths } from "#stores/keys";
import { createProcessScreen, takeScreenEarly, themes } from "#tui";
import type { CliPorts } from "./cli-ports.ts";
import type { Terminal } from "./terminal.ts";

/** Of the event loop: after so many, what waits at the terminal has been read. */
const INPUT_ROUNDS = 3;

/** Resolves when what was typed already is on the screen: the rest takes a tenth of a second to load. */
export async function startedEarly(ports: CliPorts): Promise<CliPorts> {
  if (!mayStartEarly(ports)) return ports;
  const started = startEarly(ports);
  for (let round = 0; round < INPUT_ROUNDS; round++) await setImmediate();
  return started;
}

/** Whether the user's configuration may ask for lines; what it says exactly is read later. */
function mayStartEarly({ terminal, env }: Pick<CliPorts, "terminal" | "env">): boolean {
  if (!terminal.canDraw) return false;
  const file = join(harnessPaths(env).configDir, "config.toml");
  return !existsSync(file) || !readFileSync(file, "utf8").includes("plain");
}

/** The ports to go on with: whatever is said or asked before the interface has taken over gives the terminal back first. */
function startEarly<Ports extends Pick<CliPorts, "terminal" | "env" | "crash">>(
  ports: Ports,
): Ports & Pick<CliPorts, "early"> {
  const { terminal } = ports;
  const early = takeScreenEarly(createProcessScreen(process), themes[terminal.colour ? "dark" : "none"], () => {
    process.kill(process.pid, "SIGINT");
  });
  ports.crash.signal.addEventListener("abort", early.release);
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
