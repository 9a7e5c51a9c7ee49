/** The interface on a real session of this process, and on a terminal whose screen is read: what a person sees and types. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SessionId } from "#protocol";
import { calls, says } from "../../test/fakes/harness-rig.ts";
import { startInterface as start } from "../../test/fakes/interface-rig.ts";
import type { MockReply } from "../../test/fakes/mock-reply.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";

const writes = (path: string) => calls(["fs.write", { path, content: "x\n" }]);

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
  await screen.shows(/^› \/health\nsaid: \/health$/m);
  expect(slashes).toEqual(["/health"]);
  screen.type(KEYS.up, KEYS.up);
  await screen.shows(/^an earlier input/m);
});

test("what a word says that moves to another session is shown, although the session ends before it is said", async () => {
  const next = SessionId.from("01M7TZVWDDRANY0C5RC4V7BPV8");
  const started = start([], undefined, {
    async slash(_line, print) {
      const { session, rig } = await started;
      await rig.harness.control.pause(session.id, { continuedIn: next, record: async () => undefined });
      for await (const { kind } of session.events({ since: 0 })) if (kind === "SessionEnded") break;
      print("Started another session. The old one is paused.");
      return next;
    },
  });
  const { screen, over } = await started;
  screen.type("/profiles:review", KEYS.enter);
  expect(await over).toEqual({ kind: "other", session: next });
  await screen.shows(/^› \/profiles:review\nStarted another session\. The old one is paused\.$/m);
});

test("/clear empties the screen and the scrollback; the conversation goes on and the transcript has all of it", async () => {
  const { screen, slashes } = await start([says("An answer."), says("Another one.")]);
  screen.type("go", KEYS.enter);
  await screen.shows(/An answer\.[\s\S]*1 step/);
  screen.type("/clear", KEYS.enter);
  await expect.poll(() => screen.text(), { interval: 10 }).toMatch(/^\n─+\n\n─+\nsess_/);
  screen.type("again", KEYS.enter);
  await screen.shows(/^› again[\s\S]*Another one\./m);
  screen.type("\u000f");
  await expect.poll(() => screen.screen(), { interval: 10 }).toMatch(/An answer\.[\s\S]*Another one\./);
  expect(slashes).toEqual([]);
});

test("the terminal is given back on Ctrl-C twice and on Ctrl-D", async () => {
  const { screen, over } = await start([]);
  screen.type(KEYS.ctrlC);
  await screen.shows("Press Ctrl-C again within 2s to exit.");
  screen.type(KEYS.ctrlC);
  expect(await over).toEqual({ kind: "left" });
  expect(screen.isTaken()).toBe(false);
});

test("the terminal is given back at once when the program fails, and nothing is painted afterwards", async () => {
  const crashed = new AbortController();
  const { screen } = await start([], [80, 24], { crashed: crashed.signal });
  screen.type("\u000f");
  await screen.shows("Esc");
  crashed.abort();
  expect(screen.isTaken()).toBe(false);
  const written = screen.written();
  screen.type("x");
  screen.resize(60, 20);
  expect(screen.written()).toBe(written);
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

test("Ctrl-R finds an earlier input and puts it into the editor; Esc closes the search", async () => {
  const { screen } = await start([]);
  screen.type(KEYS.ctrlR);
  await screen.shows(/Earlier inputs[\s\S]*an earlier input[\s\S]*another one, with a word/);
  screen.type(KEYS.escape);
  await expect.poll(() => screen.screen(), { interval: 10 }).not.toContain("Earlier inputs");
  screen.type(KEYS.ctrlR, "w", "o", "r", "d");
  await screen.shows(/1 of 2/);
  screen.type(KEYS.enter);
  await screen.shows(/^another one, with a word/m);
  expect(screen.screen()).not.toContain("Earlier inputs");
});

test("? shows every key on a screen of its own, and the conversation is back as it was", async () => {
  const { screen } = await start([says("An answer.")]);
  screen.type("go", KEYS.enter);
  await screen.shows("An answer.");
  await screen.shows("1 step");
  screen.type("?");
  await expect.poll(() => screen.screen(), { interval: 10 }).toMatch(/Keys[\s\S]*Ctrl-C +interrupt +Cancel/);
  expect(screen.screen()).not.toContain("An answer.");
  screen.type(KEYS.escape);
  await expect.poll(() => screen.screen(), { interval: 10 }).toContain("An answer.");
  screen.type("why?");
  await screen.shows(/^why\?/m);
});

test("a slash offers what can be typed; Tab takes a namespace, and then its names are offered", async () => {
  const { screen, slashes } = await start([]);
  screen.type("/", "s", "e", "s");
  await screen.shows(/\/sessions:/);
  screen.type("\t");
  await screen.shows(/^\/sessions:\s*$/m);
  screen.type("p");
  await screen.shows(/sessions:pin/);
  screen.type(KEYS.ctrlU, "/", "h", "e", "a", "l", "t", "h");
  await screen.shows(/^.*\/health/m);
  screen.type(KEYS.enter);
  await screen.shows("said: /health");
  expect(slashes).toEqual(["/health"]);
});

test("an @ offers files of the workspace; Enter takes one and sends nothing", async () => {
  const { screen, rig } = await start([says("seen")]);
  rig.workspace.put("src/parse.ts", "x");
  rig.workspace.put("src/print.ts", "x");
  screen.type("r", "e", "a", "d", " ", "@", "p", "a", "r");
  await screen.shows(/→ src\/parse\.ts/);
  screen.type(KEYS.enter);
  await screen.shows(/^read @src\/parse\.ts$/m);
  screen.type(KEYS.enter);
  await screen.shows(/› read @src\/parse\.ts[\s\S]*seen/);
});

test("inputs wait above the editor while a turn runs; the last one comes back, and the others run", async () => {
  const gate = Promise.withResolvers<void>();
  onTestFinished(() => gate.resolve());
  const { screen, rig } = await start([{ ...says("one"), headersAfter: gate.promise } as MockReply, says("two")]);
  screen.type("a", KEYS.enter);
  await screen.shows(/waiting for the model/);
  screen.type("first queued", KEYS.enter);
  await screen.shows(/^: queued: first queued/m);
  screen.type("second queued", KEYS.enter);
  await screen.shows(/^: queued: second queued {2}Alt-↑ edits$/m);
  screen.type("rest");
  screen.type(KEYS.altUp);
  await screen.shows(/^second queued\nrest$/m);
  expect(screen.screen()).not.toContain(": queued: second");
  gate.resolve();
  await screen.shows(/one[\s\S]*› first queued[\s\S]*two/);
  expect(rig.vendor.requests).toHaveLength(2);
});

test("Alt-Enter sends the input to the running turn, which shows it", async () => {
  const gate = Promise.withResolvers<void>();
  onTestFinished(() => gate.resolve());
  const { screen, rig, settle } = await start([
    { ...writes("a.txt"), headersAfter: gate.promise } as MockReply,
    says("with tests"),
  ]);
  screen.type("a", KEYS.enter);
  await screen.shows(/waiting for the model/);
  screen.type("and tests", KEYS.altEnter);
  await screen.shows(/^› and tests$/m);
  gate.resolve();
  await screen.shows("wants to run");
  settle();
  screen.type("y");
  await screen.shows("with tests");
  expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).toContain("and tests");
});

test("a command behind an exclamation mark runs at once, shows its output, and ends on Esc", async () => {
  const { screen, rig } = await start([]);
  screen.type("!echo begun; sleep 60", KEYS.enter);
  await screen.shows(/› !echo begun; sleep 60[\s\S]*│ begun/);
  screen.type(KEYS.escape);
  await screen.shows(/cancelled/i);
  screen.type("!echo of-mine", KEYS.enter);
  await screen.shows(/✓ Bash[\s\S]*│ of-mine/);
  expect(rig.vendor.requests).toEqual([]);
});

test("vim keys: Esc is for the normal mode first, and the border says so", async () => {
  const { screen } = await start([says("done")], [80, 24], { vim: true });
  screen.type("one two three", KEYS.escape);
  await screen.shows(/^── normal ─+$/m);
  screen.type("b", "d", "w", "0", "x");
  await screen.shows(/^ne two$/m);
  screen.type("u", "u");
  await screen.shows(/^one two three$/m);
  screen.type("A", "!");
  await screen.shows(/^one two three!$/m);
  expect(screen.screen()).not.toContain("normal");
  screen.type(KEYS.escape, KEYS.enter);
  await screen.shows(/› one two three![\s\S]*done/);
});

test("Ctrl-S puts the input aside and it comes back behind the next one", async () => {
  const { screen } = await start([says("done")]);
  screen.type("later", KEYS.ctrlS);
  await screen.shows(/^: put aside: later {2}Ctrl-S takes it back$/m);
  screen.type("now", KEYS.enter);
  await screen.shows(/› now[\s\S]*done/);
  await screen.shows(/^later$/m);
  screen.type(KEYS.ctrlS, KEYS.ctrlS);
  await screen.shows(/^later$/m);
  expect(screen.screen()).not.toContain("put aside");
});

test("a draft that cannot be kept at the end is said once the terminal is given back", async () => {
  const draft = {
    text: "",
    async keep(): Promise<void> {
      throw new Error("the disk is full");
    },
  };
  const { screen, over, said } = await start([], [80, 24], { draft });
  screen.type("unsent", KEYS.ctrlC, "again", KEYS.ctrlC);
  expect(await over).toEqual({ kind: "left" });
  expect(said).toEqual(["✗ Error: the disk is full"]);
  expect(screen.isTaken()).toBe(false);
});

test("the argument of a command is offered once something of it is typed", async () => {
  const { screen, slashes } = await start([]);
  screen.type("/", "m", "o", "d", "e", "l", " ");
  screen.type("o");
  await screen.shows(/→ openai:mock-model/);
  screen.type(KEYS.enter);
  await screen.shows("said: /model openai:mock-model");
  expect(slashes).toEqual(["/model openai:mock-model"]);
});

test("a path of an image that is pasted, and an image in the clipboard, stand as marks and join the input", async () => {
  const { screen } = await start([], [80, 24], {
    attachedImages: {
      fromPaste: (text) => (text.endsWith(".png") ? "[image 1: a.png]" : undefined),
      fromClipboard: async () => "[image 2]",
      contentOf: async (text) => `with its images: ${text}`,
    },
  });
  screen.paste("/tmp/a.png");
  await screen.shows(/^\[image 1: a\.png\]$/m);
  screen.type(" and ", "\u0016");
  await screen.shows(/^\[image 1: a\.png\] and \[image 2\]$/m);
  screen.type(" or ");
  screen.paste("");
  await screen.shows(/and \[image 2\] or \[image 2\]$/m);
});

test("without an image in the clipboard the key says so", async () => {
  const { screen } = await start([says("one")]);
  screen.type("\u0016");
  await screen.shows("There is no image in the clipboard.");
});
