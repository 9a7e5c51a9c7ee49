/** What a session has changed in a workspace since it began, all its calls taken together. Reads records, not the workspace. */
import type { SessionId } from "#protocol";
import { type MaybeState, sameState } from "./change-set.ts";
import type { WorkspaceUndo } from "./workspace-undo.ts";

export interface SessionChanges {
  /** By path. What was undone, or changed back, is not among them. */
  readonly changes: readonly { readonly path: string; readonly what: "added" | "changed" | "removed" }[];
  /** Changed, or perhaps changed, without a record of the content. */
  readonly unknown: readonly { readonly path: string; readonly why: string }[];
  /** Calls that were cut off before their changes were recorded. */
  readonly interrupted: readonly { readonly call: string; readonly tool: string }[];
}

export function sessionChanges(workspace: Pick<WorkspaceUndo, "read">, session: SessionId): SessionChanges {
  const { sets, open } = workspace.read(session);
  const inEffect = sets.filter(({ undoneAt }) => undoneAt === undefined);
  const ends = new Map<string, { readonly before: MaybeState; readonly after: MaybeState }>();
  for (const { path, before, after } of inEffect.flatMap(({ files }) => files)) {
    ends.set(path, { before: ends.has(path) ? (ends.get(path)?.before ?? null) : before, after });
  }
  const changes = [...ends]
    .filter(([, { before, after }]) => !sameState(before, after))
    .map(([path, { before, after }]) => {
      return { path, what: before === null ? "added" : after === null ? "removed" : "changed" } as const;
    });
  const unknown = new Map(
    inEffect.flatMap(({ uncovered, leftOut }) => [...uncovered, ...leftOut]).map(({ path, why }) => [path, why]),
  );
  return {
    changes: changes.sort((a, b) => (a.path < b.path ? -1 : 1)),
    unknown: [...unknown].map(([path, why]) => ({ path, why })),
    interrupted: open.map(({ call, tool }) => ({ call, tool })),
  };
}
