/** Ctrl-G: what is typed goes to another program and comes back, and nothing is drawn over it meanwhile. */
import { expect, onTestFinished, test } from "vitest";
import { calls, says } from "../../test/fakes/harness-rig.ts";
import { startInterface } from "../../test/fakes/interface-rig.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";

/** An editor that is open until it is told what it leaves behind. */
function openEditor() {
  let opened = Promise.withResolvers<string>();
  let left = Promise.withResolvers<string | undefined>();
  onTestFinished(() => left.resolve(undefined));
  return {
    editOutside(text: string): Promise<string | undefined> {
      opened.resolve(text);
      return left.promise;
    },
    opened: () => opened.promise,
    leave(text: string | undefined): void {
      left.resolve(text);
      opened = Promise.withResolvers();
      left = Promise.withResolvers();
    },
  };
}

test("Ctrl-G gives the input to another editor and takes back what that made of it", async () => {
  const { screen } = await startInterface([]);
  screen.type("text");
  await screen.shows(/^text/m);
  screen.type(KEYS.ctrlG);
  await screen.shows(/^text edited/m);
});

test("a turn and a change of size draw nothing over the editor; all of it is there afterwards", async () => {
  const editor = openEditor();
  const { screen, session } = await startInterface([says("An answer.")], [80, 24], { editOutside: editor.editOutside });
  screen.type("a draft", KEYS.ctrlG);
  expect(await editor.opened()).toBe("a draft");
  const before = screen.written();
  await session.send("from elsewhere");
  await expect.poll(async () => (await session.info()).activity).toBe("idle");
  screen.resize(100, 30);
  expect(screen.written()).toBe(before);
  editor.leave("a draft that is longer");
  await screen.shows(/› from elsewhere[\s\S]*An answer\.[\s\S]*1 step[\s\S]*^a draft that is longer$/m);
});

test("a question that comes up meanwhile is there afterwards, and what was written stays an input", async () => {
  const editor = openEditor();
  const { screen, session, settle } = await startInterface(
    [calls(["ask_user", { question: "Which one?" }]), says("I see.")],
    [80, 24],
    { editOutside: editor.editOutside },
  );
  await session.send("go");
  await screen.shows("Which one?");
  settle();
  screen.type("the first", KEYS.ctrlG);
  await editor.opened();
  editor.leave("the first one, please");
  await screen.shows(/Which one\?[\s\S]*^the first one, please$/m);
  screen.type(KEYS.ctrlG);
  expect(await editor.opened()).toBe("the first one, please");
  await session.cancel();
  await expect.poll(async () => (await session.info()).activity).toBe("idle");
  editor.leave("an answer that nobody waits for");
  await screen.shows(/Cancelled[\s\S]*^an answer that nobody waits for$/m);
});

test("what is written when the session ends is kept as the draft", async () => {
  const editor = openEditor();
  const kept: string[] = [];
  const draft = { text: "", keep: async (text: string) => void kept.push(text) };
  const { screen, session, over } = await startInterface([], [80, 24], { editOutside: editor.editOutside, draft });
  screen.type("a draft", KEYS.ctrlG);
  await editor.opened();
  const before = screen.written();
  await session.submit({ kind: "EndSession" });
  await expect.poll(async () => (await session.info()).state).toBe("ended");
  expect(screen.written()).toBe(before);
  editor.leave("a draft that is longer");
  expect(await over).toEqual({ kind: "ended" });
  expect(kept.at(-1)).toBe("a draft that is longer");
});
