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
import { quietCliPorts, quietScreen } from "./quiet-cli-ports.ts";

/** What the program starts of itself. */
const program = join(dirname(dirname(launcher)), "dist");

/** As `runCli` of `cli-process.ts`. Standard input is what is given, or empty. With `keys` somebody answers each question with the next one. */
export async function callCli(
  home: CliHome,
  args: readonly string[],
  stdin = "",
  keys?: readonly string[],
): Promise<CliResult> {
  const left = [...(keys ?? [])];
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
      inputIsPiped: keys === undefined,
      interactive: keys !== undefined,
      ask: (question) =>
        question({
          ...quietScreen(said),
          readKey: async (prompt) => {
            const key = left.shift();
            said.err += `${prompt}${key ?? ""}\n`;
            return key === undefined ? { kind: "end" } : { kind: "key", key };
          },
          readAnswer: async () => {
            const text = left.shift();
            return text === undefined ? { kind: "end" } : { kind: "line", text };
          },
        }),
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
