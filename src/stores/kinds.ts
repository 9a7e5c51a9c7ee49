/**
 * Every kind of store as one row: where the command line keeps its log, which files are the log's own, and how it is opened. A
 * further kind is a folder with a record backend, and a row here. Loads a store only when it is opened.
 */
import { join, resolve } from "node:path";
import { defined } from "#base";
import type { ArchiveStore } from "./archive.ts";
import type { EvidenceOptions } from "./evidence-store.ts";
import type { MachineKey } from "./machine-key.ts";
import { harnessPaths } from "./paths.ts";

/** What the command line knows when it chooses where a log is. */
export interface StoreSite {
  /** Absolute path. */
  readonly workspace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly key: () => MachineKey;
  /** Called before a log of an older version is brought to this one, which can take a while. */
  readonly onUpgrade?: () => void;
}

/** What people read while a log is brought to this version. */
export const UPGRADING_TEXT = "Database is upgrading…\n";

export interface StoreKind<Options> {
  /** Whether sessions outlive the process: only such a log has known heads, undo, and commands that read it. */
  readonly isDurable: boolean;
  /** Whether each workspace has a log of its own, instead of one for all workspaces of the user. */
  readonly isInWorkspace: boolean;
  options(site: StoreSite): Options;
  /** Absolute paths that belong to the log alone; the first one names the log. */
  files(options: Options): readonly string[];
  /** Rejects with a ReasonError that names the file or folder when it cannot be used. */
  open(options: Options, evidence: EvidenceOptions): Promise<ArchiveStore>;
}

export const storeKinds = {
  sqlite: defineKind<{ readonly path: string; readonly key: () => MachineKey; readonly onUpgrade?: () => void }>({
    isDurable: true,
    isInWorkspace: false,
    options: ({ env, key, onUpgrade }) => ({ path: harnessPaths(env).sessionsDb, key, ...defined({ onUpgrade }) }),
    files: ({ path }) => ["", "-wal", "-shm", "-journal"].map((suffix) => resolve(path) + suffix),
    async open({ path, key, onUpgrade }, evidence) {
      const { openSqliteStore } = await import("./sqlite/store.ts");
      return openSqliteStore({ path, key: key(), ...defined({ onUpgrade }), ...evidence });
    },
  }),
  jsonl: defineKind<{ readonly root: string }>({
    isDurable: true,
    isInWorkspace: true,
    options: ({ workspace }) => ({ root: workspace }),
    files: ({ root }) => [join(resolve(root), ".harness", "threads")],
    async open({ root }, evidence) {
      const { openJsonlStore } = await import("./jsonl/store.ts");
      return openJsonlStore({ root, ...evidence });
    },
  }),
  memory: defineKind<object>({
    isDurable: false,
    isInWorkspace: false,
    options: () => ({}),
    files: () => [],
    async open(_, { clock, signer }) {
      const { createMemoryStore } = await import("./memory-store.ts");
      return createMemoryStore(signer && { signer, clock });
    },
  }),
};

export type StoreKindName = keyof typeof storeKinds;
type OptionsOf<Name extends StoreKindName> = Parameters<(typeof storeKinds)[Name]["files"]>[0];

/** A kind with its options. */
export type StoreChoice = { [Name in StoreKindName]: { readonly kind: Name } & OptionsOf<Name> }[StoreKindName];

/** In the order of the table, which has no further keys. */
export const storeKindNames = Object.keys(storeKinds) as readonly StoreKindName[];
/** What the command line keeps the sessions of a user in. */
export const USER_LOG = "sqlite" satisfies StoreKindName;
export const durableKindNames = storeKindNames.filter((name) => storeKinds[name].isDurable);

/** The log of a kind where the command line has it. */
export function storeChoice(kind: StoreKindName, site: StoreSite): StoreChoice {
  // The options are those of the row of the same name.
  return { kind, ...storeKinds[kind].options(site) } as StoreChoice;
}

export function openStore(choice: StoreChoice, { clock, signer, heads }: EvidenceOptions): Promise<ArchiveStore> {
  return rowOf(choice).open(choice, { clock, ...defined({ signer, heads }) });
}

/** Absolute paths of the log: no call may see or change them. */
export function logFiles(choice: StoreChoice): readonly string[] {
  return rowOf(choice).files(choice);
}

function rowOf({ kind }: StoreChoice): StoreKind<StoreChoice> {
  // The kind of a choice names the row that its options are for.
  return storeKinds[kind] as StoreKind<StoreChoice>;
}

function defineKind<Options>(row: StoreKind<Options>): StoreKind<Options> {
  return row;
}
