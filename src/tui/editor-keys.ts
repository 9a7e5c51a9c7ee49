/** The keys of the editor's own actions: rows of the key table like all others, which the library is told of. */
import type { Keymap, KeyRow } from "./key-table.ts";
import type { Widgets } from "./widgets.ts";

const PREFIX = /^tui\.(?:editor|input)\./;
/** Ctrl-C is the interface's. */
const LEFT_OUT: ReadonlySet<string> = new Set(["tui.input.copy"]);

export function editorKeyRows({ TUI_KEYBINDINGS }: Pick<Widgets, "TUI_KEYBINDINGS">): readonly KeyRow[] {
  return bindings(TUI_KEYBINDINGS).map(([name, { defaultKeys, description }]) => ({
    action: actionName(name),
    place: "editor",
    keys: [defaultKeys].flat(),
    help: description,
  }));
}

/** From now on the library goes by the keys that are in force. */
export function applyEditorKeys(widgets: Widgets, keymap: Keymap): void {
  const { KeybindingsManager, TUI_KEYBINDINGS, setKeybindings } = widgets;
  const keysByAction = new Map(keymap.rows.map(({ action, keys }) => [action, keys]));
  const own = bindings(TUI_KEYBINDINGS).map(([name]) => [name, [...(keysByAction.get(actionName(name)) ?? [])]]);
  // A key that it does not know matches nothing.
  type Config = ConstructorParameters<typeof KeybindingsManager>[1];
  setKeybindings(new KeybindingsManager(TUI_KEYBINDINGS, Object.fromEntries(own) as Config));
}

interface Binding {
  readonly defaultKeys: string | readonly string[];
  readonly description: string;
}

function bindings(all: Readonly<Record<string, Binding>>): readonly (readonly [string, Binding])[] {
  return Object.entries(all).filter(([name]) => PREFIX.test(name) && !LEFT_OUT.has(name));
}

/** `tui.editor.cursorWordLeft` is `cursor-word-left`. */
function actionName(name: string): string {
  return name.replace(PREFIX, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
