/**
 * Which profile a run uses, and the user's settings with it. Order, later wins: the built-in profile, `config.toml`, a profile of the
 * user or of the project. `harness.md`, the environment and flags come after that.
 */
import { hash } from "node:crypto";
import { dirname, resolve } from "node:path";
import {
  defaultSettings,
  type LoadedConfig,
  loadProfileParser,
  type Profile,
  type ProfileInForce,
  type Settings,
} from "#artifacts";
import { defined, messageOf } from "#base";
import { ReasonError } from "#protocol";
import { ownText } from "./own-file.ts";
import {
  fileText,
  findPreset,
  findProfile,
  type ProfileFile,
  type ProfilePorts,
  type ProjectProfiles,
  profilesOnDisk,
  refuseShadowed,
  refuseUnknownPacks,
  refuseWrongName,
  userProfiles,
} from "./profile-files.ts";
import type { ProjectPlace } from "./projects.ts";
import type { RunFlags } from "./run-flags.ts";
import { loadConfig } from "./user-config-file.ts";

const DEFAULT = "default";

export type ProfileFlags = Pick<RunFlags, "config" | "profile" | "framework">;

/**
 * The user's settings with the profile that the flags name. Rejects with ConfigInvalid, or with UsageInvalid for flags that disagree.
 * Without `ofProject` no profile of a project is found.
 */
export async function loadUserSettings(
  ports: ProfilePorts,
  flags: ProfileFlags,
  ofProject?: ProjectProfiles,
): Promise<LoadedConfig> {
  const named = profileNamed(flags);
  // Its values are the defaults, so that a run without a profile reads no file for it.
  if (named === undefined || named === DEFAULT) {
    if (named === DEFAULT) refuseShadowed(ports.env, DEFAULT);
    return loadConfig(ports, flags.config);
  }
  const { applyProfile, narrowedProfile } = await loadProfileParser();
  const found = await findProfile(ports, named, ofProject);
  const profile = await parsedProfile(ports, found);
  if (found.scope === "built-in") {
    const { settings, warnings } = await loadConfig(ports, flags.config, applyProfile(defaultSettings, profile));
    return { settings, warnings: [...warnings, ...profile.warnings] };
  }
  refuseWrongName(ports, profile, found);
  const { settings, warnings } = await loadConfig(ports, flags.config);
  const applied = found.scope === "project" ? narrowedProfile(profile, settings) : profile;
  return { settings: applyProfile(settings, applied), warnings: [...warnings, ...applied.warnings] };
}

/** With which optional files of the project, and which skills, the profile enables. */
export async function withProfile<Place extends Partial<ProjectPlace>>(
  ports: ProfilePorts,
  place: Place,
  flags: ProfileFlags,
): Promise<Place & Pick<ProjectPlace, "contextSources" | "projectHooks" | "skillPacks">> {
  if (profileNamed(flags) === undefined) return place;
  const { dir, config, adminOnly, projectHooks } = place;
  const root = resolve(ports.cwd, dir ?? (config === undefined ? "." : dirname(config)));
  const { settings } = await loadUserSettings(ports, flags, adminOnly === true ? undefined : profilesOnDisk(root));
  const { contextSources, allowProjectHooks, skillPacks } = settings;
  return { ...place, contextSources, projectHooks: projectHooks ?? allowProjectHooks, ...defined({ skillPacks }) };
}

/**
 * The settings with the servers of every profile that a session could be opened with: what those servers get, they can print. A profile
 * that is broken now opens no session.
 */
export async function withSecretsOfProfiles(env: ProfilePorts["env"], settings: Settings): Promise<Settings> {
  const profiles = userProfiles(env);
  if (profiles.length === 0) return settings;
  const { parseProfile } = await loadProfileParser();
  const servers = await Promise.all(
    profiles.map(async ({ read }) => {
      try {
        const { file, text, ...found } = await read();
        return parseProfile(file, text, found).values.mcp_servers ?? [];
      } catch (error) {
        if (error instanceof ReasonError && error.reason === "ConfigInvalid") return [];
        throw error;
      }
    }),
  );
  return { ...settings, mcpServers: [...settings.mcpServers, ...servers.flat()] };
}

/** As the flags name it. */
export function profileNamed({ profile, framework }: ProfileFlags): string | undefined {
  if (framework !== true) return profile;
  if (profile === undefined || profile === "framework") return "framework";
  throw new ReasonError("UsageInvalid", { detail: `--framework cannot be combined with --profile ${profile}` });
}

/** What became of the file of a profile since it was read; undefined while it is the same. Never rejects. */
export async function profileChange({ source, scope, version }: ProfileInForce): Promise<string | undefined> {
  if (version === undefined) return undefined;
  try {
    // Other people may write the files of a project; a new version of those takes effect after an ack.
    const text = scope === "project" ? fileText(source) : await ownText(source);
    if (text === undefined) return `${source} is gone.`;
    if (hash("sha256", text, "hex") === version) return undefined;
    const { parseProfile } = await loadProfileParser();
    parseProfile(source, text, { stem: "", source, scope });
    return `${source} has changed.`;
  } catch (error) {
    return `The file of the profile can no longer be used: ${messageOf(error)}.`;
  }
}

/** With its presets. Rejects with ConfigInvalid, also for a preset or a pack of skills that nobody knows. */
async function parsedProfile(ports: ProfilePorts, found: ProfileFile): Promise<Profile> {
  const { parseProfile, parsePreset } = await loadProfileParser();
  const profile = parseProfile(found.file, found.text, found);
  const { permission_presets: named = [], skill_packs: packs = [] } = profile.values;
  refuseUnknownPacks(ports.env, packs, found.source);
  const presets = await Promise.all(
    named.map(async (name) => {
      const { file, text } = await findPreset(ports, name, found.source);
      return parsePreset(file, text);
    }),
  );
  return {
    ...profile,
    presets: presets.map(({ rules }) => rules),
    warnings: [...profile.warnings, ...presets.flatMap(({ warnings }) => warnings)],
  };
}
