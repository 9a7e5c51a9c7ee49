/** Rows as aligned columns that fit a terminal: the last column is cut, the others keep their width. */
import { visibleRow } from "#base";

export function formatTable(header: readonly string[], rows: readonly (readonly string[])[], columns: number): string {
  const all = [header, ...rows].map((row) => row.map(visibleRow));
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  const lines = all.map((row) => {
    const line = row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join("  ");
    return line.length > columns ? `${line.slice(0, Math.max(1, columns - 1))}…` : line.trimEnd();
  });
  return `${lines.join("\n")}\n`;
}
