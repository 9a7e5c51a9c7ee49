/** The time by which this program deletes what has become old: a wall clock that leaps ahead does not count at once. */
import { join } from "node:path";
import { makePrivateDirectory, SETTLED_TIME_FILE, settledTime } from "#base";
import { harnessPaths } from "#sessions/keys";
import type { CliPorts } from "./cli-ports.ts";

/** As of this look. */
export function settledMs({ env, clock }: Pick<CliPorts, "env" | "clock">): number {
  const { stateDir } = harnessPaths(env);
  makePrivateDirectory(stateDir);
  return settledTime(join(stateDir, SETTLED_TIME_FILE), clock);
}
