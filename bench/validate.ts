/**
 * `harness validate` of 20 artifacts as an installed package runs it, against a bare Node start, in turns in one run.
 * `node bench/validate.ts`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installInto } from "../test/fakes/installed-package.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const RUNS = 25;
const ARTIFACTS = 10;

export function benchValidate(): Figure[] {
  const place = mkdtempSync(join(tmpdir(), "harness-bench-validate-"));
  try {
    const program = installInto(join(place, "package"));
    const project = writeProject(join(place, "project"));
    const env = { PATH: process.env.PATH, HOME: place };
    const run = (...args: string[]): number => {
      const startMs = performance.now();
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: project, env, encoding: "utf8" });
      if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
      return performance.now() - startMs;
    };
    run(program, "validate");
    const ours: number[] = [];
    const bare: number[] = [];
    for (let n = 0; n < RUNS; n++) {
      bare.push(run("-e", "0"));
      ours.push(run(program, "validate"));
    }
    const name = `harness validate of ${2 * ARTIFACTS} artifacts, seen before`;
    return [{ name, unit: "ms", ours: median(ours), floor: median(bare), maxRatio: 2.5 }];
  } finally {
    rmSync(place, { recursive: true });
  }
}

function writeProject(folder: string): string {
  for (const kind of ["tools", "hooks"]) mkdirSync(join(folder, ".harness", kind), { recursive: true });
  writeFileSync(join(folder, "harness.md"), "---\nmodel: openai:gpt-4o\n---\n\nBe brief.\n");
  for (let n = 0; n < ARTIFACTS; n++) {
    const tool = `---\nparameters:\n  a: { type: string, required: true }\nscript: |\n  def run(args):\n      return {"a": args["a"]}\n---\n\nTool ${n}.\n`;
    const hook = `---\nevent: tool.pre\npriority: ${n}\nwhen: payload["name"] == "t${n}"\nscript: |\n  def handle(event, payload):\n      return allow()\n---\n\nHook ${n}.\n`;
    writeFileSync(join(folder, ".harness", "tools", `t${n}.md`), tool);
    writeFileSync(join(folder, ".harness", "hooks", `h${n}.md`), hook);
  }
  return folder;
}

if (import.meta.main) {
  const figures = benchValidate();
  printFigures("validate", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
