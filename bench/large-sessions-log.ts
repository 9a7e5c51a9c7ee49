/** Logs of one very long session, in each store, as the program would have written them: signed, with snapshots and compactions. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { HarnessOptions } from "#program";
import { SessionId } from "#protocol";
import { createSigner, loadPortability, openSqliteStore } from "#stores";
import { chainStart, createSalts } from "../src/stores/evidence.ts";
import { type ChainedRecord, type ChainHead, chainDrafts } from "../src/stores/record.ts";
import { STORE_KEY } from "./control-plane-server.ts";
import { sessionDrafts } from "./session-drafts.ts";
import { writeSession } from "./sessions.ts";

export const storeKinds = ["sqlite", "jsonl"] as const;
export type StoreKind = (typeof storeKinds)[number];

const COMPACT_EVERY = 10_000;
const GROUP = 500;
const NOW = "2026-01-01T00:00:00.000Z";
const clock = { now: () => Date.now() };

export const SESSION = SessionId.from("0".repeat(26));

/** The log in `folder` and what signs it, as the harness takes them. */
export function keptLog(folder: string, kind: StoreKind): Pick<HarnessOptions, "store" | "signer" | "heads"> {
  const heads = { directory: join(folder, "heads"), key: () => STORE_KEY, clock, onProblem: fail };
  const proving = { signer: createSigner(() => join(folder, "config")), heads };
  return kind === "sqlite"
    ? { store: { kind, path: join(folder, "sessions.db"), key: () => STORE_KEY }, ...proving }
    : { store: { kind, root: folder }, ...proving };
}

/** Writes the session into both stores, unless an earlier run has. */
export async function makeLogs(folder: string, events: number): Promise<void> {
  const workingDir = join(folder, "work");
  mkdirSync(workingDir, { recursive: true });
  const { signer, heads } = keptLog(folder, "sqlite");
  const proving = { clock, ...(signer && { signer }), ...(heads && { heads }) };
  if (!existsSync(join(folder, "sessions.db"))) {
    const store = await openSqliteStore({ path: join(folder, "sessions.db"), key: STORE_KEY, ...proving });
    const written = { payloadBytes: 0, events: 0, snapshotMs: [] };
    await writeSession(store, SESSION, { name: "long", events, compactEvery: COMPACT_EVERY, workingDir }, written);
    await store.close();
  }
  if (!existsSync(join(folder, ".harness"))) {
    const { openJsonlStore } = await loadPortability();
    const store = await openJsonlStore({ root: folder, ...proving });
    const dates = { createdAt: NOW, updatedAt: NOW };
    const rest = { title: "", state: "active", pinned: false, workingDir, profile: "default" } as const;
    await store.restore({ id: SESSION, model: "bench:one", ...rest, ...dates }, records(events));
    await store.close();
  }
}

function* records(events: number): Generator<ChainedRecord> {
  const nextSalt = createSalts();
  let head: ChainHead = { lastEventId: 0, hash: chainStart(SESSION) };
  let group = [];
  for (const draft of sessionDrafts(events, COMPACT_EVERY)) {
    group.push(draft);
    if (group.length < GROUP && draft.kind !== "TurnEnded") continue;
    const chained = chainDrafts(SESSION, head, group, nextSalt);
    yield* chained.records;
    ({ head } = chained);
    group = [];
  }
  yield* chainDrafts(SESSION, head, group, nextSalt).records;
}

function fail(problem: string): never {
  throw new Error(problem);
}
