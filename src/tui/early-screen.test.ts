/** The screen before the program has loaded: what is typed can be seen, is handed over, or is given back with the terminal. */
import { expect, test } from "vitest";
import { openScreenTerminal } from "../../test/fakes/screen-terminal.ts";
import { takeScreenEarly } from "./early-screen.ts";
import { themes } from "./theme.ts";

test("what is typed is echoed at once, and the interface gets it when it takes over", async () => {
  const screen = openScreenTerminal(60, 10);
  const early = takeScreenEarly(screen.port, themes.none, () => undefined);
  screen.type("fix it");
  await screen.shows(/^fix it/m);
  const got: string[] = [];
  const restore = early.begin({ bytes: (chunk) => got.push(chunk), resize: () => undefined, resumed: () => undefined });
  screen.type("!");
  expect(got.join("")).toBe("fix it!");
  early.release();
  expect(screen.isTaken()).toBe(true);
  restore();
  expect(screen.isTaken()).toBe(false);
});

test("a release gives the terminal back as it was, and the interface can take it later", async () => {
  const screen = openScreenTerminal(60, 10);
  const early = takeScreenEarly(screen.port, themes.none, () => undefined);
  screen.type("abc");
  await screen.shows("abc");
  early.release();
  expect(screen.isTaken()).toBe(false);
  await expect.poll(() => screen.screen().trim(), { interval: 5 }).toBe("");
  const got: string[] = [];
  early.begin({ bytes: (chunk) => got.push(chunk), resize: () => undefined, resumed: () => undefined });
  screen.type("x");
  expect(got).toEqual(["x"]);
});

test("Ctrl-C before the interface is there gives the terminal back and interrupts", () => {
  const screen = openScreenTerminal(60, 10);
  const interrupts: boolean[] = [];
  takeScreenEarly(screen.port, themes.none, () => interrupts.push(screen.isTaken()));
  screen.type("\u0003");
  expect(interrupts).toEqual([false]);
});
