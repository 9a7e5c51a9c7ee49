/** What an engine says of the log that it has opened: repaired, not as its head was known, without its snapshot. Nothing stops for it. */
import { reasonText } from "#protocol";
import type { EventBus } from "./bus.ts";
import type { SessionLog } from "./store.ts";

type Bus = Pick<EventBus, "publish">;

export function reportSnapshot(bus: Bus, detail: string): Promise<void> {
  return report(bus, "SnapshotUnusable", detail);
}

export async function reportLog(
  bus: Bus,
  { repairs = [], headProblem }: Pick<SessionLog, "repairs" | "headProblem">,
  snapshotProblem: string | undefined,
): Promise<void> {
  for (const detail of repairs) await report(bus, "LogRepaired", detail);
  if (headProblem !== undefined) await report(bus, "HeadMismatch", headProblem);
  if (snapshotProblem !== undefined) await reportSnapshot(bus, snapshotProblem);
}

function report(bus: Bus, reason: "LogRepaired" | "HeadMismatch" | "SnapshotUnusable", detail: string): Promise<void> {
  return bus.publish("Error", { reason, message: reasonText(reason, { detail }), terminal: false });
}
