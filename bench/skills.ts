/**
 * `node bench/skills.ts [ROUNDS]`: what 200 skills of a repository add to a start, as CPU time, so that it says something on a busy
 * machine too: to loading the project, and to a run of the bundle from its first instruction to the answer of a scripted model. Each
 * with the parse cache of an earlier start and without it, in turns with a repository that has none. At most 20 ms on a quiet machine;
 * the start of a bare Node beside them says how busy this one is.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadProject, skillList, skillsOf, trustsAll } from "#artifacts";
import { ackProject } from "../test/fakes/ack-project.ts";
import { compilingChecker } from "./compiling-checker.ts";

const SKILLS = 200;
const ROUNDS = Number(process.argv[2] ?? 15);
const MAX_ADDED_MS = 20;
const HARNESS = join(import.meta.dirname, "../bin/harness.cjs");

const folder = mkdtempSync(join(tmpdir(), "harness-skills-"));
const homes = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"] as const;
const env = {
  HOME: folder,
  PATH: process.env.PATH ?? "",
  ...Object.fromEntries(homes.map((name) => [name, join(folder, name)])),
};
const projects = join(folder, "XDG_CACHE_HOME/harness/projects");

try {
  for (const name of homes) mkdirSync(join(folder, name), { mode: 0o700 });
  const [plain, many] = [makeProject("plain", 0), makeProject("many", SKILLS)];
  for (const workspace of [plain, many]) await ackProject({ workspace, env });
  for (const isCached of [true, false]) {
    const how = isCached ? "with the parse cache" : "without it";
    await compare(`loading, ${how}`, (root) => load(root, isCached), plain, many);
  }
  for (const isCached of [true, false]) {
    const how = isCached ? "with the parse cache" : "without it: the first start after they came";
    await compare(`a run, ${how}`, (root) => start(root, isCached), plain, many);
  }
  const bare = await medianOf(() => cpuOf(["-e", "0"], folder));
  process.stdout.write(`a bare Node: ${bare.toFixed(0)} ms\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** In turns, so that both have the same machine. */
async function compare(name: string, run: (root: string) => Promise<number> | number, plain: string, many: string) {
  await run(plain);
  await run(many);
  const added = await medianOf(async () => {
    const without = await run(plain);
    return (await run(many)) - without;
  });
  process.stdout.write(`${SKILLS} skills, ${name}: ${added.toFixed(1)} ms more\n`);
  if (added > MAX_ADDED_MS) process.exitCode = 1;
}

async function medianOf(run: () => Promise<number> | number): Promise<number> {
  const all: number[] = [];
  for (let round = 0; round < ROUNDS; round++) all.push(await run());
  return all.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
}

async function load(root: string, isCached: boolean): Promise<number> {
  const before = process.cpuUsage();
  const { project } = await loadProject({
    root,
    checkerVersion: "bench",
    checker: async () => compilingChecker(),
    knownTools: [],
    trust: trustsAll,
    ...(isCached ? { cache: { folder: join(folder, "cache"), key: () => new Uint8Array(32) } } : {}),
  });
  if (project === undefined) throw new Error("the project does not load");
  skillList(skillsOf(project));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function start(root: string, isCached: boolean): number {
  if (!isCached) rmSync(projects, { recursive: true, force: true });
  return cpuOf([HARNESS, "run", "--model", "scripted:./model.yaml", "--store", "memory", "hello"], root);
}

/** Of a process with all its threads and children, as the shell that waited for it knows it. */
function cpuOf(args: readonly string[], cwd: string): number {
  const { stdout, stderr } = spawnSync(
    "bash",
    ["-c", '"$@" > "$0" && times', join(folder, "output"), process.execPath, ...args],
    {
      ...{ cwd, env },
      encoding: "utf8",
    },
  );
  const [, children = ""] = stdout.split("\n");
  const times = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  if (times.length === 0) throw new Error(stderr);
  return 1000 * times.reduce((sum, one) => sum + one, 0);
}

function makeProject(name: string, skills: number): string {
  const root = join(folder, name);
  mkdirSync(root);
  writeFileSync(join(root, "AGENTS.md"), "Use tabs.\n");
  writeFileSync(join(root, "model.yaml"), "name: bench\nrules: []\notherwise: [{ text: Done. }]\n");
  for (let index = 0; index < skills; index++) {
    const own = join(root, ".claude/skills", `skill-${index}`);
    mkdirSync(own, { recursive: true });
    const text = `---\nname: skill-${index}\ndescription: Does the task ${index} of the bench.\nlicense: MIT\n---\n\n`;
    writeFileSync(join(own, "SKILL.md"), text + "A line of instructions.\n".repeat(60));
  }
  return root;
}
