/**
 * The session log as plain files in a workspace, one folder for each session. Readable by anybody who can read the files;
 * the encrypted store is the other one. What a crash left behind the last whole append is cut off by the next writer.
 */

import { closeSync, fstatSync, ftruncateSync, openSync } from "node:fs";
import { join } from "node:path";
import { type Clock, defined, errnoOf, messageOf } from "#base";
import type { EventPage, SessionLog, SessionMeta } from "#engine";
import { ReasonError, type SessionId } from "#protocol";
import { type ArchiveStore, createPlacesToSign, mergeEvidence, readRecords } from "../archive.ts";
import type { Signer } from "../checkpoint.ts";
import { createDelayedCheckpoint } from "../delayed-checkpoint.ts";
import { type ParsedLine, toChained } from "../event-line.ts";
import { createSalts } from "../evidence.ts";
import { withKnownHeads } from "../headed-store.ts";
import { createKnownHeads, type HeadsPlace } from "../known-heads.ts";
import { type ChainHead, chainDrafts } from "../record.ts";
import type { StoredMeta } from "../session-fields.ts";
import {
  accessFailed,
  otherWriter,
  sessionBusy,
  sessionExists,
  sessionNotFound,
  storeClosed,
} from "../store-errors.ts";
import { appendCheckpoints, mendCheckpoints, readCheckpoints, signedTo } from "./checkpoints.ts";
import { appendRecords, type FileTail, type OpenFile, readLinesAfter, readTail, writeRecords } from "./file.ts";
import { createFolder, FILE_MODE, prepareThreads, readMeta, removeFolder, sessionIds, writeMeta } from "./folder.ts";
import { type FolderLock, lockFolder } from "./lock.ts";
import { unfinishedCalls } from "./open-calls.ts";
import { createPlaces } from "./places.ts";
import { seekEvent } from "./seek.ts";

/** Rejects with a ReasonError that names the folder when it cannot be used. Creates it with a `.gitignore`. */
export async function openJsonlStore(options: {
  /** The workspace; sessions go to `.harness/threads` in it. */
  readonly root: string;
  readonly clock: Pick<Clock, "now">;
  /** Signs a checkpoint at the end of each turn and when a writer leaves; without it the log is chained, not signed. */
  readonly signer?: Signer;
  /** Where the last known head of each session is kept; without it an older copy of the log is not noticed. */
  readonly heads?: HeadsPlace;
}): Promise<ArchiveStore> {
  const { root, clock, signer, heads } = options;
  try {
    const threads = prepareThreads(root, clock.now());
    const store = createStore(threads, clock, signer);
    return heads === undefined ? store : withKnownHeads(store, createKnownHeads(heads, threads));
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    const why = messageOf(error);
    throw new ReasonError("ConfigInvalid", { detail: `The session log in ${root} cannot be opened: ${why}.` });
  }
}

