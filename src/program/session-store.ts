/** The store that the `sessions` commands work on, and how a session is named there. */
import { resolve } from "node:path";
import type { SessionMeta } from "#engine";
import { ReasonError, SessionId } from "#protocol";
import {
  type ArchiveStore,
  createSigner,
  harnessPaths,
  loadPortability,
  machineKeySource,
  openSqliteStore,
} from "#stores";
import { keptHeads } from "./kept-heads.ts";
import type { ProgramPorts } from "./ports.ts";
import { loadConfig } from "./user-config-file.ts";

/** Sessions that a shortened id is looked for among, newest first. */
export const SEARCHED_SESSIONS = 100_000;
const SHOWN_CANDIDATES = 5;

export interface StoreFlags {
  readonly store: "sqlite" | "jsonl";
  readonly root?: string;
}

/** Opens the store for the time of `work`. */
export async function withStore<Result>(
  ports: ProgramPorts,
  flags: StoreFlags,
  work: (store: ArchiveStore) => Promise<Result>,
): Promise<Result> {
  const { env, clock, cwd } = ports;
  if (flags.root !== undefined && flags.store !== "jsonl") {
    throw new ReasonError("UsageInvalid", { detail: "--root goes with --store jsonl." });
  }
  const key = machineKeySource(env);
  const { settings } = await loadConfig(ports, undefined);
  const heads = keptHeads(ports, key, settings.audit);
  const proving = { clock, signer: createSigner(() => harnessPaths(env).configDir), heads };
  const store =
    flags.store === "jsonl"
      ? await (await loadPortability()).openJsonlStore({ root: resolve(cwd, flags.root ?? "."), ...proving })
      : await openSqliteStore({ path: harnessPaths(env).sessionsDb, key: key(), ...proving });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** How an id begins that somebody shortened to `text`, with or without `sess_`. */
export function idStart(text: string): string {
  return `sess_${text.replace(/^sess_/, "").toUpperCase()}`;
}

/** The session that `text` names: an id, or the beginning of one with or without `sess_` when only one begins so. */
export async function findSession(store: ArchiveStore, text: string): Promise<SessionMeta> {
  if (SessionId.is(text)) {
    const exact = await store.get(text);
    if (exact !== undefined) return exact;
    throw new ReasonError("SessionNotFound", { session: text });
  }
  const start = idStart(text);
  const matches =
    start === "sess_" ? [] : (await store.list({ limit: SEARCHED_SESSIONS })).filter(({ id }) => id.startsWith(start));
  const [first, ...others] = matches;
  if (first === undefined) {
    const detail = `no session begins with '${text}'. harness sessions list shows those in the log.`;
    throw new ReasonError("UsageInvalid", { detail });
  }
  if (others.length === 0) return first;
  const shown = matches.slice(0, SHOWN_CANDIDATES).map(({ id }) => id);
  const more = matches.length > shown.length ? ` and ${matches.length - shown.length} more` : "";
  const detail = `${matches.length} sessions begin with '${text}': ${shown.join(", ")}${more}. Give more of the id.`;
  throw new ReasonError("UsageInvalid", { detail });
}
