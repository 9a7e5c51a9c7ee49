/** Says in the log of a session that the file of its profile is gone, broken or another one. The profile as it was read stays in force. */
import type { ProfileInForce } from "#artifacts";
import type { EventBus } from "#engine";
import type { SessionProfiles } from "./dependencies.ts";

/** To be called before each turn; each change is told once. */
export function createProfileNotice(
  bus: Pick<EventBus, "publish">,
  profile: ProfileInForce,
  profiles: Pick<SessionProfiles, "change"> | undefined,
): () => Promise<void> {
  let said: string | undefined;
  return async () => {
    const change = await profiles?.change(profile);
    if (change === said) return;
    said = change;
    if (change === undefined) return;
    const message = `${change} This session keeps the profile '${profile.name}' as it was when the session was opened; what is on disk counts for the next one.`;
    await bus.publish("Error", { reason: "ConfigInvalid", message, terminal: false });
  };
}
