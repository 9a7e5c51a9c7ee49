/** The line that is typed: the library's editor, with its keys, its history and its own rows. */
import type { AutocompleteProvider } from "@earendil-works/pi-tui";
import type { Typed } from "./state.ts";
import type { Role, Theme } from "./theme.ts";
import type { EditorRows } from "./view.ts";
import { newVim, type VimText, vimKey } from "./vim.ts";
import type { Widgets } from "./widgets.ts";

export interface InputEditor {
  /** One whole key sequence. */
  type(sequence: string): void;
  paste(text: string): void;
  /** At the cursor. */
  insert(text: string): void;
  /** Before what is typed as an input. */
  putBefore(text: string): void;
  /** The input makes room for an answer, and comes back. */
  setAside(): void;
  bringBack(): void;
  /** What is typed as an input, also while an answer is typed. */
  draft(): string;
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
  /** Vim keys. */
  readonly vim: boolean;
  onSubmit(text: string): void;
  /** What could follow has come. */
  onOffer(): void;
}

/** What Vim keys reach of the library's editor: it has no other way to move the cursor to a place. */
interface EditorInside {
  readonly state: { lines: string[]; cursorLine: number };
  setCursorCol(column: number): void;
  pushUndoSnapshot(): void;
  undo(): void;
}

const TAB = "\t";
const ESCAPE = "\u001b";
const PASTE = { begin: "\u001b[200~", end: "\u001b[201~" };

export function createInputEditor({ widgets, history, vim: hasVim, ...on }: InputEditorOptions): InputEditor {
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
  const inside = editor as unknown as EditorInside;
  let vim = newVim;
  /** Of the input, while an answer is typed. */
  let aside: string | undefined;

  /** False for a key that the editor gets. */
  function typeVim(sequence: string): boolean {
    const isEscape = sequence === ESCAPE || widgets.parseKey(sequence) === "escape";
    if (!hasVim || editor.isShowingAutocomplete() || !(isEscape || isOneLetter(sequence))) return false;
    const step = vimKey(vim, textOf(inside, editor.getCursor()), isEscape ? "escape" : sequence);
    vim = step.vim;
    if (!("wants" in step)) {
      if (step.text !== undefined) put(step.text);
    } else if (step.wants === "undo") inside.undo();
    else return false;
    return true;
  }

  function put({ text, at }: VimText): void {
    if (text !== editor.getText()) inside.pushUndoSnapshot();
    const before = text.slice(0, at).split("\n");
    inside.state.lines = text.split("\n");
    inside.state.cursorLine = before.length - 1;
    inside.setCursorCol(before.at(-1)?.length ?? 0);
  }

  /** The mode stands in the border above the input. */
  function withMode(rows: readonly string[], columns: number): readonly string[] {
    if (!hasVim || vim.mode === "insert") return rows;
    const name = "── normal ";
    return rows.with(0, as("dim")(`${name}${"─".repeat(Math.max(0, columns - name.length))}`.slice(0, columns)));
  }

  function write(text: string): void {
    editor.setText(text);
    // What comes next is typed, whoever put this text here.
    vim = { ...vim, mode: "insert", pending: "" };
  }

  return {
    type(sequence) {
      if (!typeVim(sequence)) editor.handleInput(sequence);
    },
    paste: (text) => editor.handleInput(`${PASTE.begin}${text}${PASTE.end}`),
    insert: (text) => editor.insertTextAtCursor(text),
    putBefore(text) {
      const typed = aside ?? editor.getExpandedText();
      const whole = typed === "" ? text : `${text}\n${typed}`;
      if (aside === undefined) write(whole);
      else aside = whole;
    },
    setAside() {
      aside = editor.getExpandedText();
      write("");
    },
    bringBack() {
      write(aside ?? "");
      aside = undefined;
    },
    draft: () => aside ?? editor.getExpandedText(),
    write(text, isOffering = false) {
      write(text);
      if (isOffering) editor.handleInput(TAB);
    },
    typed: () => ({
      text: editor.getExpandedText(),
      isOffering: editor.isShowingAutocomplete(),
      takesEscape: hasVim && (vim.mode === "insert" || vim.pending !== ""),
    }),
    remember: (text) => editor.addToHistory(text),
    rows(columns) {
      // It fills its rows with spaces, which nobody sees and every key would send again.
      const rows = editor.render(columns).map((one) => one.trimEnd());
      const row = rows.findIndex((one) => one.includes(widgets.CURSOR_MARKER));
      const [before = ""] = (rows[row] ?? "").split(widgets.CURSOR_MARKER);
      // The terminal has a cursor of its own; the one that is drawn would be sent again with every key.
      const bare = rows.map((one) => one.replace(drawnCursor, "$1").replaceAll(widgets.CURSOR_MARKER, "").trimEnd());
      return row < 0
        ? { rows }
        : { rows: withMode(bare, columns), cursor: { row, column: widgets.visibleWidth(before) } };
    },
  };
}

function textOf({ state }: EditorInside, { line, col }: { readonly line: number; readonly col: number }): VimText {
  const before = state.lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
  return { text: state.lines.join("\n"), at: before + col };
}

function isOneLetter(sequence: string): boolean {
  return !/\p{Cc}/u.test(sequence) && [...sequence].length === 1;
}
