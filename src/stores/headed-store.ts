/**
 * A store that keeps the last known head of each session up with its log: a moment after each turn, when a writer leaves, and when a
 * session comes in whole. The head follows the log and never leads it, so a crash in between leaves it behind, which is harmless.
 */
import type { SessionLog } from "#engine";
import type { SessionId } from "#protocol";
import type { ArchiveStore } from "./archive.ts";
import { createDelayedCheckpoint } from "./delayed-checkpoint.ts";
import { type HeadStanding, headProblem, headStanding } from "./head-standing.ts";
import type { HeadReading, KnownHeads } from "./known-heads.ts";
import { hashAfter } from "./record.ts";

/**
 * A log that does not contain its known head is written to as before, and its head stays as it was: the difference is there to be
 * found until a person accepts it.
 */
export function withKnownHeads(store: ArchiveStore, heads: KnownHeads): ArchiveStore {
  /** Keeps the head at the event `last`, unless it is kept already. Returns the event that is known then. */
  const keepUp = async (session: SessionId, known: number, last: number): Promise<number> => {
    if (last <= known) return known;
    const hash = await hashAt(store, session, last);
    return hash !== undefined && heads.keep(session, { lastEventId: last, hash }) ? last : known;
  };

  const follow = (session: SessionId, log: SessionLog, standing: HeadStanding, lastEventId: number): SessionLog => {
    const problem = headProblem(session, standing);
    if (problem !== undefined) return { ...log, headProblem: problem };
    let known = "event" in standing ? standing.event : 0;
    let last = lastEventId;
    const keep = async (): Promise<void> => {
      known = await keepUp(session, known, last);
    };
    // What it cannot read then, the release reads again, or fails as this did and tells.
    const delayed = createDelayedCheckpoint(() => void keep().catch(() => undefined));
    return {
      ...log,
      async append(drafts, now) {
        const first = await log.append(drafts, now);
        last = first + drafts.length - 1;
        if (drafts.some(({ kind }) => kind === "TurnEnded")) delayed.turnEnded();
        return first;
      },
      async release() {
        delayed.stop();
        try {
          await keep();
          await heads.testify(session);
        } finally {
          await log.release();
        }
      },
    };
  };

  return {
    ...store,
    async acquire(session) {
      const reading = heads.read(session);
      const log = await store.acquire(session);
      try {
        const { standing, lastEventId } = await standingOf(store, session, reading);
        return follow(session, log, standing, lastEventId);
      } catch (error) {
        await log.release();
        throw error;
      }
    },
    async restore(meta, records, checkpoints) {
      await store.restore(meta, records, checkpoints);
      const { standing, lastEventId } = await standingOf(store, meta.id, heads.read(meta.id));
      if (headProblem(meta.id, standing) !== undefined) return;
      await keepUp(meta.id, "event" in standing ? standing.event : 0, lastEventId);
    },
    async delete(session) {
      await store.delete(session);
      await heads.forget(session);
    },
  };
}

/** How the session in the store stands to what was read of its head before. */
export async function standingOf(
  store: ArchiveStore,
  session: SessionId,
  reading: HeadReading,
): Promise<{ readonly standing: HeadStanding; readonly lastEventId: number }> {
  const meta = await store.get(session);
  if (meta === undefined) return { standing: headStanding(reading, undefined), lastEventId: 0 };
  const { lastEventId } = meta;
  const hashAtHead = reading.kind === "known" ? await hashAt(store, session, reading.head.event) : undefined;
  return { standing: headStanding(reading, { lastEventId, hashAtHead }), lastEventId };
}

async function hashAt(store: ArchiveStore, session: SessionId, event: number): Promise<string | undefined> {
  const [record] = await store.records(session, { after: event - 1, limit: 1 });
  return record?.id === event ? hashAfter(session, record) : undefined;
}
