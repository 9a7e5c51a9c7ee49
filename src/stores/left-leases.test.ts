import { expect, test } from "vitest";
import { createLeftLeases } from "./left-leases.ts";

function rig() {
  const waiting: (() => void)[] = [];
  const state = { isFull: true, isOpen: true };
  const ended: string[] = [];
  const left = createLeftLeases(
    () => state.isOpen,
    (action) => void waiting.push(action),
  );
  const end = (owner: string) => (): void => {
    if (state.isFull) throw new Error("full");
    ended.push(owner);
  };
  return { left, state, ended, end, waiting, later: () => waiting.splice(0).forEach((action) => void action()) };
}

test("a lease whose end is not stored is over here, and ended for others as soon as there is room", () => {
  const { left, state, ended, end, later, waiting } = rig();
  for (const owner of ["a", "b"]) expect(() => left.leave(owner, end(owner))).toThrow("full");
  expect([left.has("a"), left.has("c"), waiting.length]).toEqual([true, false, 1]);
  later();
  expect(ended).toEqual([]);
  state.isFull = false;
  later();
  expect([ended, left.has("a"), waiting.length]).toEqual([["a", "b"], false, 0]);
});

test("one that is stored is not remembered, and a store that is closed is left alone", () => {
  const { left, state, ended, end, later, waiting } = rig();
  expect(() => left.leave("a", end("a"))).toThrow("full");
  state.isFull = false;
  left.leave("b", end("b"));
  expect([ended, left.has("b")]).toEqual([["b"], false]);
  state.isOpen = false;
  later();
  expect([ended, waiting.length]).toEqual([["b"], 0]);
});
