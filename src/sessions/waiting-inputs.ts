/**
 * Inputs that waited in the session that a copy was made of. Nobody gave them to the copy, so they do not begin there: once in the
 * source would be twice, and the ids of their tokens are those of another log, or of another machine.
 */
import { createInputQueue, type EventDraft, nextTs } from "#engine";
import { reasonText, type SessionId } from "#protocol";
import type { ArchiveStore } from "./archive.ts";

const READ_PAGE = 500;

/** Says so in the log of the copy, before anybody opens it. */
export async function leaveWaitingInputs(store: ArchiveStore, id: SessionId, now: string): Promise<void> {
  const inputs = createInputQueue();
  for (let after = 0; ; ) {
    const page = await store.read(id, { after, limit: READ_PAGE });
    for (const event of page) inputs.apply(event);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  const waiting = inputs.waiting();
  if (waiting.length === 0) return;
  const reason = "InputLeftBehind";
  const log = await store.acquire(id);
  try {
    const ts = nextTs(log.lastTs, Date.parse(now));
    const drafts = waiting.map(({ id: queued, by }): EventDraft => {
      return { kind: "InputRefused", ts, payload: { queued, by, reason, message: reasonText(reason) } };
    });
    await log.append(drafts, ts);
  } finally {
    await log.release();
  }
}
