/** A session that begins as a copy of another one, in the same log. */
import { type Clock, createUlidFactory, defined } from "#base";
import type { SessionStore } from "#engine";
import { LogId, ReasonError, type SessionId } from "#protocol";
import { type ArchiveStore, loadPortability } from "#stores";
import { createSystemRandom } from "#world";

/** `at`: the id of a TurnEnded event; default: the last one. */
export async function branchOf(archive: SessionStore, session: SessionId, clock: Clock, at: number | undefined) {
  const { branchSession } = await loadPortability();
  const now = new Date(clock.now()).toISOString();
  const log = LogId.from(createUlidFactory({ clock, random: createSystemRandom() })());
  return branchSession(archiveOf(archive), session, { now, log, ...defined({ at }) });
}

/** The stores of this program keep evidence; one of a plugin may not. */
export function archiveOf(store: SessionStore): ArchiveStore {
  if ("readEvidence" in store && "records" in store) return store as ArchiveStore;
  throw new ReasonError("NotAllowed", "The session store of this program cannot export whole sessions.");
}
