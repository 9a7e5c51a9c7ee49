/**
 * A text as whoever reads its strings sees it: without the escapes of JSON and of most languages. Notations that are found in a file
 * are found in it as well when it was put into a string, and again when that was.
 */
import { type RewrittenView, rewrittenView } from "./rewritten-view.ts";

const ESCAPES = /\\(?:["\\/nrt]|u[0-9A-Fa-f]{4})/g;
/** Without one of these, nothing is hidden in a string. */
const STRING_ESCAPE = /\\(?:["nt]|u00[0-9A-Fa-f]{2})/;
const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Undefined for a text without escapes. */
export function unescapedView(source: string): RewrittenView | undefined {
  return STRING_ESCAPE.test(source) ? rewrittenView(source, ESCAPES, meaning) : undefined;
}

function meaning(written: string): string {
  const kind = written.charAt(1);
  if (kind === "u") return String.fromCharCode(Number.parseInt(written.slice(2), 16));
  return CONTROLS[kind] ?? kind;
}
