/** Files of the workspace behind `@`: found by the letters that somebody remembers, best first. */
import type { Clock } from "#base";
import { type LookUp, nameablePath, type Rule } from "#governance";
import type { ClientId } from "#protocol";
import { listWorkspacePaths } from "#tools";

/** A list is used again for this long, so that typing a name walks the workspace once. */
const KEPT_MS = 5_000;
const MAX_QUERY_CHARS = 200;

export interface PathCompletionParts {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** All that ignore files leave in. Rejects when they cannot be listed. */
  list(by: ClientId): Promise<readonly string[]>;
  /** By the rules as they are now. */
  nameable(): (path: string) => boolean;
}

/** At most `limit` paths. */
export type CompletePath = (typed: string, limit: number, by: ClientId) => Promise<readonly string[]>;

export function createPathCompletion({ clock, list, nameable }: PathCompletionParts): CompletePath {
  let kept: { readonly paths: Promise<readonly string[]>; readonly untilMs: number } | undefined;
  return async (typed, limit, by) => {
    if (typed.length > MAX_QUERY_CHARS) return [];
    const nowMs = clock.monotonicMs();
    if (kept === undefined || kept.untilMs <= nowMs) {
      const made = { paths: list(by), untilMs: nowMs + KEPT_MS };
      kept = made;
      // The next one tries again.
      made.paths.catch(() => {
        if (kept === made) kept = undefined;
      });
    }
    const isOffered = nameable();
    const found: string[] = [];
    for (const path of bestPaths(await kept.paths, typed)) {
      if (found.length >= limit) break;
      if (isOffered(path)) found.push(path);
    }
    return found;
  };
}

/** The files that ignore files leave in, but for secret ones and those that the rules hide. None where the rules let nobody list them. */
export function workspacePaths({
  root,
  clock,
  rules,
  lookUp,
}: Pick<PathCompletionParts, "clock"> & {
  readonly root: string;
  readonly rules: () => readonly Rule[];
  readonly lookUp: LookUp;
}): CompletePath {
  return createPathCompletion({
    clock,
    list: async (by) => (await lookUp({ tool: "fs.glob", args: { pattern: "**" }, by }, listWorkspacePaths)) ?? [],
    nameable: () => nameablePath(rules(), root),
  });
}

/** Those that have the letters of `typed` in this order, in any case. */
export function bestPaths(paths: readonly string[], typed: string): readonly string[] {
  const wanted = typed.toLowerCase();
  const ranked = paths.flatMap((path) => {
    const rank = rankOf(path.toLowerCase(), wanted);
    return rank === undefined ? [] : [{ path, rank }];
  });
  const order = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1);
  return ranked.toSorted((a, b) => a.rank - b.rank || order(a.path, b.path)).map(({ path }) => path);
}

/** The lower, the better. What was typed counts most at the beginning of the path, then of its name, then inside of them. */
function rankOf(path: string, wanted: string): number | undefined {
  if (path.startsWith(wanted)) return 0;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(wanted)) return 1;
  if (name.includes(wanted)) return 2;
  if (path.includes(wanted)) return 3;
  const gaps = gapsIn(path, wanted);
  return gaps === undefined ? undefined : 4 + gaps;
}

/** Letters that are left out between the first and the last one; undefined when one is missing. */
function gapsIn(path: string, wanted: string): number | undefined {
  let first = 0;
  let at = -1;
  for (const letter of wanted) {
    const next = path.indexOf(letter, at + 1);
    if (next < 0) return undefined;
    if (at < 0) first = next;
    at = next;
  }
  return at - first + 1 - wanted.length;
}
