/** The line that is typed: the library's editor, with its keys, its history and its own rows. */
import type { AutocompleteProvider } from "@earendil-works/pi-tui";
import type { Typed } from "./state.ts";
import type { Role, Theme } from "./theme.ts";
import type { EditorRows } from "./view.ts";
import type { Widgets } from "./widgets.ts";

export interface InputEditor {
  /** One whole key sequence. */
  type(sequence: string): void;
  paste(text: string): void;
  /** At the cursor. */
  insert(text: string): void;
  /** Replaces everything; `isOffering`: shows what could follow. */
  write(text: string, isOffering?: boolean): void;
  typed(): Typed;
  /** For arrow-up. */
  remember(text: string): void;
  rows(columns: number): EditorRows;
}

export interface InputEditorOptions {
  readonly widgets: Widgets;
  /** Asked for each row: it may change. */
  theme(): Theme;
  readonly completion: AutocompleteProvider;
  /** Newest first. */
  readonly history: readonly string[];
  terminalRows(): number;
  onSubmit(text: string): void;
  /** What could follow has come. */
  onOffer(): void;
}

const TAB = "\t";
const PASTE = { begin: "\u001b[200~", end: "\u001b[201~" };

export function createInputEditor({ widgets, history, ...on }: InputEditorOptions): InputEditor {
  const as = (role: Role) => (text: string) => on.theme().paint(role, text);
  const selectList = {
    selectedPrefix: as("accent"),
    selectedText: as("accent"),
    description: as("dim"),
    scrollInfo: as("dim"),
    noMatch: as("dim"),
  };
  const terminal = {
    get rows() {
      return on.terminalRows();
    },
  };
  // Of its screen the editor asks for these two things only.
  const host = { requestRender: on.onOffer, terminal } as unknown as ConstructorParameters<Widgets["Editor"]>[0];
  const editor = new widgets.Editor(host, { borderColor: as("dim"), selectList });
  editor.focused = true;
  editor.onSubmit = on.onSubmit;
  editor.setAutocompleteProvider(on.completion);
  for (const text of history.toReversed()) editor.addToHistory(text);
  const drawnCursor = new RegExp(`${widgets.CURSOR_MARKER}\u001b\\[7m(.*?)\u001b\\[0m`, "u");
  return {
    type: (sequence) => editor.handleInput(sequence),
    paste: (text) => editor.handleInput(`${PASTE.begin}${text}${PASTE.end}`),
    insert: (text) => editor.insertTextAtCursor(text),
    write(text, isOffering = false) {
      editor.setText(text);
      if (isOffering) editor.handleInput(TAB);
    },
    typed: () => ({ text: editor.getExpandedText(), isOffering: editor.isShowingAutocomplete() }),
    remember: (text) => editor.addToHistory(text),
    rows(columns) {
      // It fills its rows with spaces, which nobody sees and every key would send again.
      const rows = editor.render(columns).map((one) => one.trimEnd());
      const row = rows.findIndex((one) => one.includes(widgets.CURSOR_MARKER));
      const [before = ""] = (rows[row] ?? "").split(widgets.CURSOR_MARKER);
      // The terminal has a cursor of its own; the one that is drawn would be sent again with every key.
      const bare = rows.map((one) => one.replace(drawnCursor, "$1").replaceAll(widgets.CURSOR_MARKER, "").trimEnd());
      return row < 0 ? { rows } : { rows: bare, cursor: { row, column: widgets.visibleWidth(before) } };
    },
  };
}
