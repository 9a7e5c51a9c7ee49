import { expect, test } from "vitest";
import { applyEditorKeys, editorKeyRows } from "./editor-keys.ts";
import { createKeymap } from "./key-table.ts";
import { layerKeyRows } from "./layer.ts";
import { layers } from "./layers.ts";
import { widgets } from "./widgets.ts";

const rows = [...layerKeyRows(layers), ...editorKeyRows(widgets)];

test("no two actions of one place have the same key, and no two have the same name", () => {
  const keymap = createKeymap(rows);
  expect(keymap.problems).toEqual([]);
  const names = keymap.rows.map(({ action }) => action);
  expect(names).toEqual([...new Set(names)]);
});

test("a key counts in its place, and the first place that has one decides", () => {
  const keymap = createKeymap(rows);
  expect(keymap.actionOf("ctrl+r", "input")).toBe("open-history");
  expect(keymap.actionOf("ctrl+r", "list")).toBeUndefined();
  expect(keymap.actionOf("ctrl+p", "list", "input")).toBe("list-up");
  expect(keymap.actionOf("ctrl+p", "input", "list")).toBe("open-palette");
});

test("the user's own keys replace the defaults, in any order of their modifiers; what is wrong with them is said", () => {
  const keymap = createKeymap(rows, {
    "open-history": ["shift+ctrl+f"],
    "edit-outside": [],
    steer: ["ctrl+d"],
    "no-such-action": ["x"],
  });
  expect(keymap.actionOf("ctrl+shift+f", "input")).toBe("open-history");
  expect(keymap.actionOf("ctrl+r", "input")).toBeUndefined();
  expect(keymap.actionOf("ctrl+g", "input")).toBeUndefined();
  expect(keymap.keyOf("edit-outside")).toBe("");
  expect(keymap.problems).toEqual([
    "[keys] has no action no-such-action. Press ? for the list of actions.",
    "[keys] gives ctrl+d to leave and to steer; it stays with leave.",
  ]);
});

test("an action of the editor has another key once the user says so", () => {
  const matches = (key: string): boolean => {
    applyEditorKeys(widgets, createKeymap(rows, { "delete-word-backward": ["ctrl+q"] }));
    return widgets.getKeybindings().matches(key, "tui.editor.deleteWordBackward");
  };
  expect([matches("\u0011"), matches("\u0017")]).toEqual([true, false]);
  applyEditorKeys(widgets, createKeymap(rows));
  expect(widgets.getKeybindings().matches("\u0017", "tui.editor.deleteWordBackward")).toBe(true);
});
