/** The theme follows the background of the terminal while the interface runs. */
import { expect, test } from "vitest";
import { startInterface } from "../../test/fakes/interface-rig.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";

const ESC = "\u001b";
const ASK = `${ESC}]11;?${ESC}\\`;
const FOCUS_IN = `${ESC}[I`;
const LIGHT = `${ESC}]11;rgb:ffff/ffff/ffff${ESC}\\`;
const DARK = `${ESC}]11;rgb:0000/0000/0000${ESC}\\`;
/** The dimmed status line of each theme. */
const PAINTED = { dark: `${ESC}[2msess_`, light: `${ESC}[38;5;242msess_` };

async function following() {
  const { screen } = await startInterface([], [80, 24], { theme: "dark", followsBackground: true });
  await expect.poll(() => screen.written()).toContain(`${ESC}[?2031h`);
  let seen = screen.written().length;
  /** What was written for these bytes of the terminal. */
  const after = async (...bytes: readonly string[]): Promise<string> => {
    seen = screen.written().length;
    screen.type(...bytes);
    // A lone escape would wait for more of it.
    await new Promise((done) => setImmediate(done));
    return screen.written().slice(seen);
  };
  return { screen, after };
}

test("it is asked for again when the focus or the scheme of the terminal changes, and painted once", async () => {
  const { after } = await following();
  expect(await after(FOCUS_IN)).toBe(ASK);
  expect(await after(LIGHT)).toContain(PAINTED.light);
  expect(await after(LIGHT)).toBe("");
  expect(await after(`${ESC}[O`)).toBe("");
  expect(await after(`${ESC}[?997;1n`)).toBe(ASK);
  expect(await after(DARK)).toContain(PAINTED.dark);
});

test("reports are no keys, and a theme that was chosen stays", async () => {
  const { screen, after } = await following();
  await after(FOCUS_IN, `${ESC}[O`, `${ESC}[?997;2n`, "x");
  await screen.shows(/^x$/m);
  screen.type(KEYS.ctrlU, "/theme", KEYS.enter);
  await screen.shows("Themes");
  screen.type("dark", KEYS.enter);
  await expect.poll(() => screen.screen()).not.toContain("Themes");
  expect(await after(FOCUS_IN, LIGHT)).toBe(ASK);
});

test("it is watched again after another program had the terminal", async () => {
  const { screen, after } = await following();
  screen.type("x");
  await screen.shows(/^x$/m);
  await after(KEYS.ctrlG);
  await screen.shows(/^x edited$/m);
  expect(screen.written().split(`${ESC}[?2031h`)).toHaveLength(3);
});

test("a terminal whose theme is set is neither asked nor watched", async () => {
  const { screen } = await startInterface([]);
  screen.type(FOCUS_IN, LIGHT, "x");
  await screen.shows(/^x$/m);
  expect(screen.written()).not.toMatch(/\]11;|2031/);
});
