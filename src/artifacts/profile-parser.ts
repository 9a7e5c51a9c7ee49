/** The reader of profiles, loaded when a run names one. */
import type { applyProfile, parseProfile } from "./profile-table.ts";

export interface ProfileParser {
  readonly parseProfile: typeof parseProfile;
  readonly applyProfile: typeof applyProfile;
}

export async function loadProfileParser(): Promise<ProfileParser> {
  const { applyProfile, parseProfile } = await import("./profile-table.ts");
  return { applyProfile, parseProfile };
}