function createStore(threads: string, clock: Pick<Clock, "now">, signer: Signer | undefined): ArchiveStore {
  const nextSalt = createSalts();
  const places = createPlaces();
  /** How to give up each session that is open for writing here. */
  const open = new Set<() => void>();
  let closed = false;

  const guarded = <Result>(effect: "reads" | "writes", work: () => Result): Result => {
    if (closed) throw storeClosed();
    try {
      return work();
    } catch (error) {
      throw error instanceof ReasonError ? error : accessFailed(effect, threads, error);
    }
  };

  const guardedLater = async <Result>(effect: "reads" | "writes", work: () => Promise<Result>): Promise<Result> => {
    if (closed) throw storeClosed();
    try {
      return await work();
    } catch (error) {
      throw error instanceof ReasonError ? error : accessFailed(effect, threads, error);
    }
  };

  const withFile = <Result>(id: SessionId, work: (file: OpenFile) => Result): Result => {
    const opened = openEvents(threads, id, "r");
    try {
      return work(opened);
    } finally {
      closeSync(opened.file);
    }
  };

  /** Undefined when the session was deleted in the meantime. */
  const readTailOf = (id: SessionId): FileTail | undefined => {
    try {
      return withFile(id, readTail);
    } catch (error) {
      if (error instanceof ReasonError && error.reason === "SessionNotFound") return undefined;
      throw error;
    }
  };

  const metaOf = (id: SessionId): SessionMeta | undefined => {
    const meta = readMeta(join(threads, id));
    if (meta === undefined) return undefined;
    const tail = readTailOf(id);
    if (tail === undefined) return undefined;
    const { head, updatedAt } = tail;
    return { ...meta, updatedAt: updatedAt ?? meta.createdAt, lastEventId: head.lastEventId };
  };

  const readLines = (id: SessionId, { after, limit, maxChars = Infinity }: EventPage): readonly ParsedLine[] =>
    withFile(id, (opened) => {
      const { file } = opened;
      const { end } = readTail(opened);
      const known = places.of(id, fstatSync(file).ino);
      const from = seekEvent(file, known.before(after + 1), end, after + 1);
      const { lines, last } = readLinesAfter(opened, { from, after, end, limit, maxBytes: maxChars });
      known.mark(last);
      return lines;
    });

  const lock = (id: SessionId): FolderLock => {
    if (readMeta(join(threads, id)) === undefined) throw sessionNotFound(id);
    const held = lockFolder(join(threads, id), clock);
    if ("heldBy" in held) throw sessionBusy(id, held.heldBy);
    return held;
  };

  const openLog = (id: SessionId): SessionLog => {
    const held = lock(id);
    const folder = join(threads, id);
    let opened: OpenFile;
    let tail: FileTail;
    try {
      opened = openEvents(threads, id, "r+");
      tail = readTail(opened);
      if (tail.tornBytes > 0) ftruncateSync(opened.file, tail.end);
      mendCheckpoints(folder);
      // What a writer that was cut off, or had no key, left unsigned.
      signEnd(folder, id, tail.head);
    } catch (error) {
      held.release();
      throw error;
    }
    const { file, path } = opened;
    let { head, end } = tail;
    const checkpoint = signer && createDelayedCheckpoint(() => signEnd(folder, id, head));
    const giveUp = (): void => {
      if (!open.delete(giveUp)) return;
      checkpoint?.stop();
      closeSync(file);
      held.release();
    };
    open.add(giveUp);
    return {
      ...defined({ lastTs: tail.lastTs }),
      repairs: tail.tornBytes === 0 ? [] : [tornTail(path, tail.tornBytes)],
      async append(drafts, now) {
        return guarded("writes", () => {
          const first = head.lastEventId + 1;
          if (drafts.length === 0) return first;
          const chained = chainDrafts(id, head, drafts, nextSalt);
          const endsTurn = drafts.some(({ kind }) => kind === "TurnEnded");
          // A turn that could not be signed is not stored as ended.
          if (endsTurn) signer?.ready();
          held.renew(clock.now());
          if (fstatSync(file).size !== end) throw otherWriter(id, undefined);
          end = appendRecords(opened, end, chained.records, now);
          head = chained.head;
          if (endsTurn) checkpoint?.turnEnded();
          return first;
        });
      },
      async openCalls() {
        return guardedLater("reads", () => unfinishedCalls(opened, end));
      },
      async release() {
        if (!open.has(giveUp)) return;
        guarded("writes", () => {
          try {
            signEnd(folder, id, head);
          } finally {
            giveUp();
          }
        });
      },
    };
  };

  const signHere = (folder: string, session: SessionId, places: Iterable<ChainHead>): void => {
    if (signer === undefined) return;
    const ts = new Date(clock.now()).toISOString();
    const made = Array.from(places, ({ lastEventId: event, hash }) => signer.sign({ session, event, hash, ts }));
    appendCheckpoints(folder, made);
  };

  /** The end of the chain is signed, unless it is already. */
  const signEnd = (folder: string, session: SessionId, head: ChainHead): void => {
    if (signer !== undefined && head.lastEventId > signedTo(folder)) signHere(folder, session, [head]);
  };

  const create = (meta: StoredMeta, fill: (file: number, folder: string) => void): void => {
    if (!createFolder(threads, meta, fill)) throw sessionExists(meta.id);
  };

  return {
    async create(session) {
      guarded("writes", () => create({ ...session, title: "", state: "active", pinned: false }, () => undefined));
    },
    async restore({ updatedAt, ...meta }, records, known) {
      guarded("writes", () => {
        // Asked before the work; the folder that is made at the end decides.
        if (readMeta(join(threads, meta.id)) !== undefined) throw sessionExists(meta.id);
        const { id: session } = meta;
        create(meta, (file, folder) => {
          const places = createPlacesToSign(session);
          writeRecords({ file, path: threads, session }, records, { now: updatedAt, note: places.note });
          if (known === undefined) signHere(folder, session, places.all());
          else appendCheckpoints(folder, known);
        });
      });
    },
    async get(id) {
      return guarded("reads", () => metaOf(id));
    },
    async list({ limit, workingDir }) {
      return guarded("reads", () =>
        sessionIds(threads)
          .map(metaOf)
          .filter((meta) => meta !== undefined)
          .filter((meta) => workingDir === undefined || meta.workingDir === workingDir)
          .sort((a, b) => compare(b.updatedAt, a.updatedAt) || compare(b.id, a.id))
          .slice(0, limit),
      );
    },
    async update(id, change) {
      guarded("writes", () => {
        const folder = join(threads, id);
        const meta = readMeta(folder);
        if (meta === undefined) throw sessionNotFound(id);
        writeMeta(folder, { ...meta, ...change });
      });
    },
    async delete(id) {
      guarded("writes", () => {
        const held = lock(id);
        try {
          removeFolder(threads, id);
          places.forget(id);
        } finally {
          held.release();
        }
      });
    },
    async acquire(id) {
      return guarded("writes", () => openLog(id));
    },
    async read(id, page) {
      return guarded("reads", () => readLines(id, page).map(({ event }) => event));
    },
    async records(id, page) {
      return guarded("reads", () => readLines(id, page).map(toChained));
    },
    async *readEvidence(id) {
      // In this order: a checkpoint is written after its event.
      const checkpoints = guarded("reads", () => readCheckpoints(join(threads, id)));
      const { head } = guarded("reads", () => withFile(id, readTail));
      yield* mergeEvidence(id, readRecords(this, id, head.lastEventId), checkpoints, head);
    },
    async close() {
      for (const giveUp of [...open]) giveUp();
      closed = true;
    },
  };
}

function openEvents(threads: string, session: SessionId, flags: "r" | "r+"): OpenFile {
  const path = join(threads, session, "events.jsonl");
  try {
    return { file: openSync(path, flags, FILE_MODE), path, session };
  } catch (error) {
    throw errnoOf(error) === "ENOENT" ? sessionNotFound(session) : error;
  }
}

function tornTail(path: string, bytes: number): string {
  return `${path} ended in the middle of a write; ${bytes} bytes that were never acknowledged were cut off`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
