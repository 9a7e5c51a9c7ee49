/** The store that the `sessions` commands work on, and how a session is named there. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { SessionMeta } from "#engine";
import { ReasonError, SessionId } from "#protocol";
import {
  type ArchiveStore,
  createKnownHeads,
  createSigner,
  harnessPaths,
  type KnownHeads,
  machineKeySource,
} from "#stores";
import {
  durableKindNames,
  logFiles,
  openStore,
  type StoreChoice,
  type StoreKindName,
  storeChoice,
  storeKinds,
  UPGRADING_TEXT,
} from "#stores/kinds";
import { keptHeads } from "./kept-heads.ts";
import type { ProgramPorts } from "./ports.ts";
import { loadConfig } from "./user-config-file.ts";

/** Sessions that a shortened id is looked for among, newest first. */
export const SEARCHED_SESSIONS = 100_000;
const SHOWN_CANDIDATES = 5;

export interface StoreFlags {
  /** Of a durable kind. */
  readonly store: StoreKindName;
  readonly root?: string;
}

/** Opens the store for the time of `work`. */
export async function withStore<Result>(
  ports: ProgramPorts,
  flags: StoreFlags,
  work: (store: ArchiveStore) => Promise<Result>,
): Promise<Result> {
  const { env, clock } = ports;
  if (flags.root !== undefined && !storeKinds[flags.store].isInWorkspace) {
    throw new ReasonError("UsageInvalid", "--root needs --store jsonl.");
  }
  const key = machineKeySource(env);
  const { settings } = await loadConfig(ports, undefined);
  const heads = keptHeads(ports, key, settings.audit);
  const signer = createSigner(() => harnessPaths(env).configDir);
  const store = await openStore(storeOf(ports, flags), { clock, signer, heads });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The log that has the session: one of the folder, or that of the user. Makes no log; undefined when none has it. */
export async function logWith(
  ports: ProgramPorts,
  folder: string,
  session: SessionId,
): Promise<StoreFlags | undefined> {
  const places = durableKindNames.map((store): StoreFlags => logOf(store, folder));
  for (const flags of places.toSorted((a, b) => Number("root" in b) - Number("root" in a))) {
    const [log = ""] = logFiles(storeOf(ports, flags));
    const isIn = (store: ArchiveStore): Promise<boolean> => store.get(session).then((meta) => meta !== undefined);
    if (existsSync(log) && (await withStore(ports, flags, isIn))) return flags;
  }
  return undefined;
}

/** The log of a kind that sessions of the folder are in. */
export function logOf(store: StoreKindName, folder: string): StoreFlags {
  return storeKinds[store].isInWorkspace ? { store, root: folder } : { store };
}

/** The log that the flags name. */
function storeOf({ env, cwd, terminal }: ProgramPorts, { store, root = "." }: StoreFlags): StoreChoice {
  const onUpgrade = (): void => terminal.err(UPGRADING_TEXT);
  return storeChoice(store, { workspace: resolve(cwd, root), env, key: machineKeySource(env), onUpgrade });
}

/** The last known heads of the log that the flags name. Opens no log; asks for the machine key only when a head is there. */
export async function headsOf(ports: ProgramPorts, flags: StoreFlags): Promise<KnownHeads> {
  const { settings } = await loadConfig(ports, undefined);
  const [log] = logFiles(storeOf(ports, flags));
  if (log === undefined) throw new ReasonError("UsageInvalid", `--store ${flags.store} keeps no log.`);
  const heads = createKnownHeads(keptHeads(ports, machineKeySource(ports.env), settings.audit), log);
  await heads.consult();
  return heads;
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
    const detail = `no session id begins with '${text}'. To list the sessions, run: harness sessions list`;
    throw new ReasonError("UsageInvalid", detail);
  }
  if (others.length === 0) return first;
  const shown = matches.slice(0, SHOWN_CANDIDATES).map(({ id }) => id);
  const more = matches.length > shown.length ? ` and ${matches.length - shown.length} more` : "";
  const detail = `${matches.length} session ids begin with '${text}': ${shown.join(", ")}${more}. Type more of the id.`;
  throw new ReasonError("UsageInvalid", detail);
}
