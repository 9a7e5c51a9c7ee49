/** The action for CI runs the command that its inputs ask for, with flags that the command has. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { createInProcessCli } from "./fakes/in-process-cli.ts";

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: {
    readonly steps: readonly { readonly run?: string; readonly env?: Readonly<Record<string, string>> }[];
  };
}

const action = parse(
  readFileSync(resolve(import.meta.dirname, "../.github/actions/eval/action.yml"), "utf8"),
) as Action;

test.each<[string, Record<string, string>, string[]]>([
  ["nothing", {}, []],
  [
    "everything",
    {
      path: "a b",
      config: "my harness.md",
      model: "openai:gpt-4o-mini",
      budget: "0.10",
      live: "true",
      lockfile: "x.lock",
    },
    [
      "--config",
      "my harness.md",
      "--model",
      "openai:gpt-4o-mini",
      "--budget",
      "0.10",
      "--live",
      "--lockfile",
      "x.lock",
      "a",
      "b",
    ],
  ],
  ["what would be a command", { config: "$(touch pwned).md" }, ["--config", "$(touch pwned).md"]],
])("with %s", async (_, inputs, more) => {
  const cli = createInProcessCli({ PATH: process.env.PATH ?? "" });
  const bin = join(cli.workspace, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "npx"), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  chmodSync(join(bin, "npx"), 0o755);
  const step = action.runs.steps.find(({ run }) => run !== undefined);
  const given = Object.entries(step?.env ?? {}).map(([name, value]) => {
    const input = /^\$\{\{ inputs\.(\w+) \}\}$/.exec(value)?.[1] ?? "";
    expect(action.inputs).toHaveProperty(input);
    return [name, inputs[input] ?? action.inputs[input]?.default ?? ""];
  });
  const out = execFileSync("bash", ["-e", "-o", "pipefail", "-c", step?.run ?? "false"], {
    cwd: cli.workspace,
    env: { ...Object.fromEntries(given), PATH: `${bin}:${process.env.PATH}` },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const words = out.trimEnd().split("\n");
  expect(words).toEqual(["--no", "--", "harness", "eval", "--junit", "evals.xml", "--logs", "eval-logs", ...more]);
  const { out: help } = await cli.run("eval", "--help");
  expect(words.slice(2).filter((word) => word.startsWith("--") && !help.includes(word))).toEqual([]);
});
