/** The order in which the hooks of one event are asked. It is decided here alone; the dispatcher asks them as they come. */
import type { SourceLocation, Tier } from "./project.ts";

interface Ordered {
  readonly tier: Tier;
  readonly priority: number;
}

/** Those of files: those of the admin policy first, whatever their priority; then by priority, by file and by line. */
export function inHookOrder<Hook extends Ordered & { readonly place: SourceLocation }>(
  hooks: readonly Hook[],
): readonly Hook[] {
  return hooks.toSorted(byPlace).toSorted(byTier);
}

/**
 * `written` are those of files, in their order; `added` those of an agent and those that were registered while the session runs. What
 * the added ones change, those of the project still see, whatever the priorities; those of the admin policy are first.
 */
export function withAddedHooks<Hook extends Ordered>(
  written: readonly Hook[],
  added: readonly Hook[],
): readonly Hook[] {
  if (added.length === 0) return written;
  const isOfAdmin = ({ tier }: Hook): boolean => tier === "admin";
  const ofProject = written.filter((hook) => !isOfAdmin(hook));
  return [...written.filter(isOfAdmin), ...added.toSorted(byTier), ...ofProject];
}

/** Where both are equal, as they were given. */
function byTier(a: Ordered, b: Ordered): number {
  return Number(b.tier === "admin") - Number(a.tier === "admin") || a.priority - b.priority;
}

function byPlace(a: { readonly place: SourceLocation }, b: { readonly place: SourceLocation }): number {
  if (a.place.file !== b.place.file) return a.place.file < b.place.file ? -1 : 1;
  return a.place.line - b.place.line;
}
