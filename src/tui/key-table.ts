/**
 * What keys do: every action is a row with its name, its keys and its help. The names are those of `[keys]` in `config.toml`. Rows of
 * layers stand in their own files, those of the editor come from its library. Pure.
 */
import { visibleLine } from "#base";

/** Where a key counts: everywhere, while an input is typed, in lists, in every layer, or in the layer of this name. */
export type KeyPlace = "anywhere" | "input" | "editor" | "list" | "layer" | (string & {});

export interface KeyRow {
  readonly action: string;
  /** As the key parser names them: `ctrl+r`, `alt+enter`, `pageUp`, `?`. A printable one counts in an empty input only. */
  readonly keys: readonly string[];
  readonly place: KeyPlace;
  readonly help: string;
}

export const actions = {
  interrupt: row("anywhere", ["ctrl+c"], "Cancel the turn or clear the input; press twice to leave"),
  suspend: row("anywhere", ["ctrl+z"], "Suspend the program"),
  leave: row("input", ["ctrl+d"], "Leave, if the input is empty"),
  cancel: row("input", ["escape"], "Cancel the turn"),
  steer: row("input", ["alt+enter"], "Send the input to the running turn"),
  "edit-queued": row("input", ["alt+up"], "Take the input that was queued last back into the editor"),
  "next-mode": row("input", ["shift+tab"], "The next mode: ask, plan, accept-edits"),
  "hide-reminder": row("input", ["alt+x"], "Hide the reminder above the input"),
  stash: row("input", ["ctrl+s"], "Put the input aside, or take it back; after the next one it comes back by itself"),
  "edit-outside": row("input", ["ctrl+g"], "Edit the input in $VISUAL or $EDITOR"),
  "paste-image": row("input", ["ctrl+v"], "Paste the image in the clipboard"),
  "list-up": row("list", ["up", "ctrl+p", "wheelUp"], "One item up"),
  "list-down": row("list", ["down", "ctrl+n", "wheelDown"], "One item down"),
  "list-page-up": row("list", ["pageUp"], "One page up"),
  "list-page-down": row("list", ["pageDown"], "One page down"),
  "list-first": row("list", ["home"], "The first item"),
  "list-last": row("list", ["end"], "The last item"),
  "list-pick": row("list", ["enter"], "Choose the item"),
  close: row("layer", ["escape"], "Close"),
} as const satisfies Record<string, Omit<KeyRow, "action">>;

function row(place: KeyPlace, keys: readonly string[], help: string): Omit<KeyRow, "action"> {
  return { place, keys, help };
}

export interface Keymap {
  /** All rows with the keys that are in force, for help. */
  readonly rows: readonly KeyRow[];
  /** The action of the key in the first of these places that has one. */
  actionOf(key: string, ...places: readonly KeyPlace[]): string | undefined;
  /** The first key of an action, as people read it; empty when it has none. */
  keyOf(action: string): string;
  /** What was wrong with the user's own keys; those rows keep their defaults. */
  readonly problems: readonly string[];
}

export type KeyOverrides = Readonly<Record<string, readonly string[]>>;

export function createKeymap(layerRows: readonly KeyRow[], overrides: KeyOverrides = {}): Keymap {
  const own = Object.entries(actions).map(([action, facts]) => ({ action, ...facts }));
  const defaults: readonly KeyRow[] = [...own, ...layerRows];
  const names = new Set(defaults.map(({ action }) => action));
  const unknown = Object.keys(overrides).filter((name) => !names.has(name));
  const rows = defaults.map((one) => ({ ...one, keys: (overrides[one.action] ?? one.keys).map(normalKey) }));
  const byPlace = new Map<string, Map<string, string>>();
  const problems = unknown.map((name) => `[keys] has no action ${visibleLine(name)}. Press ? for the list of actions.`);
  for (const { action, keys, place } of rows) {
    const places = byPlace.get(place) ?? new Map<string, string>();
    byPlace.set(place, places);
    for (const key of keys) {
      const other = places.get(key);
      if (other === undefined) places.set(key, action);
      else problems.push(`[keys] gives ${visibleLine(key)} to ${other} and to ${action}; it stays with ${other}.`);
    }
  }
  return {
    rows,
    actionOf: (key, ...places) => places.map((place) => byPlace.get(place)?.get(normalKey(key))).find(isNamed),
    keyOf: (action) => rows.find((one) => one.action === action)?.keys[0] ?? "",
    problems,
  };
}

function isNamed(action: string | undefined): boolean {
  return action !== undefined;
}

const MODIFIERS = ["shift", "ctrl", "alt", "super"];

/** Modifiers in any order and any case. The letter itself keeps its case: `G` is not `g`. */
function normalKey(key: string): string {
  const parts = key === "+" ? [key] : key.split("+");
  const held = parts.slice(0, -1).map((part) => part.toLowerCase());
  const order = MODIFIERS.filter((modifier) => held.includes(modifier));
  return [...order, parts.at(-1) ?? ""].join("+");
}
