/** Lines of code as rows in the colours of the theme. Pure. */
import type { CodeCarry, CodeSpan } from "./code-spans.ts";
import type { Theme } from "./theme.ts";
import type { Widgets } from "./widgets.ts";

export interface CodeRows {
  readonly rows: readonly string[];
  readonly after: CodeCarry | undefined;
}

export function codeRows(
  lines: readonly string[],
  before: CodeCarry | undefined,
  { theme, widgets }: { readonly theme: Theme; readonly widgets: Widgets },
): CodeRows {
  if (theme.name === "none") return { rows: lines, after: before };
  const { lines: spans, after } = widgets.codeLines(lines, before);
  return { rows: spans.map((line) => paintedSpans(line, theme)), after };
}

export function paintedSpans(spans: readonly CodeSpan[], theme: Theme): string {
  return spans.map(({ text, role }) => (role === undefined ? text : theme.paint(role, text))).join("");
}
