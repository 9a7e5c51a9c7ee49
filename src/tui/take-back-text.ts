/** The input that asks the agent to take hunks back, for the person to read and change before it is sent. Pure. */
import type { FileChange, Hunk } from "./change.ts";

const MAX_LINES = 40;

export function takeBackText(hunks: readonly { readonly change: FileChange; readonly hunk: Hunk }[]): string {
  const parts = hunks.map(({ change: { path, lines }, hunk: { from, to } }) => {
    const first = lines.slice(0, from).filter(({ mark }) => mark !== "-").length + 1;
    const shown = lines.slice(from, Math.min(to, from + MAX_LINES)).map(({ mark, text }) => `${mark}${text}`);
    const more = to - from > MAX_LINES ? [`… ${to - from - MAX_LINES} more lines`] : [];
    return [`${path}, from line ${first}:`, "```diff", ...shown, ...more, "```"].join("\n");
  });
  return ["Take these changes back and leave everything else as it is:", ...parts].join("\n");
}
