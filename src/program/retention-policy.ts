/** The user's retention settings and those of the user's profiles, as the stores take them. */
import { loadProfileParser, type RetentionSettings } from "#artifacts";
import { defaultRetention, type RetentionPolicy } from "#stores";
import type { ProgramPorts } from "./ports.ts";
import { userProfiles } from "./profile-files.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Rejects with ConfigInvalid when a profile is broken: nobody knows then how long the content of its sessions is kept. */
export async function retentionPolicy(
  { env }: Pick<ProgramPorts, "env">,
  { contentDays, warnDays, maxStoreMb }: RetentionSettings,
): Promise<RetentionPolicy> {
  const ofProfiles = await profileTimes(env);
  return {
    contentTtlMs: contentDays === undefined ? defaultRetention.contentTtlMs : contentDays * DAY_MS,
    warnWithinMs: warnDays === undefined ? defaultRetention.warnWithinMs : warnDays * DAY_MS,
    maxStoreBytes: maxStoreMb === undefined ? defaultRetention.maxStoreBytes : maxStoreMb * 1024 * 1024,
    ...(ofProfiles.size === 0 ? {} : { profileTtlMs: ofProfiles }),
  };
}

async function profileTimes(env: ProgramPorts["env"]): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  const profiles = userProfiles(env);
  if (profiles.length === 0) return times;
  const { parseProfile } = await loadProfileParser();
  for (const { read } of profiles) {
    const { file, text, ...found } = await read();
    const { contentDays } = parseProfile(file, text, found).inForce;
    if (contentDays !== undefined) times.set(found.stem, contentDays * DAY_MS);
  }
  return times;
}
