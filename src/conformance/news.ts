/** Waiting for something to show up, with an end to it. */
import type { Clock } from "#base";

export interface News {
  /** Something may have changed. */
  tell(): void;
  /** Nothing comes any more; whoever waits is told why. */
  end(why: string): void;
  /** What `look` finds, now or after news. Rejects with NotSeen when it takes too long or nothing comes any more. */
  until<Found>(look: () => Found | undefined, what: string): Promise<Found>;
}

export class NotSeen extends Error {
  override readonly name = "NotSeen";
}

export function createNews(clock: Pick<Clock, "sleep">, waitMs: number): News {
  let waiting: (() => void)[] = [];
  let ended: string | undefined;
  const tell = (): void => {
    const told = waiting;
    waiting = [];
    for (const resume of told) resume();
  };
  return {
    tell,
    end(why) {
      ended ??= why;
      tell();
    },
    async until(look, what) {
      const late = new AbortController();
      let isLate = false;
      void clock.sleep(waitMs, late.signal).then(() => {
        isLate = true;
        tell();
      });
      try {
        for (;;) {
          const found = look();
          if (found !== undefined) return found;
          if (ended !== undefined) throw new NotSeen(`${what} did not arrive: ${ended}`);
          if (isLate) throw new NotSeen(`${what} did not arrive within ${waitMs} ms`);
          await new Promise<void>((resume) => void waiting.push(resume));
        }
      } finally {
        late.abort();
      }
    },
  };
}
