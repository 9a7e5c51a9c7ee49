/** The banner of sessions that lose content within a week, in the full interface: until somebody hides it or keeps them. */
import type { RetentionSettings } from "#artifacts";
import type { EngineClient } from "#client";
import { expiringSessionIds, expiryBannerText, hideExpiring } from "#program";
import { SessionId } from "#protocol";
import type { InterfaceParts } from "#tui";
import type { CliPorts } from "./cli-ports.ts";

type Reminder = InterfaceParts["reminder"];

export const noReminder: Reminder = { text: async () => "", hide: async () => undefined };

export function expiryReminder(
  ports: CliPorts,
  client: Pick<EngineClient, "session">,
  retention: RetentionSettings,
): Reminder {
  return {
    async text() {
      const ids = await expiringSessionIds(ports, async () => retention);
      // They were looked up within the last day: some may be pinned or gone by now.
      const looks = await Promise.allSettled(ids.filter(SessionId.is).map((id) => client.session(id).info()));
      const found = looks.flatMap((look) => (look.status === "fulfilled" ? [look.value] : []));
      const left = found.filter(({ pinned }) => !pinned).map(({ id }) => id);
      return left.length === 0 ? "" : expiryBannerText(left);
    },
    hide: async () => hideExpiring(ports),
  };
}
