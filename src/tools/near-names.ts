/** Names close to one that was not found, so that a refusal can say what was probably meant. */
import { EffectError, type FilePort } from "#base";
import { ToolError } from "#engine";

const MAX_CANDIDATES = 2_000;
const MAX_NAME_CHARS = 120;
const MAX_SUGGESTIONS = 3;
const MIN_SIMILARITY = 0.4;

/** A `NotFound` with a suggestion added; any other error as it is. */
export async function withSuggestion(error: unknown, files: FilePort, path: string): Promise<unknown> {
  if (!(error instanceof EffectError) || error.reason !== "NotFound") return error;
  return new ToolError(`${path} does not exist.${await suggestNames(files, path)}`);
}

/** " Did you mean …?" with entries of the same directory, or "" when nothing is close. */
export async function suggestNames(files: FilePort, path: string): Promise<string> {
  const slash = path.lastIndexOf("/");
  const directory = slash === -1 ? "." : path.slice(0, slash) || "/";
  if ((await files.stat(directory))?.kind !== "directory") return ` The directory ${directory} does not exist either.`;
  const names = (await files.list(directory)).slice(0, MAX_CANDIDATES).map((entry) => entry.name);
  const near = nearest(path.slice(slash + 1), names);
  if (near.length === 0) return "";
  const shown = near.map((name) => (slash === -1 ? name : `${path.slice(0, slash + 1)}${name}`));
  return ` Did you mean ${shown.join(" or ")}?`;
}

/** The closest of `names`, best first. */
function nearest(wanted: string, names: readonly string[]): string[] {
  const target = wanted.toLowerCase().slice(0, MAX_NAME_CHARS);
  return names
    .map((name) => ({ name, score: similarity(target, name.toLowerCase().slice(0, MAX_NAME_CHARS)) }))
    .filter(({ score }) => score >= MIN_SIMILARITY)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

/** From 0 to 1: the share of letter pairs two texts have in common (Dice). Linear in their length. */
export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  if (a.length < 2 || b.length < 2) return 0;
  const pairs = new Map<string, number>();
  for (let at = 0; at < a.length - 1; at++) {
    const pair = a.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let shared = 0;
  for (let at = 0; at < b.length - 1; at++) {
    const left = pairs.get(b.slice(at, at + 2)) ?? 0;
    if (left === 0) continue;
    pairs.set(b.slice(at, at + 2), left - 1);
    shared++;
  }
  return (2 * shared) / (a.length + b.length - 2);
}
