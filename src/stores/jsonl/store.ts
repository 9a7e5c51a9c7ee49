/**
 * The session log as plain files in a workspace, one folder for each session. Readable by anybody who can read the files;
 * the encrypted store is the other one. What a crash left behind the last whole append is cut off by the next writer.
 */

import { closeSync, fstatSync, ftruncateSync, openSync } from "node:fs";
import { join } from "node:path";
import { type Clock, errnoOf, messageOf } from "#base";
import type { EventPage, SessionMeta } from "#engine";
import { ReasonError, type SessionId } from "#protocol";
import type { ArchiveStore } from "../archive.ts";
import { type ParsedLine, toChained } from "../event-line.ts";
import { createEvidenceStore, type EvidenceOptions } from "../evidence-store.ts";
import { newestFirst, type RecordBackend, type RecordLog } from "../record-backend.ts";
import { otherWriter, sessionBusy, sessionNotFound } from "../store-errors.ts";
import { appendCheckpoints, mendCheckpoints, readCheckpoints, signedTo } from "./checkpoints.ts";
import { appendRecords, type FileTail, type OpenFile, readLinesAfter, readTail, writeRecords } from "./file.ts";
import { createFolder, FILE_MODE, prepareThreads, readMeta, removeFolder, sessionIds, writeMeta } from "./folder.ts";
import { type FolderLock, lockFolder } from "./lock.ts";
import { unfinishedCalls } from "./open-calls.ts";
import { createPlaces } from "./places.ts";
import { seekEvent } from "./seek.ts";

/** Rejects with a ReasonError that names the folder when it cannot be used. Creates it with a `.gitignore`. */
export async function openJsonlStore(
  options: EvidenceOptions & {
    /** The workspace; sessions go to `.harness/threads` in it. */
    readonly root: string;
  },
): Promise<ArchiveStore> {
  const { root, clock } = options;
  try {
    return createEvidenceStore(createJsonlBackend(prepareThreads(root, clock.now()), clock), options);
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    const why = messageOf(error);
    throw new ReasonError("ConfigInvalid", `The session log in ${root} cannot be opened: ${why}.`);
  }
}

function createJsonlBackend(threads: string, clock: Pick<Clock, "now">): RecordBackend {
  const places = createPlaces();
  /** How to give up each session that is open for writing here. */
  const open = new Set<() => void>();

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
    const tail = meta && readTailOf(id);
    return tail && { ...meta, updatedAt: tail.updatedAt ?? meta.createdAt, lastEventId: tail.last?.id ?? 0 };
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

  const openLog = (id: SessionId): RecordLog => {
    const held = lock(id);
    let opened: OpenFile | undefined;
    const giveUp = (): void => {
      if (!open.delete(giveUp)) return;
      if (opened !== undefined) closeSync(opened.file);
      held.release();
    };
    open.add(giveUp);
    try {
      opened = openEvents(threads, id, "r+");
      return writingEnd(id, opened, held, giveUp);
    } catch (error) {
      giveUp();
      throw error;
    }
  };

  const writingEnd = (id: SessionId, opened: OpenFile, held: FolderLock, giveUp: () => void): RecordLog => {
    const { file, path } = opened;
    const folder = join(threads, id);
    const { last, tornBytes, ...tail } = readTail(opened);
    let { end } = tail;
    if (tornBytes > 0) ftruncateSync(file, end);
    mendCheckpoints(folder);
    return {
      last,
      signedTo: signedTo(folder),
      repairs: tornBytes === 0 ? [] : [tornTail(path, tornBytes)],
      append({ records, end: { now }, renews }) {
        if (renews) held.renew(clock.now());
        else held.check();
        if (fstatSync(file).size !== end) throw otherWriter(id, undefined);
        end = appendRecords(opened, end, records, now);
      },
      sign: (checkpoint) => appendCheckpoints(folder, [checkpoint]),
      openCalls: () => unfinishedCalls(opened, end),
      release(_, checkpoint) {
        try {
          appendCheckpoints(folder, checkpoint === undefined ? [] : [checkpoint]);
        } finally {
          giveUp();
        }
      },
    };
  };

  return {
    name: threads,
    create({ updatedAt, ...meta }, records, checkpoints) {
      // Asked before the work; the folder that is made at the end decides.
      if (readMeta(join(threads, meta.id)) !== undefined) return false;
      return createFolder(threads, meta, (file, folder) => {
        writeRecords({ file, path: threads, session: meta.id }, records, updatedAt);
        appendCheckpoints(folder, checkpoints());
      });
    },
    get: metaOf,
    list: (options) =>
      newestFirst(
        sessionIds(threads).flatMap((id) => metaOf(id) ?? []),
        options,
      ),
    update(id, change) {
      const folder = join(threads, id);
      const meta = readMeta(folder);
      if (meta !== undefined) writeMeta(folder, { ...meta, ...change });
      return meta !== undefined;
    },
    delete(id) {
      const held = lock(id);
      try {
        removeFolder(threads, id);
        places.forget(id);
      } finally {
        held.release();
      }
    },
    acquire: openLog,
    records: (id, page) => readLines(id, page).map(toChained),
    events: (id, page) => readLines(id, page).map(({ event }) => event),
    checkpoints: (id) => readCheckpoints(join(threads, id)),
    close() {
      for (const giveUp of [...open]) giveUp();
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
  return `${path} ended in the middle of a write; Harness removed the last ${bytes} bytes, which it had never acknowledged`;
}
