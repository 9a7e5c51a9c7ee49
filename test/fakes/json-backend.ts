/**
 * A kind of store as small as one can be: all sessions in one JSON file that every change replaces. It shows what a further kind
 * has to bring, and passes the same tests as the others.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, errnoOf } from "#base";
import type { SessionId } from "#protocol";
import { writePrivateFile } from "#world";
import type { ArchivedSession, ArchiveStore } from "../../src/stores/archive.ts";
import type { Checkpoint } from "../../src/stores/checkpoint.ts";
import { createEvidenceStore, type EvidenceOptions } from "../../src/stores/evidence-store.ts";
import { lockFolder } from "../../src/stores/jsonl/lock.ts";
import { createOwner, isAlive, LEASE_MS } from "../../src/stores/lease.ts";
import type { ChainedRecord } from "../../src/stores/record.ts";
import { newestFirst, type RecordBackend } from "../../src/stores/record-backend.ts";
import { otherWriter, sessionBusy, sessionNotFound } from "../../src/stores/store-errors.ts";

interface StoredSession {
  meta: ArchivedSession;
  records: ChainedRecord[];
  checkpoints: Checkpoint[];
  owner: string;
  until: number;
}

type Sessions = Record<string, StoredSession>;

export async function openJsonStore(options: EvidenceOptions & { readonly folder: string }): Promise<ArchiveStore> {
  return createEvidenceStore(createJsonBackend(options.folder, options.clock), options);
}

function createJsonBackend(folder: string, clock: Pick<Clock, "now">): RecordBackend {
  const path = join(folder, "sessions.json");
  mkdirSync(folder, { recursive: true });

  const read = (): Sessions => {
    try {
      return JSON.parse(readFileSync(path, "utf8"));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return {};
      throw error;
    }
  };

  /** One process at a time; nothing changes when `work` throws. */
  const change = <Result>(work: (sessions: Sessions) => Result): Result => {
    const held = lockFolder(folder, clock);
    if ("heldBy" in held) throw new Error(`${path} is being changed by ${held.heldBy}`);
    try {
      const sessions = read();
      const result = work(sessions);
      writePrivateFile(path, JSON.stringify(sessions), { durable: true });
      return result;
    } finally {
      held.release();
    }
  };

  const found = (sessions: Sessions, id: SessionId): StoredSession => {
    const session = sessions[id];
    if (session === undefined) throw sessionNotFound(id);
    return session;
  };

  const take = (sessions: Sessions, id: SessionId): StoredSession => {
    const session = found(sessions, id);
    const { owner, until } = session;
    if (owner !== "" && isAlive(owner, until, clock.now())) throw sessionBusy(id, owner);
    return Object.assign(session, { owner: createOwner(), until: clock.now() + LEASE_MS });
  };

  const toMeta = ({ meta, records }: StoredSession) => ({ ...meta, lastEventId: records.length });

  return {
    name: path,
    create: (meta, records, checkpoints) =>
      change((sessions) => {
        if (sessions[meta.id] !== undefined) return false;
        sessions[meta.id] = { meta, records: [...records], checkpoints: [...checkpoints()], owner: "", until: 0 };
        return true;
      }),
    get(id) {
      const session = read()[id];
      return session && toMeta(session);
    },
    list: (options) => newestFirst(Object.values(read()).map(toMeta), options),
    update: (id, fields) =>
      change((sessions) => {
        const session = sessions[id];
        if (session !== undefined) session.meta = { ...session.meta, ...fields };
        return session !== undefined;
      }),
    delete: (id) =>
      change((sessions) => {
        take(sessions, id);
        delete sessions[id];
      }),
    acquire(id) {
      const { owner, records, checkpoints } = change((sessions) => take(sessions, id));
      /** Changes the session while it is still ours. */
      const changeOwn = (work: (session: StoredSession) => void): void =>
        change((sessions) => {
          const session = found(sessions, id);
          if (session.owner !== owner) throw otherWriter(id, undefined);
          work(session);
        });
      return {
        last: records.at(-1),
        signedTo: checkpoints.at(-1)?.event ?? 0,
        append: ({ records, end: { now }, renews }) =>
          changeOwn((session) => {
            session.records.push(...records);
            session.meta = { ...session.meta, updatedAt: now };
            if (renews) session.until = clock.now() + LEASE_MS;
          }),
        sign: (checkpoint) => changeOwn((session) => session.checkpoints.push(checkpoint)),
        release: (_, checkpoint) =>
          changeOwn((session) => {
            if (checkpoint !== undefined) session.checkpoints.push(checkpoint);
            session.owner = "";
          }),
      };
    },
    records: (id, { after, limit }) => found(read(), id).records.slice(after, after + limit),
    checkpoints: (id) => found(read(), id).checkpoints,
    close: () => undefined,
  };
}
