/** The line that is typed: the library's editor, with its keys, its history and its own rows. */
import type { Theme } from "./theme.ts";
import type { EditorRows } from "./view.ts";
import type { Widgets } from "./widgets.ts";

export interface InputEditor {
  /** One whole key sequence. */
  type(sequence: string): void;
  paste(text: string): void;
  clear(): void;
  text(): string;
  /** For arrow-up. */
  remember(text: string): void;
  rows(columns: number): EditorRows;
}

export interface InputEditorOptions {
  readonly widgets: Widgets;
  readonly theme: Theme;
  /** Newest first. */
  readonly history: readonly string[];
  terminalRows(): number;
  onSubmit(text: string): void;
}

const PASTE = { begin: "\u001b[200~", end: "\u001b[201~" };

export function createInputEditor({ widgets, theme, history, ...on }: InputEditorOptions): InputEditor {
  const border = (text: string): string => theme.paint("dim", text);
  const plain = (text: string): string => text;
  const selectList = {
    selectedPrefix: plain,
    selectedText: plain,
    description: plain,
    scrollInfo: plain,
    noMatch: plain,
  };
  const terminal = {
    get rows() {
      return on.terminalRows();
    },
  };
  // Of its screen the editor asks for these two things only.
  const host = { requestRender: () => undefined, terminal } as unknown as ConstructorParameters<Widgets["Editor"]>[0];
  const editor = new widgets.Editor(host, { borderColor: border, selectList });
  editor.focused = true;
  editor.onSubmit = on.onSubmit;
  for (const text of history.toReversed()) editor.addToHistory(text);
  return {
    type: (sequence) => editor.handleInput(sequence),
    paste: (text) => editor.handleInput(`${PASTE.begin}${text}${PASTE.end}`),
    clear: () => editor.setText(""),
    text: () => editor.getExpandedText(),
    remember: (text) => editor.addToHistory(text),
    rows(columns) {
      // It fills its rows with spaces, which nobody sees and every key would send again.
      const rows = editor.render(columns).map((one) => one.trimEnd());
      const row = rows.findIndex((one) => one.includes(widgets.CURSOR_MARKER));
      const [before = ""] = (rows[row] ?? "").split(widgets.CURSOR_MARKER);
      const bare = rows.map((one) => one.replaceAll(widgets.CURSOR_MARKER, ""));
      return row < 0 ? { rows } : { rows: bare, cursor: { row, column: widgets.visibleWidth(before) } };
    },
  };
}
