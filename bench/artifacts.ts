/**
 * `node bench/artifacts.ts`: loading a project of 1,000 artifacts in a fresh process, cold and with the parse cache; what one
 * changed artifact costs; and loading 20 artifacts, from the bundled loader, against a bare start of Node. The scripts are
 * compiled for real; what a checker finds besides is not measured here. Each figure is the best of several rounds, taken in
 * turns, so that a busy machine does not decide.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { createProjectLoader, trustsAll } from "#artifacts";
import { compilingChecker } from "./compiling-checker.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const MANY = 1000;
const FEW = 20;
const ROUNDS = 7;
const CHANGES = 41;
const COLD_LIMIT_MS = 3000;
const CACHED_LIMIT_MS = 500;
const REFRESH_LIMIT_MS = 20;
/** Of a whole `validate`, of which loading is a part. The first one ever, without the cache, is only told. */
const START_RATIO = 2.5;

const folder = mkdtempSync(join(tmpdir(), "harness-bench-"));
try {
  const figures = await measure();
  printFigures("artifacts", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(): Promise<Figure[]> {
  const many = writeProject(join(folder, "many"), MANY);
  const few = writeProject(join(folder, "few"), FEW);
  const program = await bundle();
  const cache = join(folder, "cache");
  const cold = rounds(() => wallMs([program, many]));
  wallMs([program, many, cache]);
  const cached = rounds(() => wallMs([program, many, cache]));
  // Side by side, so that a busy moment of the machine hits both.
  const pairs = Array.from({ length: ROUNDS * 3 }, () => ({
    bare: wallMs(["-e", "0"]),
    cold: wallMs([program, few]),
    cached: wallMs([program, few, cache]),
  }));
  const bare = best(pairs.map((pair) => pair.bare));
  return [
    { name: `${MANY} artifacts, cold, whole process`, unit: "ms", ours: cold, limit: COLD_LIMIT_MS },
    { name: `${MANY} artifacts, parse cache, whole process`, unit: "ms", ours: cached, limit: CACHED_LIMIT_MS },
    { name: `refresh, one of ${MANY} changed`, unit: "ms", ours: await refreshMs(many), limit: REFRESH_LIMIT_MS },
    {
      name: `${FEW} artifacts, cold, whole process`,
      unit: "ms",
      ours: best(pairs.map((pair) => pair.cold)),
      floor: bare,
    },
    {
      name: `${FEW} artifacts, parse cache, whole process`,
      unit: "ms",
      ours: best(pairs.map((pair) => pair.cached)),
      floor: bare,
      maxRatio: START_RATIO,
    },
  ];
}

async function refreshMs(project: string): Promise<number> {
  const loader = await createProjectLoader({
    root: project,
    checker: compilingChecker(),
    knownTools: [],
    trust: trustsAll,
  });
  loader.load();
  const times = Array.from({ length: CHANGES }, (_, change) => {
    writeFileSync(join(project, `.harness/hooks/hook_${change}.md`), hookText(change + 1_000_000));
    const start = performance.now();
    if (loader.refresh()?.project === undefined) throw new Error("the change was not seen");
    return performance.now() - start;
  });
  return best(times);
}

/** As the program is shipped: one file, no types to strip. */
async function bundle(): Promise<string> {
  const build = await rolldown({
    input: join(import.meta.dirname, "artifacts-child.ts"),
    platform: "node",
    logLevel: "silent",
  });
  const { output } = await build.write({ dir: join(folder, "dist"), format: "esm", minify: true });
  await build.close();
  return join(folder, "dist", output[0].fileName);
}

function rounds(run: () => number): number {
  return best(Array.from({ length: ROUNDS }, run));
}

function best(times: readonly number[]): number {
  return Math.min(...times);
}

function wallMs(args: readonly string[]): number {
  const start = performance.now();
  // As `bin/harness.cjs` does: what Node has compiled once is kept.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") };
  execFileSync(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"], env });
  return performance.now() - start;
}

function writeProject(project: string, artifacts: number): string {
  const put = (file: string, text: string): void => {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), text);
  };
  put(
    "harness.md",
    "---\nmodel: anthropic:claude-sonnet-5-5\ntools_policy:\n  allow: ['tool_*']\n---\n\nYou are careful.\n",
  );
  for (let index = 0; index < artifacts / 2; index++) {
    put(`.harness/hooks/hook_${index}.md`, hookText(index));
    put(`.harness/tools/tool_${index}.md`, toolText(index));
  }
  return project;
}

function hookText(index: number): string {
  return `---
event: tool.pre
priority: 10
when: payload["name"] == "run_command_${index}"
script: |
  def handle(event, payload):
      command = payload.get("args", {}).get("command", "")
      for pattern in ["rm -rf /", "mkfs", "dd if=", "shutdown"]:
          if pattern in command:
              return block("blocked: " + pattern)
      return allow()
---

# hook_${index}

Blocks commands that are known to destroy things.
`;
}

function toolText(index: number): string {
  return `---
parameters:
  path: { type: string, required: true, description: Where to look }
  limit: { type: integer }
timeout_ms: 30000
script: |
  def run(args):
      limit = args.get("limit", ${index})
      words = [word for word in args["path"].split("/") if len(word) > 0]
      return {"words": words[:limit], "count": len(words)}
---

# tool_${index}

Splits a path into its words. Use it when a path has to be counted.
`;
}
