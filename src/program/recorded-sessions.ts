/** The sessions that `harness policy` holds a policy against, with their calls. */
import { resolve } from "node:path";
import type { SessionMeta } from "#engine";
import { RecordedCalls, type RecordedSession } from "#governance";
import { ReasonError } from "#protocol";
import type { ArchiveStore } from "#stores";
import type { ProgramPorts } from "./ports.ts";
import { findSession, type StoreFlags } from "./session-store.ts";
import { readEvents } from "./session-texts.ts";

/** Newest first; more are not read. */
const MAX_SESSIONS = 10_000;

export interface SessionFlags extends StoreFlags {
  /** Ids, beginnings of ids, or `all`. Default: those of the current folder. */
  readonly sessions?: readonly string[];
}

/** Throws when there is none. */
export async function chosenSessions(
  ports: ProgramPorts,
  store: ArchiveStore,
  { sessions }: SessionFlags,
): Promise<readonly SessionMeta[]> {
  const isAll = sessions?.includes("all") === true;
  if (sessions !== undefined && !isAll) {
    const found = await Promise.all(sessions.map((name) => findSession(store, name)));
    return found.filter(({ id }, index) => found.findIndex((one) => one.id === id) === index);
  }
  const here = resolve(ports.cwd);
  const found = await store.list({ limit: MAX_SESSIONS, ...(isAll ? {} : { workingDir: here }) });
  if (found.length > 0) return found;
  const where = isAll ? "no session" : `no session of ${here}`;
  throw new ReasonError(
    "UsageInvalid",
    `the log has ${where}. harness sessions list shows the sessions; --sessions all uses all of them.`,
  );
}

export async function recordedSession(
  store: ArchiveStore,
  { id, workingDir }: Pick<SessionMeta, "id" | "workingDir">,
): Promise<RecordedSession> {
  const calls = new RecordedCalls(id, workingDir);
  for await (const event of readEvents(store, id)) calls.add(event);
  return calls.finish();
}
