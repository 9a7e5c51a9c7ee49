/** The program's entry: real ports, argv, exit code. Started by `bin/harness`. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSystemClock } from "#base";
import { createTerminal, runCli } from "#cli";
import { buildInfo } from "./build-info.ts";

/** Both `src/` and `dist/` are one folder below the package root. */
const packageRoot = dirname(dirname(fileURLToPath(import.meta.url)));

const STOP_GRACE_MS = 2000;

export async function main(): Promise<void> {
  let stopping: number | undefined;
  let endsWhenStopped = false;
  let stopGraceMs = STOP_GRACE_MS;
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.once(signal, () => {
      stopping = code;
      stop(code, stopGraceMs);
    });
  }
  const code = await runCli(process.argv.slice(2), {
    terminal: createTerminal(process),
    env: process.env,
    cwd: process.cwd(),
    clock: createSystemClock(),
    build: buildInfo(packageRoot),
    scenariosDir: join(packageRoot, "scenarios"),
    templatesDir: join(packageRoot, "templates"),
    endsWhenStopped: (graceMs = STOP_GRACE_MS) => {
      endsWhenStopped = true;
      stopGraceMs = graceMs;
    },
  });
  process.exitCode = endsWhenStopped ? code : (stopping ?? code);
}

/** As two Ctrl-C: the turn is cancelled and recorded, then the program leaves. What does not leave is ended. */
function stop(code: number, graceMs: number): void {
  // An orderly exit runs the handlers that end what tools have started.
  setTimeout(() => process.exit(code), graceMs).unref();
  if (!process.emit("SIGINT")) process.exit(code);
  setTimeout(() => process.emit("SIGINT"), graceMs / 2).unref();
}
