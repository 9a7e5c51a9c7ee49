/** Where profiles, permission presets and packs of skills lie, and what their files say. A profile is found by its name, or by a path. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { isProfileName, optionalFiles, type Profile, type ProfileScope, type Project } from "#artifacts";
import { errnoOf, ifThere, messageOf, nearestName, visibleLine } from "#base";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#stores/keys";
import { OWN_FILE_MAX_BYTES, ownText } from "./own-file.ts";
import type { ProgramPorts } from "./ports.ts";

const ENDING = ".toml";
const LISTED_MAX = 200;
const PROJECT_FOLDER = ".harness/profiles";
/** The pack of skills that ship with the program. */
export const BUILT_IN_PACK = "builtin";

export type ProfilePorts = Pick<ProgramPorts, "env" | "cwd" | "profilesDir">;
type FolderPorts = Omit<ProfilePorts, "cwd">;

export interface KnownProfile {
  readonly name: string;
  readonly scope: ProfileScope;
}

/** The profiles that a project brings. */
export interface ProjectProfiles {
  names(): readonly string[];
  find(name: string): { readonly file: string; readonly text: string } | undefined;
  /** Why one that is there has no effect. */
  leftOut(name: string): string | undefined;
  isDenied(name: string): boolean;
}

export interface ProfileFile {
  readonly file: string;
  readonly text: string;
  readonly stem: string;
  readonly source: string;
  readonly scope: ProfileScope;
}

/** Built-in ones first, then those of the user, then those of the project. A name counts once. Throws ConfigInvalid. */
export function knownProfiles(ports: FolderPorts, ofProject?: ProjectProfiles): readonly KnownProfile[] {
  const found = [
    ...namesIn(ports.profilesDir).map((name) => ({ name, scope: "built-in" as const })),
    ...namesIn(userFolder(ports.env, "profiles")).map((name) => ({ name, scope: "user" as const })),
    ...(ofProject?.names() ?? []).map((name) => ({ name, scope: "project" as const })),
  ];
  return found.filter(({ name }, index) => found.findIndex((one) => one.name === name) === index).slice(0, LISTED_MAX);
}

/** Those that were acked. */
export function profilesOf(project: Pick<Project, "root" | "optional" | "leftOut">): ProjectProfiles {
  const files = optionalFiles(project, "profile");
  const missing = (name: string) =>
    project.leftOut.find(({ kind, file }) => kind === "profile" && file === `${PROJECT_FOLDER}/${name}${ENDING}`);
  return {
    names: () => files.map(({ content }) => content.name),
    find(wanted) {
      const found = files.find(({ content }) => content.name === wanted);
      return found && { file: join(project.root, found.file), text: found.content.text };
    },
    leftOut(name) {
      const found = missing(name);
      return found && `${found.file} ${LEFT_OUT[found.why]}`;
    },
    isDenied: (name) => missing(name)?.why === "denied",
  };
}

const LEFT_OUT = {
  denied: "was denied: harness ack asks again",
  "not-acked": "waits for your ack: harness ack",
  broken: "is broken: harness validate says where",
};

/** For looking which further files a profile enables, before anybody was asked about them. */
export function profilesOnDisk(root: string): ProjectProfiles {
  return {
    names: () => namesIn(join(root, PROJECT_FOLDER)),
    find(name) {
      const file = join(root, PROJECT_FOLDER, `${name}${ENDING}`);
      const text = fileText(file);
      return text === undefined ? undefined : { file, text };
    },
    leftOut: () => undefined,
    isDenied: () => false,
  };
}

/** Undefined for what is not an ordinary file of a bounded size. */
export function fileText(file: string): string | undefined {
  const stats = ifThere(() => lstatSync(file));
  if (stats === undefined || !stats.isFile() || stats.size > OWN_FILE_MAX_BYTES) return undefined;
  return readFileSync(file, "utf8");
}

/** Rejects with ConfigInvalid for one that is not there, or that is not the user's alone. */
export async function findProfile(
  ports: ProfilePorts,
  named: string,
  ofProject: ProjectProfiles | undefined,
): Promise<ProfileFile> {
  const fileName = `${named}${ENDING}`;
  if (!isProfileName(named)) {
    const file = resolve(ports.cwd, named);
    const text = await ownText(file);
    if (text !== undefined) return { file, text, stem: basename(file, ENDING), source: file, scope: "file" };
  } else if (namesIn(ports.profilesDir).includes(named)) {
    refuseShadowed(ports.env, named);
    // The file of the program, whoever installed it.
    const text = await readFile(join(ports.profilesDir, fileName), "utf8");
    return { file: fileName, text, stem: named, source: "built-in", scope: "built-in" };
  } else {
    const file = join(userFolder(ports.env, "profiles"), fileName);
    const text = await ownText(file);
    if (text !== undefined) return { file, text, stem: named, source: file, scope: "user" };
    const found = ofProject?.find(named);
    if (found !== undefined) return { ...found, stem: named, source: found.file, scope: "project" };
  }
  throw new ReasonError("ConfigInvalid", unknownProfile(ports, named, ofProject));
}

