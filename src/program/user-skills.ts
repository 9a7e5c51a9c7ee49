/**
 * Skills from outside a project: those that ship with the program, then packs that a profile names, then `skills/*\/SKILL.md` of the
 * configuration folder.
 */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadSkillReader, type OwnSkills, type SkillOrigin } from "#artifacts";
import { errnoOf, messageOf } from "#base";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#stores/keys";
import { ownText } from "./own-file.ts";
import type { ProjectPorts } from "./ports.ts";
import { BUILT_IN_PACK, skillPack } from "./profile-files.ts";

const MAX_SKILLS = 200;

/** A cheap look, so that a plain folder costs nothing. */
export function hasUserSkills({ env, skillsDir }: ProjectPorts, packs: readonly string[] = []): boolean {
  return skillsDir !== undefined && (packs.some((pack) => pack !== BUILT_IN_PACK) || existsSync(userFolder(env)));
}

/** Read once, when the project is opened. Rejects with ConfigInvalid for a file of the user that others may write. */
export async function loadOwnSkills(
  { env, skillsDir }: ProjectPorts,
  packs: readonly string[] = [BUILT_IN_PACK],
): Promise<OwnSkills | undefined> {
  if (skillsDir === undefined) return undefined;
  const named = packs.map((pack) =>
    pack === BUILT_IN_PACK
      ? readSkills(skillsDir, "built-in", (file) => readFile(file, "utf8"))
      : readSkills(skillPack(env, pack), "user", ownText),
  );
  const all = (await Promise.all([...named, readSkills(userFolder(env), "user", ownText)])).flat();
  return {
    files: all.flatMap(({ files }) => files),
    leftOut: all.flatMap(({ leftOut }) => leftOut),
    problems: all.flatMap(({ problems }) => problems),
  };
}

function userFolder(env: ProjectPorts["env"]): string {
  return join(harnessPaths(env).configDir, "skills");
}

async function readSkills(
  folder: string,
  origin: SkillOrigin,
  read: (file: string) => Promise<string | undefined>,
): Promise<readonly OwnSkills[]> {
  const names = (await namesIn(folder)).filter((name) => !name.startsWith(".")).toSorted();
  if (names.length === 0) return [];
  const readSkill = await loadSkillReader();
  const found = await Promise.all(
    names.slice(0, MAX_SKILLS).map(async (name) => {
      const file = join(folder, name, "SKILL.md");
      const text = await read(file);
      return text === undefined ? [] : [readSkill(file, text, origin)];
    }),
  );
  return [...found.flat(), ...(names.length > MAX_SKILLS ? [tooMany(folder)] : [])];
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw new ReasonError("ConfigInvalid", `cannot read ${folder}: ${messageOf(error)}`);
  }
}

function tooMany(folder: string): OwnSkills {
  const place = { file: folder, line: 1, column: 1 };
  const message = `Harness reads only the first ${MAX_SKILLS} skills of this folder. Remove some.`;
  return { files: [], leftOut: [], problems: [{ severity: "warning", code: "too-many", place, message }] };
}
