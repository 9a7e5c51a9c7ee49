/**
 * `node bench/skills.ts`: what 200 skills of a repository add to loading its project, with the parse cache that a packaged program
 * has and without it: at most 20 ms each.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadProject, skillList, skillsOf, trustsAll } from "#artifacts";
import { compilingChecker } from "./compiling-checker.ts";

const SKILLS = 200;
const ROUNDS = 15;
const MAX_ADDED_MS = 20;

const folder = mkdtempSync(join(tmpdir(), "harness-skills-"));
try {
  const [plain, many] = [makeProject("plain", 0), makeProject("many", SKILLS)];
  const cache = join(folder, "cache");
  const key = (): Uint8Array => new Uint8Array(32);
  const load = async (root: string, isCached: boolean): Promise<number> => {
    const start = performance.now();
    const { project } = await loadProject({
      root,
      checkerVersion: "bench",
      checker: async () => compilingChecker(),
      knownTools: [],
      trust: trustsAll,
      ...(isCached ? { cache: { folder: cache, key } } : {}),
    });
    if (project === undefined) throw new Error("the project does not load");
    skillList(skillsOf(project));
    return performance.now() - start;
  };
  for (const isCached of [true, false]) {
    const [without, withSkills] = [await best(() => load(plain, isCached)), await best(() => load(many, isCached))];
    const added = withSkills - without;
    const name = isCached ? "with the parse cache" : "without it";
    process.stdout.write(`${SKILLS} skills, ${name}: ${added.toFixed(1)} ms more\n`);
    if (added > MAX_ADDED_MS) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function best(run: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) least = Math.min(least, await run());
  return least;
}

function makeProject(name: string, skills: number): string {
  const root = join(folder, name);
  mkdirSync(root);
  writeFileSync(join(root, "AGENTS.md"), "Use tabs.\n");
  for (let index = 0; index < skills; index++) {
    const own = join(root, ".claude/skills", `skill-${index}`);
    mkdirSync(own, { recursive: true });
    const text = `---\nname: skill-${index}\ndescription: Does the task ${index} of the bench.\nlicense: MIT\n---\n\n`;
    writeFileSync(join(own, "SKILL.md"), text + "A line of instructions.\n".repeat(60));
  }
  return root;
}
