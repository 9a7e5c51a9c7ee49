/**
 * The program called in this process, in a home of `createCliHome`: for what a command does and prints. Whatever is about its
 * process (signals, pipes, exit, a terminal, concealed keys) starts one, as `cli-process.ts` does.
 */
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { runCli } from "#cli";
import { createEnvironmentKeys } from "#credentials";
import { createSystemClock } from "#world";
import { programCredentials } from "../../src/program/credentials.ts";
import type { CliHome, CliResult } from "./cli-process.ts";
import { launcher } from "./launcher.ts";
import { quietCliPorts } from "./quiet-cli-ports.ts";

/** What the program starts of itself. */
const program = join(dirname(dirname(launcher)), "dist");

/** As `runCli` of `cli-process.ts`. Standard input is what is given, or empty. */
export async function callCli(home: CliHome, args: readonly string[], stdin = ""): Promise<CliResult> {
  const said = { out: "", err: "" };
  const env: Record<string, string> = { ...home.env };
  const clock = createSystemClock();
  const credentials = programCredentials({
    env,
    keys: createEnvironmentKeys(env, undefined),
    clock,
    file: join(program, "credential-helper.js"),
  });
  onTestFinished(() => credentials.close());
  const ports = quietCliPorts(said, {
    env,
    cwd: home.workspace,
    clock,
    credentials,
    programFile: join(program, "main.js"),
    terminal: {
      inputIsPiped: true,
      columns: Number.POSITIVE_INFINITY,
      readAll: async () => stdin,
      async *readLines() {
        yield* stdin.split("\n");
      },
      async *readChunks() {
        yield stdin;
      },
      outDrained: async (text) => {
        said.out += text;
      },
    },
  });
  const code = await runCli(args, ports);
  credentials.close();
  return { code, ...said };
}
