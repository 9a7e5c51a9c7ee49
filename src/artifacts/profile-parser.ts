/** The reader of profiles, loaded when a run names one. */
import type { applyProfile, narrowedProfile } from "./apply-profile.ts";
import type { parsePreset, parseProfile } from "./profile-table.ts";

export interface ProfileParser {
  readonly parseProfile: typeof parseProfile;
  readonly parsePreset: typeof parsePreset;
  readonly applyProfile: typeof applyProfile;
  readonly narrowedProfile: typeof narrowedProfile;
}

export async function loadProfileParser(): Promise<ProfileParser> {
  const [applying, table] = await Promise.all([import("./apply-profile.ts"), import("./profile-table.ts")]);
  const { applyProfile, narrowedProfile } = applying;
  const { parsePreset, parseProfile } = table;
  return { parseProfile, parsePreset, applyProfile, narrowedProfile };
}
