/** The Markdown that generated pages consist of. */

export const GENERATED = "<!-- Made by `npm run docs` from the tables in the code. Change those, not this page. -->";

export function page(parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}

export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

export function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

/** Text in which Markdown must see no tag and no emphasis. */
export function plain(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll("*", "\\*");
}
