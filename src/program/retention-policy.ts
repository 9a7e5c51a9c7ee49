/** The user's retention settings, as the stores take them. */
import type { RetentionSettings } from "#artifacts";
import { defaultRetention, type RetentionPolicy } from "#stores";

const DAY_MS = 24 * 60 * 60 * 1000;

export function retentionPolicy({ contentDays, warnDays, maxStoreMb }: RetentionSettings): RetentionPolicy {
  return {
    contentTtlMs: contentDays === undefined ? defaultRetention.contentTtlMs : contentDays * DAY_MS,
    warnWithinMs: warnDays === undefined ? defaultRetention.warnWithinMs : warnDays * DAY_MS,
    maxStoreBytes: maxStoreMb === undefined ? defaultRetention.maxStoreBytes : maxStoreMb * 1024 * 1024,
  };
}
