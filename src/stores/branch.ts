/** Branching: the events of a session up to the end of one of its turns, as a new session that goes its own way. */
import { hash } from "node:crypto";
import { ulidFromDigest } from "#base";
import { LogId, ReasonError, type SessionId } from "#protocol";
import { type ArchiveStore, readRecords } from "./archive.ts";
import { copyRecords, rewriteId, toSource } from "./copied-session.ts";
import { createSalts } from "./evidence.ts";
import type { ChainedRecord } from "./record.ts";
import { sessionNotFound } from "./store-errors.ts";
import { leaveWaitingInputs } from "./waiting-inputs.ts";

export interface BranchOptions {
  /** Id of a TurnEnded event; default: the last one. */
  readonly at?: number;
  /** Makes another branch at the same place; default: follows from the source and the place. */
  readonly log?: LogId;
  /** When the branch is made. */
  readonly now: string;
}

export interface Branch {
  readonly session: SessionId;
  readonly log: LogId;
  /** The event that it was cut after. */
  readonly at: number;
  /** False when this very branch was there already; it is left as it is. */
  readonly created: boolean;
}

/**
 * Whoever branches the same session at the same place gets the same ids. Rejects with BranchPointInvalid, which names the
 * places nearby, when `at` does not end a turn.
 */
export async function branchSession(store: ArchiveStore, source: SessionId, options: BranchOptions): Promise<Branch> {
  const parent = await store.get(source);
  if (parent === undefined) throw sessionNotFound(source);
  const records = await recordsUpTo(store, source, options.at);
  const at = records.length;
  const log = options.log ?? branchLog(source, at);
  const session = rewriteId(source, log);
  if ((await store.get(session)) !== undefined) return { session, log, at, created: false };
  const { workingDir, profile, model, title } = parent;
  const { now } = options;
  const made = { createdAt: now, updatedAt: now, title, state: "active", pinned: false, parent: source } as const;
  const copied = copyRecords(records.map(toSource), { source, log, nextSalt: createSalts(), parent: source });
  await store.restore({ id: session, workingDir, profile, model, ...made }, copied);
  if (records.some(({ kind }) => kind === "InputQueued")) await leaveWaitingInputs(store, session, now);
  return { session, log, at, created: true };
}

/** The log that a branch of `source` after the event `at` goes to when nobody names another. */
export function branchLog(source: SessionId, at: number): LogId {
  return LogId.from(ulidFromDigest(hash("sha256", `harness-branch-1\n${source}\n${at}`, "buffer")));
}

async function recordsUpTo(store: ArchiveStore, id: SessionId, at: number | undefined): Promise<ChainedRecord[]> {
  const records: ChainedRecord[] = [];
  let before = 0;
  let last = 0;
  for await (const record of readRecords(store, id)) {
    last = record.id;
    if (record.kind === "TurnEnded") {
      if (record.id === at) return [...records, record];
      if (at !== undefined && record.id > at) throw invalid(id, at, near(before, record.id));
      before = record.id;
    }
    if (at === undefined || record.id <= at) records.push(record);
  }
  if (at !== undefined && at > last) throw invalid(id, at, `the last event is ${last}; ${near(before)}`);
  if (at !== undefined || before === 0) throw invalid(id, at ?? last, near(before));
  return records.slice(0, before);
}

function near(...ends: readonly number[]): string {
  const known = ends.filter((end) => end > 0);
  if (known.length === 0) return "the session has no finished turn yet.";
  const where = known.map((end) => `event ${end}`).join(" and ");
  return `the nearest ${known.length === 1 ? "turn ends" : "turns end"} at ${where}; branch there.`;
}

function invalid(session: SessionId, event: number, detail: string): ReasonError {
  return new ReasonError("BranchPointInvalid", { session, event, detail });
}
