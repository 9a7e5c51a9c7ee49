/** The user's retention settings and those of the user's profiles, as the stores take them. */
import { loadProfileParser, type RetentionSettings } from "#artifacts";
import { defaultRetention, type RetentionPolicy } from "#stores";
import { createKeptProfiles } from "./kept-profiles.ts";
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

/** A profile that is gone holds for the sessions that had it: the shortest time that one of them was opened with. */
async function profileTimes(env: ProgramPorts["env"]): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  const profiles = userProfiles(env);
  const kept = createKeptProfiles(env).all();
  if (profiles.length + kept.length === 0) return times;
  const { parseProfile } = await loadProfileParser();
  const onDisk = new Set<string>();
  for (const { read } of profiles) {
    const { file, text, ...found } = await read();
    const { contentDays } = parseProfile(file, text, found).inForce;
    onDisk.add(found.stem);
    if (contentDays !== undefined) times.set(found.stem, contentDays * DAY_MS);
  }
  for (const { name, scope, source, files } of kept) {
    if (scope === "project" || onDisk.has(name)) continue;
    const { contentDays } = parseProfile(source, files.text, { stem: name, source, scope }).inForce;
    if (contentDays === undefined) continue;
    times.set(name, Math.min(times.get(name) ?? Number.POSITIVE_INFINITY, contentDays * DAY_MS));
  }
  return times;
}
