/** What a session has changed in a workspace, all its calls taken together. Reads records, not the workspace. */
import { defined } from "#base";
import type { SessionId, TurnId } from "#protocol";
import { type EntryState, type MaybeState, sameState } from "./change-set.ts";
import type { ContentStore } from "./content-store.ts";
import type { WorkspaceUndo } from "./workspace-undo.ts";

/** A text that is longer is not shown: nobody reads it line by line. */
const TEXT_MAX_BYTES = 256 * 1024;

export interface ChangesQuery {
  /** Changes since this turn began. Default: since the session began. */
  readonly turn?: TurnId;
  /** With the texts of this path. */
  readonly path?: string;
}

export interface ChangedPath {
  readonly path: string;
  readonly what: "added" | "changed" | "removed";
}

/** A path with its texts; each is absent where nothing was there, or where `why` says that it cannot be shown. */
export interface ChangedFile extends ChangedPath {
  readonly before?: string;
  readonly after?: string;
  readonly why?: string;
}

export interface SessionChanges {
  /** By path. What was undone, or changed back, is not among them. */
  readonly changes: readonly ChangedPath[];
  /** The path that was asked for; absent when it is not among the changes. */
  readonly file?: ChangedFile;
  /** Changed, or perhaps changed, without a record of the content. */
  readonly unknown: readonly { readonly path: string; readonly why: string }[];
  /** Calls that were cut off before their changes were recorded. */
  readonly interrupted: readonly { readonly call: string; readonly tool: string }[];
}

export function sessionChanges(
  { read, contents }: Pick<WorkspaceUndo, "read" | "contents">,
  session: SessionId,
  { turn: since, path: wanted }: ChangesQuery = {},
): SessionChanges {
  const { sets, open } = read(session);
  // Ids of turns sort in the order in which the turns began.
  const isSince = ({ turn }: { readonly turn: TurnId }): boolean => since === undefined || turn >= since;
  const inEffect = sets.filter((set) => set.undoneAt === undefined && isSince(set));
  const ends = new Map<string, { readonly before: MaybeState; readonly after: MaybeState }>();
  for (const { path, before, after } of inEffect.flatMap(({ files }) => files)) {
    ends.set(path, { before: ends.has(path) ? (ends.get(path)?.before ?? null) : before, after });
  }
  const changes = [...ends]
    .filter(([, { before, after }]) => !sameState(before, after))
    .map(([path, { before, after }]): ChangedPath => {
      return { path, what: before === null ? "added" : after === null ? "removed" : "changed" };
    });
  const listed = changes.find(({ path }) => path === wanted);
  const states = listed === undefined ? undefined : ends.get(listed.path);
  const unknown = new Map(
    inEffect.flatMap(({ uncovered, leftOut }) => [...uncovered, ...leftOut]).map(({ path, why }) => [path, why]),
  );
  return {
    changes: changes.sort((a, b) => (a.path < b.path ? -1 : 1)),
    unknown: [...unknown].map(([path, why]) => ({ path, why })),
    interrupted: open.filter(isSince).map(({ call, tool }) => ({ call, tool })),
    ...(listed !== undefined && states !== undefined && { file: { ...listed, ...textsOf(states, contents) } }),
  };
}

function textsOf(
  states: { readonly before: MaybeState; readonly after: MaybeState },
  contents: Pick<ContentStore, "get">,
): Pick<ChangedFile, "before" | "after" | "why"> {
  const [before, after] = [states.before, states.after].map((state) => (state === null ? {} : textOf(state, contents)));
  const why = before?.why ?? after?.why;
  if (why !== undefined) return { why };
  const texts = defined({ before: before?.text, after: after?.text });
  return texts.before === texts.after ? { why: "only its mode changed" } : texts;
}

function textOf(
  state: EntryState,
  contents: Pick<ContentStore, "get">,
): { readonly text?: string; readonly why?: string } {
  if (state.kind === "directory") return { why: "it is a directory" };
  if (state.kind === "symlink") return { text: `-> ${state.target}` };
  if (state.size > TEXT_MAX_BYTES) return { why: `it has ${state.size} bytes; at most ${TEXT_MAX_BYTES} are shown` };
  const bytes = contents.get(state.hash);
  if (bytes === undefined) return { why: "its content is no longer kept" };
  if (bytes.includes(0)) return { why: "it is not text" };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { why: "it is not text" };
  }
}