/** Each profile of the user, for what holds for sessions that are not open. `read` rejects with ConfigInvalid. */
export function userProfiles(env: ProfilePorts["env"]): readonly { read(): Promise<ProfileFile> }[] {
  const folder = userFolder(env, "profiles");
  return namesIn(folder)
    .slice(0, LISTED_MAX)
    .map((stem) => ({
      async read() {
        const file = join(folder, `${stem}${ENDING}`);
        return { file, text: (await ownText(file)) ?? "", stem, source: file, scope: "user" };
      },
    }));
}

/** Two profiles of one name would make it unclear which rules a session has. */
export function refuseShadowed(env: ProfilePorts["env"], name: string): void {
  const folder = userFolder(env, "profiles");
  if (!namesIn(folder).includes(name)) return;
  throw new ReasonError("ConfigInvalid", `'${name}' is a built-in profile: rename ${join(folder, `${name}${ENDING}`)}`);
}

export function refuseWrongName(
  { profilesDir, env }: FolderPorts,
  { inForce: { name } }: Profile,
  { file, stem, scope }: Pick<ProfileFile, "file" | "stem" | "scope">,
): void {
  const isInFolder = scope === "project" || file === join(userFolder(env, "profiles"), `${stem}${ENDING}`);
  const why = !isProfileName(name)
    ? `'${visibleLine(name)}' cannot be the name of a profile: set name, with small letters, digits, - and _`
    : namesIn(profilesDir).includes(name)
      ? `'${name}' is the name of a built-in profile: choose another name`
      : isInFolder && name !== stem
        ? `name is '${name}', but the file is called ${basename(file)}: make them the same`
        : undefined;
  if (why !== undefined) throw new ReasonError("ConfigInvalid", `${file}: ${why}`);
}

/** The text of a preset. Rejects with ConfigInvalid for a name that nobody knows. */
export async function findPreset(
  { env, profilesDir }: FolderPorts,
  name: string,
  source: string,
): Promise<{ readonly file: string; readonly text: string }> {
  const builtIn = join(profilesDir, "presets");
  const own = userFolder(env, "presets");
  const names = namesIn(builtIn);
  if (names.includes(name)) {
    return { file: `preset ${name}`, text: await readFile(join(builtIn, `${name}${ENDING}`), "utf8") };
  }
  const file = join(own, `${name}${ENDING}`);
  const text = await ownText(file);
  if (text !== undefined) return { file, text };
  throw unknownName({ source, key: "permission_presets", name, known: [...names, ...namesIn(own)], file });
}

/** Throws ConfigInvalid for a pack that nobody knows. */
export function refuseUnknownPacks(env: ProfilePorts["env"], packs: readonly string[], source: string): void {
  for (const name of packs) {
    const folder = skillPack(env, name);
    if (name === BUILT_IN_PACK || ifThere(() => lstatSync(folder))?.isDirectory()) continue;
    const known = [BUILT_IN_PACK, ...entriesIn(userFolder(env, "skill-packs")).filter((one) => isProfileName(one))];
    throw unknownName({ source, key: "skill_packs", name, known, file: join(folder, "SKILL/SKILL.md") });
  }
}

/** The folder with the skills of a pack of the user. */
export function skillPack(env: ProfilePorts["env"], name: string): string {
  return join(userFolder(env, "skill-packs"), name);
}

interface Unknown {
  readonly source: string;
  readonly key: string;
  readonly name: string;
  readonly known: readonly string[];
  /** Where it would be. */
  readonly file: string;
}

function unknownName({ source, key, name, known, file }: Unknown): ReasonError {
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
  const detail = `${source}: ${key} names '${name}', which is not there. Known: ${known.join(", ")}.${hint} Yours would be ${file}`;
  return new ReasonError("ConfigInvalid", detail);
}

function unknownProfile(ports: ProfilePorts, named: string, ofProject: ProjectProfiles | undefined): string {
  const shown = visibleLine(named).slice(0, 200);
  const leftOut = isProfileName(named) ? ofProject?.leftOut(named) : undefined;
  if (leftOut !== undefined) return `the profile '${shown}' cannot be used: ${leftOut}`;
  const names = knownProfiles(ports, ofProject).map(({ name }) => name);
  const nearest = nearestName(named, names);
  const hint = nearest === undefined ? "" : ` Did you mean '${nearest}'?`;
  return `there is no profile '${shown}'. Known profiles: ${names.join(", ")}.${hint} Add your own as a file in ${userFolder(ports.env, "profiles")}, or name a file with --profile PATH`;
}

function namesIn(folder: string): readonly string[] {
  return entriesIn(folder)
    .filter((name) => name.endsWith(ENDING))
    .map((file) => basename(file, ENDING))
    .filter((stem) => isProfileName(stem));
}

function entriesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw new ReasonError("ConfigInvalid", `cannot read ${folder}: ${messageOf(error)}`);
  }
}

function userFolder(env: ProfilePorts["env"], name: "profiles" | "presets" | "skill-packs"): string {
  return join(harnessPaths(env).configDir, name);
}
