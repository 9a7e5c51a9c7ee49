/** The order in which hooks of one event are asked. */
import type { Place, Tier } from "./project.ts";

interface Ordered {
  readonly tier: Tier;
  readonly priority: number;
}

/** Those of the admin policy first, whatever their priority; then by priority. Where both are equal, as they were given. */
export function inHookOrder<Hook extends Ordered>(hooks: readonly Hook[]): readonly Hook[] {
  return hooks.toSorted((a, b) => Number(b.tier === "admin") - Number(a.tier === "admin") || a.priority - b.priority);
}

/** By file, then by line. */
export function byPlace(a: { readonly place: Place }, b: { readonly place: Place }): number {
  if (a.place.file !== b.place.file) return a.place.file < b.place.file ? -1 : 1;
  return a.place.line - b.place.line;
}
