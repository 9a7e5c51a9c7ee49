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
  type ProfileFiles,
  type ProfileInForce,
  type Settings,
} from "#artifacts";
import { defined, messageOf } from "#base";
import { ReasonError, type SessionId } from "#protocol";
import { createKeptProfiles, type KeptProfile } from "./kept-profiles.ts";
import { ownText } from "./own-file.ts";
import {
  fileText,
  findPreset,
  findProfile,
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
  resumed?: readonly SessionId[],
): Promise<LoadedConfig> {
  const named = profileNamed(flags);
  // Its values are the defaults, so that a run without a profile reads no file for it.
  if (named === undefined || named === DEFAULT) {
    if (named === DEFAULT) refuseShadowed(ports.env, DEFAULT);
    return loadConfig(ports, flags.config);
  }
  const { applyProfile, narrowedProfile } = await loadProfileParser();
  const profile = await soundProfile(ports, named, ofProject, resumed);
  const { scope } = profile.inForce;
  if (scope === "built-in") {
    const { settings, warnings } = await loadConfig(ports, flags.config, applyProfile(defaultSettings, profile));
    return { settings, warnings: [...warnings, ...profile.warnings] };
  }
  const { settings, warnings } = await loadConfig(ports, flags.config);
  const applied = scope === "project" ? narrowedProfile(profile, settings) : profile;
  return { settings: applyProfile(settings, applied), warnings: [...warnings, ...applied.warnings] };
}

/** With which optional files of the project, and which skills, the profile enables. */
export async function withProfile<Place extends Partial<ProjectPlace>>(
  ports: ProfilePorts,
  place: Place,
  flags: ProfileFlags,
  resumed?: readonly SessionId[],
): Promise<Place & Pick<ProjectPlace, "contextSources" | "projectHooks" | "skillPacks">> {
  if (profileNamed(flags) === undefined) return place;
  const { dir, config, adminOnly, projectHooks } = place;
  const root = resolve(ports.cwd, dir ?? (config === undefined ? "." : dirname(config)));
  const ofProject = adminOnly === true ? undefined : profilesOnDisk(root);
  const { settings } = await loadUserSettings(ports, flags, ofProject, resumed);
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
  throw new ReasonError("UsageInvalid", `--framework cannot be combined with --profile ${profile}`);
}

/** What became of the file of a profile since it was read; undefined while it is the same. Never rejects. */
export async function profileChange({ source, scope, version, kept }: ProfileInForce): Promise<string | undefined> {
  if (kept !== undefined) return kept;
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

/**
 * The profile on disk. A session that is resumed keeps the version that it was last opened with when that one is gone or broken, or is
 * another one of the same name: with its rules gone, more would be allowed than before. Rejects with ConfigInvalid.
 */
async function soundProfile(
  ports: ProfilePorts,
  named: string,
  ofProject: ProjectProfiles | undefined,
  resumed: readonly SessionId[] | undefined,
): Promise<Profile> {
  const keptOf = createKeptProfiles(ports.env).read;
  const kept = resumed?.map(keptOf).find((one) => one?.name === named);
  if (kept === undefined) return profileOnDisk(ports, named, ofProject);
  try {
    const profile = await profileOnDisk(ports, named, ofProject);
    if (profile.inForce.scope === kept.scope) return profile;
    return await keptProfile(kept, `The profile '${named}' is now another one, ${profile.inForce.source}.`);
  } catch (error) {
    // Who denies the file does not want its last version either.
    const isDenied = kept.scope === "project" && ofProject?.isDenied(named) === true;
    if (isDenied || !(error instanceof ReasonError) || error.reason !== "ConfigInvalid") throw error;
    return keptProfile(kept, `The profile cannot be read: ${error.message}.`);
  }
}

async function keptProfile(kept: KeptProfile, why: string): Promise<Profile> {
  const { name, source, files } = kept;
  const { parseProfile } = await loadProfileParser();
  const profile = await withPresets(parseProfile(source, files.text, { ...kept, stem: name }), files);
  return { ...profile, inForce: { ...profile.inForce, kept: why } };
}

/** Rejects with ConfigInvalid, also for a preset or a pack of skills that nobody knows. */
async function profileOnDisk(
  ports: ProfilePorts,
  named: string,
  ofProject: ProjectProfiles | undefined,
): Promise<Profile> {
  const found = await findProfile(ports, named, ofProject);
  const { parseProfile } = await loadProfileParser();
  const profile = parseProfile(found.file, found.text, found);
  const { permission_presets: presetNames = [], skill_packs: packs = [] } = profile.values;
  refuseUnknownPacks(ports.env, packs, found.source);
  if (found.scope !== "built-in") refuseWrongName(ports, profile, found);
  const presets = await Promise.all(presetNames.map((preset) => findPreset(ports, preset, found.source)));
  return withPresets(profile, { text: found.text, presets });
}

async function withPresets(profile: Profile, files: ProfileFiles): Promise<Profile> {
  const { parsePreset } = await loadProfileParser();
  const parsed = files.presets.map(({ file, text }) => parsePreset(file, text));
  return {
    ...profile,
    inForce: { ...profile.inForce, ...(profile.inForce.scope === "built-in" ? {} : { files }) },
    presets: parsed.map(({ rules }) => rules),
    warnings: [...profile.warnings, ...parsed.flatMap(({ warnings }) => warnings)],
  };
}
