/** Finds the name somebody probably meant. */

/** The candidate nearest to the word by edit distance, or "" if none is near. Case and underscores do not count. */
export function nearest(word: string, candidates: Iterable<string>): string {
  const folded = fold(word);
  let best = "";
  let bestDistance = Math.floor((folded.length + 1) / 2);
  for (const candidate of candidates) {
    const d = distance(folded, fold(candidate), bestDistance);
    if (d < bestDistance) {
      bestDistance = d;
      best = candidate;
    }
  }
  return best;
}

function fold(s: string): string {
  return s.replaceAll("_", "").toLowerCase();
}

/** Levenshtein distance, or some number above max as soon as it is certain to be exceeded. */
function distance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const cost = Math.min(substitution, (next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1);
      next.push(cost);
      least = Math.min(least, cost);
    }
    if (least > max) return least;
    row = next;
  }
  return row[b.length] ?? 0;
}
