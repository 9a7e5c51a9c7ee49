/**
 * `node bench/sandbox-kills.ts [kills]`: engines killed with SIGKILL at moments spread over the start of a command in the sandbox. None
 * may leave a process.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killWhileBeginning } from "../test/fakes/killed-engine.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const kills = Number(process.argv[2] ?? 200);
const root = realpathSync(mkdtempSync(join(tmpdir(), "harness-bench-")));
const left = await killWhileBeginning(root, kills);
rmSync(root, { recursive: true, force: true });
for (const pids of left) process.stdout.write(`LEFT: ${pids.join(" ")}\n`);
const figures: Figure[] = [
  { name: "kills", unit: "", ours: kills },
  { name: "kills that left a process", unit: "", ours: left.length, limit: 0 },
];
printFigures("sandbox kills", figures);
process.exitCode = figures.every(holds) ? 0 : 1;
