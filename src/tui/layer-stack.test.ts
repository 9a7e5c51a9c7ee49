import { expect, test } from "vitest";
import type { Effect } from "./effects.ts";
import { createKeymap } from "./key-table.ts";
import { defineLayer, layerKeyRows } from "./layer.ts";
import { initialState, type Message, type State, type UpdateContext, update } from "./state.ts";
import { widgets } from "./widgets.ts";

const counter = defineLayer<number>({
  name: "counter",
  title: "Counter",
  kind: "modal",
  opener: { keys: ["ctrl+x", "c"], help: "Count" },
  words: ["count"],
  keys: [{ action: "count-up", keys: ["u"], help: "One more" }],
  open: (argument) => ({ state: Number(argument) }),
  update(state, message) {
    if (message.type === "paste") return { state: state + message.text.length };
    if (message.type !== "key") return { state };
    if (message.action === "close") return { isClosed: true, effects: [{ type: "insert", text: String(state) }] };
    if (message.text === "b") return { state, effects: [{ type: "open", layer: "counter", argument: "100" }] };
    return { state: message.action === "count-up" ? state + 1 : state };
  },
  view: (state) => ({ rows: [String(state)] }),
});
const layers = [counter];
const context: UpdateContext = { nowMs: 10_000, widgets, keymap: createKeymap(layerKeyRows(layers)), layers };
const asked = {
  type: "event",
  agoMs: 0,
  event: {
    kind: "PermissionRequested",
    session: "s",
    payload: { call_id: "c1", args: {}, summary: "", reason: "", label: "Shell", delegate: undefined },
  },
} as unknown as Message; // what the interface reads of it

function key(name: string, text = ""): Message {
  const sequence = name.length === 1 ? name : "\u001b[x";
  return { type: "key", key: name, sequence, typed: { text, isOffering: false } };
}

function play(...messages: readonly Message[]): { state: State; effects: readonly Effect[]; shown: readonly string[] } {
  let state = initialState("s" as never, { model: "m", size: { columns: 80, rows: 24 }, nowMs: 0, theme: "none" });
  let effects: readonly Effect[] = [];
  for (const message of messages) ({ state, effects } = update(state, message, context));
  const shown = state.layers.map((layer) => layer.view({} as never).rows.join()); // this view looks at its state only
  return { state, effects, shown };
}

test("its key opens a layer, which then has the keys, its own actions and pastes", () => {
  expect(play(key("ctrl+x"), key("u"), key("u"), { type: "paste", text: "abc" }).shown).toEqual(["5"]);
});

test("its word opens it instead of being sent; other words are sent", () => {
  const submit = (text: string): Message => ({ type: "submit", text, isSteering: false });
  const { shown, effects } = play(submit("/count"));
  expect([shown, effects]).toEqual([["0"], [{ type: "clear" }]]);
  expect(play(submit("/count 2")).effects).toEqual([{ type: "clear" }, { type: "slash", text: "/count 2" }]);
});

test("a printable key opens it in an empty input, and is a letter in any other", () => {
  expect(play(key("c")).shown).toEqual(["0"]);
  const { shown, effects } = play(key("c", "ab"));
  expect([shown, effects]).toEqual([[], [{ type: "type", sequence: "c" }]]);
});

test("a layer opens another one above it; closing one leaves those below, and its effects are performed", () => {
  expect(play(key("ctrl+x"), key("b"), key("u")).shown).toEqual(["0", "101"]);
  const { shown, effects } = play(key("ctrl+x"), key("b"), key("u"), key("escape"));
  expect([shown, effects]).toEqual([["0"], [{ type: "insert", text: "101" }]]);
});

test("Ctrl-C closes the top layer and does not count as the first of two", () => {
  const { shown, state } = play(key("ctrl+x"), key("ctrl+c"));
  expect([shown, state.banner]).toEqual([[], undefined]);
});

test("a question goes before a modal layer, which is still there after the answer", () => {
  const { shown, effects } = play(key("ctrl+x"), asked, key("u"));
  expect([shown, effects]).toEqual([["0"], []]);
});

test("there are never more than eight layers", () => {
  expect(play(key("ctrl+x"), ...Array.from({ length: 20 }, () => key("b"))).shown).toHaveLength(8);
});
