/** Something that is done once a day, by whichever process comes first: an empty file in the state folder that is as old as that. */
import { stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { harnessPaths } from "#stores/keys";
import { makePrivateDirectory } from "#world";
import type { ProgramPorts } from "./ports.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export interface DailyMark {
  isDue(): Promise<boolean>;
  /** It was done now. */
  set(): Promise<void>;
}

export function dailyMark({ env, clock }: Pick<ProgramPorts, "env" | "clock">, name: string): DailyMark {
  const path = join(harnessPaths(env).stateDir, name);
  return {
    async isDue() {
      const last = await stat(path).catch(() => undefined);
      // A clock that went back counts as a day: doing it twice is harmless.
      return last === undefined || Math.abs(clock.now() - last.mtimeMs) >= DAY_MS;
    },
    async set() {
      makePrivateDirectory(dirname(path));
      await writeFile(path, "", { mode: 0o600 });
      const now = new Date(clock.now());
      await utimes(path, now, now);
    },
  };
}
