/** Splits a Markdown artifact into its YAML head and its body. By hand: it is twenty lines, and every position has to hold. */

export interface Frontmatter {
  /** As many empty lines as it has lines before it, then the YAML: lines and columns are those of the file. */
  readonly yaml: string;
  /** Without the white space around it. */
  readonly body: string;
  /** Line of the first line of `body`, from 1. */
  readonly bodyLine: number;
}

export type FrontmatterFailure = "missing" | "unclosed";

const DELIMITER = /^---[ \t]*$/;

/** `text` has no byte order mark and only `\n` line ends. */
export function splitFrontmatter(text: string): Frontmatter | FrontmatterFailure {
  const firstEnd = lineEnd(text, 0);
  if (!DELIMITER.test(text.slice(0, firstEnd))) return "missing";
  let line = 2;
  for (let start = firstEnd + 1; start <= text.length; line++) {
    const end = lineEnd(text, start);
    if (DELIMITER.test(text.slice(start, end))) {
      const rest = text.slice(end + 1);
      const blank = /^\s*/.exec(rest)?.[0] ?? "";
      const bodyLine = line + 1 + (blank.match(/\n/g)?.length ?? 0);
      return { yaml: `\n${text.slice(firstEnd + 1, start)}`, body: rest.trim(), bodyLine };
    }
    start = end + 1;
  }
  return "unclosed";
}

function lineEnd(text: string, from: number): number {
  const found = text.indexOf("\n", from);
  return found < 0 ? text.length : found;
}
