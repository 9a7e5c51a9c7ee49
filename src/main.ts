/** The program's entry: real ports, argv, exit code. Started by `bin/harness`. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSystemClock } from "#base";
import { createTerminal, runCli } from "#cli";
import { buildInfo } from "./build-info.ts";

/** Both `src/` and `dist/` are one folder below the package root. */
const packageRoot = dirname(dirname(fileURLToPath(import.meta.url)));

export async function main(): Promise<void> {
  // An orderly exit runs the handlers that end what tools have started.
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.once(signal, () => process.exit(code));
  }
  process.exitCode = await runCli(process.argv.slice(2), {
    terminal: createTerminal(process),
    env: process.env,
    cwd: process.cwd(),
    clock: createSystemClock(),
    build: buildInfo(packageRoot),
    scenariosDir: join(packageRoot, "scenarios"),
  });
}
