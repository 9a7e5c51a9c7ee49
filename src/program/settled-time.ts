/** The time by which this program deletes what has become old: a wall clock that leaps ahead does not count at once. */
import { join } from "node:path";
import { harnessPaths } from "#stores/keys";
import { makePrivateDirectory, SETTLED_TIME_FILE, settledTime } from "#world";
import type { ProgramPorts } from "./ports.ts";

/** As of this look. */
export function settledMs({ env, clock }: Pick<ProgramPorts, "env" | "clock">): number {
  const { stateDir } = harnessPaths(env);
  makePrivateDirectory(stateDir);
  return settledTime(join(stateDir, SETTLED_TIME_FILE), clock);
}
