/**
 * Which profile a run uses, and the user's settings with it. Order, later wins: the built-in profile, `config.toml`, a profile of the
 * user. The project, the environment and flags come after that.
 */
import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { defaultSettings, type LoadedConfig, loadProfileParser, type Profile } from "#artifacts";
import { visibleLine } from "#base";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#stores/keys";
import { namesIn, ownText } from "./own-file.ts";
import type { ProgramPorts } from "./ports.ts";
import type { ProjectPlace } from "./projects.ts";
import type { RunFlags } from "./run-flags.ts";
import { loadConfig } from "./user-config-file.ts";

const ENDING = ".toml";
const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
const LISTED_MAX = 200;
const DEFAULT = "default";

export type ProfilePorts = Pick<ProgramPorts, "env" | "cwd" | "profilesDir">;
export type ProfileFlags = Pick<RunFlags, "config" | "profile" | "framework">;

export interface KnownProfile {
  readonly name: string;
  readonly scope: "built-in" | "user";
}

/** Built-in ones first. */
export async function knownProfiles({ env, profilesDir }: Omit<ProfilePorts, "cwd">): Promise<readonly KnownProfile[]> {
  const builtIn = await profileNames(profilesDir);
  const own = (await profileNames(userFolder(env))).filter((name) => !builtIn.includes(name));
  return [
    ...builtIn.map((name) => ({ name, scope: "built-in" }) as const),
    ...own.map((name) => ({ name, scope: "user" }) as const),
  ].slice(0, LISTED_MAX);
}

/** The user's settings with the profile that the flags name. Rejects with ConfigInvalid, or with UsageInvalid for flags that disagree. */
export async function loadUserSettings(ports: ProfilePorts, flags: ProfileFlags): Promise<LoadedConfig> {
  const named = profileOf(flags);
  // Its values are the defaults, so that a run without a profile reads no file for it.
  if (named === undefined || named === DEFAULT) {
    if (named === DEFAULT) await refuseShadowed(ports.env, DEFAULT);
    return loadConfig(ports, flags.config);
  }
  const { parseProfile, applyProfile } = await loadProfileParser();
  const { isBuiltIn, ...found } = await findProfile(ports, named);
  const profile = parseProfile(found.file, found.text, found);
  if (!isBuiltIn) await refuseWrongName(ports, profile, found);
  const base = isBuiltIn ? applyProfile(defaultSettings, profile) : defaultSettings;
  const { settings, warnings } = await loadConfig(ports, flags.config, base);
  return {
    settings: isBuiltIn ? settings : applyProfile(settings, profile),
    warnings: [...warnings, ...profile.warnings],
  };
}

/** With which optional files of the project the profile enables. */
export async function withProfile<Place extends object>(
  ports: ProfilePorts,
  place: Place & Pick<ProjectPlace, "projectHooks">,
  flags: ProfileFlags,
): Promise<Place & Pick<ProjectPlace, "contextSources" | "projectHooks">> {
  if (profileOf(flags) === undefined) return place;
  const { contextSources, allowProjectHooks } = (await loadUserSettings(ports, flags)).settings;
  return { ...place, contextSources, projectHooks: place.projectHooks ?? allowProjectHooks };
}

function profileOf({ profile, framework }: ProfileFlags): string | undefined {
  if (framework !== true) return profile;
  if (profile === undefined || profile === "framework") return "framework";
  throw new ReasonError("UsageInvalid", { detail: `--framework cannot be combined with --profile ${profile}` });
}

interface FoundProfile {
  readonly file: string;
  readonly text: string;
  readonly stem: string;
  readonly source: string;
  readonly isBuiltIn: boolean;
}

async function findProfile(ports: ProfilePorts, named: string): Promise<FoundProfile> {
  const fileName = `${named}${ENDING}`;
  if (!NAME.test(named)) {
    const file = resolve(ports.cwd, named);
    const text = await ownText(file);
    if (text !== undefined) return { file, text, stem: basename(file, ENDING), source: file, isBuiltIn: false };
  } else if ((await profileNames(ports.profilesDir)).includes(named)) {
    await refuseShadowed(ports.env, named);
    // The file of the program, whoever installed it.
    const text = await readFile(join(ports.profilesDir, fileName), "utf8");
    return { file: fileName, text, stem: named, source: "built-in", isBuiltIn: true };
  } else {
    const file = join(userFolder(ports.env), fileName);
    const text = await ownText(file);
    if (text !== undefined) return { file, text, stem: named, source: file, isBuiltIn: false };
  }
  const names = (await knownProfiles(ports)).map(({ name }) => name).join(", ");
  const detail = `there is no profile '${visibleLine(named).slice(0, 200)}'. Known profiles: ${names}. Add your own as a file in ${userFolder(ports.env)}, or name a file with --profile PATH`;
  throw new ReasonError("ConfigInvalid", { detail });
}

/** Two profiles of one name would make it unclear which rules a session has. */
async function refuseShadowed(env: ProfilePorts["env"], name: string): Promise<void> {
  if (!(await profileNames(userFolder(env))).includes(name)) return;
  const file = join(userFolder(env), `${name}${ENDING}`);
  throw new ReasonError("ConfigInvalid", { detail: `'${name}' is a built-in profile: rename ${file}` });
}

async function refuseWrongName(
  { profilesDir, env }: ProfilePorts,
  { inForce: { name } }: Profile,
  { file, stem }: Pick<FoundProfile, "file" | "stem">,
): Promise<void> {
  const isOfUser = file === join(userFolder(env), `${stem}${ENDING}`);
  const why = !NAME.test(name)
    ? `'${visibleLine(name)}' cannot be the name of a profile: set name, with small letters, digits, - and _`
    : (await profileNames(profilesDir)).includes(name)
      ? `'${name}' is the name of a built-in profile: choose another name`
      : isOfUser && name !== stem
        ? `name is '${name}', but the file is called ${basename(file)}: make them the same`
        : undefined;
  if (why !== undefined) throw new ReasonError("ConfigInvalid", { detail: `${file}: ${why}` });
}

async function profileNames(folder: string): Promise<readonly string[]> {
  const stems = (await namesIn(folder, ENDING)).map((file) => basename(file, ENDING));
  return stems.filter((stem) => NAME.test(stem));
}

function userFolder(env: ProfilePorts["env"]): string {
  return join(harnessPaths(env).configDir, "profiles");
}
