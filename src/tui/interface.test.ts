/** The interface on a real session of this process, and on a terminal whose screen is read: what a person sees and types. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { connectEngine } from "#client/engine";
import { createSystemClock, createSystemRandom } from "#world";
import { calls, createHarnessRig, says } from "../../test/fakes/harness-rig.ts";
import { KEYS, openScreenTerminal } from "../../test/fakes/screen-terminal.ts";
import { runInterface } from "./interface.ts";
import { createTheme } from "./theme.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const writes = (path: string) => calls(["fs.write", { path, content: "x\n" }]);

async function start(replies: Parameters<typeof createHarnessRig>[0], size: readonly [number, number] = [80, 24]) {
  const rig = await createHarnessRig(replies);
  const system = createSystemClock();
  let laterMs = 0;
  const clock = { ...system, monotonicMs: () => system.monotonicMs() + laterMs };
  const client = connectEngine({ engine: rig.harness, interactive: true, clock, random: createSystemRandom() });
  const session = await client.open();
  const screen = openScreenTerminal(...size);
  const slashes: string[] = [];
  const over = runInterface({
    screen: screen.port,
    clock,
    theme: createTheme("none"),
    client,
    session,
    facts: { session: session.id, profile: "default", branch: "main", isCostShown: true },
    model: "test:model",
    since: 0,
    last: 0,
    history: ["an earlier input"],
    remember: async () => undefined,
    send: (text) => session.send(text),
    async slash(line, print) {
      slashes.push(line);
      print(`said: ${line}`);
      return undefined;
    },
    describe: async (error) => `✗ ${String(error)}`,
    signal: new AbortController().signal,
  });
  open.push(async () => {
    screen.type(KEYS.ctrlC, KEYS.ctrlC);
    await over;
    await client.close();
  });
  await screen.shows("sess_");
  /** Long enough after a question for its keys to count. */
  const settle = (): void => {
    laterMs += 1_000;
  };
  return { rig, screen, session, over, slashes, settle };
}

test("what is typed is echoed, sent and answered; the rows of the turn stay in the scrollback", async () => {
  const { screen } = await start([says("Hello **there**.\n\n- one\n- two\n")]);
  screen.type("h", "i");
  await screen.shows(/^hi/m);
  screen.type(KEYS.enter);
  await screen.shows(/› hi[\s\S]*Hello there\.[\s\S]*- one\n- two\n[\s\S]*1 step/);
  expect(screen.written()).not.toContain("\u001b[3J");
});

test("a call that is asked about shows exactly what would run, and runs when it is allowed", async () => {
  const { screen, rig, settle } = await start([writes("a.txt"), says("done")]);
  screen.type("write it", KEYS.enter);
  await screen.shows("Write wants to run");
  await screen.shows("path: a.txt");
  await screen.shows(/why: .+/);
  await screen.shows(/\[y\] allow once/);
  // Typed before anybody could have read the question.
  screen.type("y");
  settle();
  expect(existsSync(join(rig.workspace.root, "a.txt"))).toBe(false);
  screen.type("y");
  await screen.shows(/✓ Write[\s\S]*person[\s\S]*done[\s\S]*1 file changed/);
  expect(existsSync(join(rig.workspace.root, "a.txt"))).toBe(true);
});

test("no, and the reason why reaches the model", async () => {
  const { screen, rig, settle } = await start([writes("a.txt"), says("I understand.")]);
  screen.type("write it", KEYS.enter);
  await screen.shows("wants to run");
  settle();
  screen.type("w");
  await screen.shows("Why not?");
  screen.type("not in this folder", KEYS.enter);
  await screen.shows(/✗ Write[\s\S]*I understand\./);
  expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).toContain("not in this folder");
});

test("a paste answers no question and is one input", async () => {
  const { screen, settle } = await start([writes("a.txt"), says("done")]);
  screen.paste("two\nlines");
  screen.type(KEYS.enter);
  await screen.shows(/› two\n {2}lines/);
  await screen.shows("wants to run");
  settle();
  screen.paste("y");
  await screen.shows("wants to run");
  screen.type("n");
  await screen.shows("denied");
});

test("a slash word is carried out and its words are shown; arrow-up brings an earlier input back", async () => {
  const { screen, slashes } = await start([]);
  screen.type("/health", KEYS.enter);
  await screen.shows("said: /health");
  expect(slashes).toEqual(["/health"]);
  screen.type(KEYS.up, KEYS.up);
  await screen.shows(/^an earlier input/m);
});

test("the terminal is given back on Ctrl-C twice and on Ctrl-D", async () => {
  const { screen, over } = await start([]);
  screen.type(KEYS.ctrlC);
  await screen.shows("Press Ctrl-C again within 2s to exit.");
  screen.type(KEYS.ctrlC);
  expect(await over).toEqual({ kind: "left" });
  expect(screen.isTaken()).toBe(false);
});

test("another size paints the live region again, and loses nothing", async () => {
  const { screen } = await start([
    says("A first paragraph of the answer.\n\nA second one that is longer than forty columns."),
  ]);
  screen.type("go", KEYS.enter);
  await screen.shows("1 step");
  screen.resize(40, 12);
  await screen.shows(/A first paragraph of the answer\.[\s\S]*A second one/);
  screen.resize(100, 30);
  screen.type("x");
  await screen.shows(/^x/m);
  expect(screen.text().match(/A first paragraph/g)).toHaveLength(1);
});
