/** What the editor offers while people type: the words behind a slash, as every client completes them. */
import type { AutocompleteItem, AutocompleteProvider } from "@earendil-works/pi-tui";
import { counted, visibleLine } from "#base";
import { completeSlash, type SlashCommand, typedWord } from "#protocol";

export interface CompletionSources {
  /** As they were last asked for. */
  commands(): readonly SlashCommand[];
}

export function createCompletion(sources: CompletionSources): AutocompleteProvider {
  return {
    async getSuggestions(lines, cursorLine, cursorColumn) {
      const before = (lines[cursorLine] ?? "").slice(0, cursorColumn);
      if (cursorLine > 0) return null;
      const items = slashItems(before, sources.commands());
      return items.length === 0 ? null : { items: [...items], prefix: before };
    },
    applyCompletion(lines, cursorLine, cursorCol, { value }, prefix) {
      const line = lines[cursorLine] ?? "";
      const before = line.slice(0, cursorCol - prefix.length) + value;
      return {
        lines: lines.with(cursorLine, before + line.slice(cursorCol)),
        cursorLine,
        cursorCol: before.length,
      };
    },
  };
}

function slashItems(before: string, rows: readonly SlashCommand[]): readonly AutocompleteItem[] {
  const about = new Map(rows.map((row) => [`/${typedWord(row)}`, row.description]));
  return completeSlash(before, rows).map((value) => ({
    value,
    label: visibleLine(value),
    description: visibleLine(about.get(value) ?? inNamespace(value, rows)),
  }));
}

function inNamespace(value: string, rows: readonly SlashCommand[]): string {
  return counted(rows.filter(({ namespace }) => `/${namespace}:` === value).length, "command");
}
