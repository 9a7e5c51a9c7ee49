/** What the editor offers while people type: words behind a slash as every client completes them; files, resources and arguments as the session does. */
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@earendil-works/pi-tui";
import { counted, visibleLine } from "#base";
import { completeSlash, type SlashCommand, typedWord } from "#protocol";

export interface CompletionSources {
  /** As they were last asked for. */
  commands(): readonly SlashCommand[];
  /** Whole inputs that can follow; the session is asked. */
  complete(text: string): Promise<readonly string[]>;
}

/** The word that is being typed, when it names something by `@`. */
const MENTION = /(?:^|[\s([{"'`,])(@(?:"[^"\n]*|[^\s@"'`]*))$/;
/** A slash command with the beginning of an argument. */
const ARGUMENT = /^\/\S+\s/;

export function createCompletion(sources: CompletionSources): AutocompleteProvider {
  async function asked(text: string): Promise<readonly AutocompleteItem[]> {
    // Nothing to offer is what a failure looks like, too: whoever types goes on typing.
    const found = await sources.complete(text).catch(() => []);
    return found.map((value) => ({ value, label: labelOf(value, text) }));
  }

  return {
    async getSuggestions(lines, cursorLine, cursorColumn, { force = false }) {
      const before = (lines[cursorLine] ?? "").slice(0, cursorColumn);
      const mention = MENTION.exec(before)?.[1];
      if (mention !== undefined) return offer(mention, await asked(mention));
      if (cursorLine > 0) return null;
      if (!ARGUMENT.test(before)) return offer(before, slashItems(before, sources.commands()));
      // Enter takes what is offered: an argument that may be left out is offered once something of it is typed, or on Tab.
      return before.endsWith(" ") && !force ? null : offer(before, await asked(before));
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

function offer(prefix: string, items: readonly AutocompleteItem[]): AutocompleteSuggestions | null {
  return items.length === 0 ? null : { items: [...items], prefix };
}

/** Of a command only its argument, of a mention what it names. */
function labelOf(value: string, typed: string): string {
  return visibleLine(value.replace(typed.startsWith("@") ? /^@"?|"$/g : ARGUMENT, ""));
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
