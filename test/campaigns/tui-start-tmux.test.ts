/** The full interface in a real terminal, from its start to its end: what people see, and what is left of the terminal. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createCliHome } from "../fakes/cli-process.ts";
import { hasTmux, openTmux, type Pane } from "../fakes/tmux.ts";

const SCENARIO = `
name: writing
rules:
  - when: {tool: fs.write}
    reply: [{text: "Written."}]
  - when: {input: write}
    reply: [{tool: fs.write, args: {path: notes.txt, content: "one\\n"}}]
otherwise: [{text: "Heard <{{input}}>"}]
`;

function home(env: Readonly<Record<string, string>> = {}) {
  const made = createCliHome(env);
  made.put("model.yaml", SCENARIO);
  return made;
}

/** With the scripted model, when the input is there. */
async function started(
  pane: Pane,
  command = "harness daemon start; harness attach --new --model scripted:./model.yaml",
): Promise<void> {
  await pane.sees("READY>");
  pane.type(`${command}\n`);
  await pane.sees(/sess_\w+… ·/);
}

async function turn(pane: Pane, input: string, answer: string): Promise<void> {
  pane.type(input);
  pane.press("Enter");
  await pane.sees(answer);
  await pane.sees(/1 step|2 steps/);
}

describe.skipIf(!hasTmux)("the interface in tmux", () => {
  test("a first run without a key says what to do, and takes input meanwhile", async () => {
    const pane = openTmux(home()).pane();
    await started(pane, "harness");
    await pane.sees("No model is set up");
    await pane.sees("harness creds add anthropic");
    await pane.sees("harness demo");
    expect(pane.all()).not.toContain("No model is configured");
    await turn(pane, "hello", "offline scripted model");
    pane.press("C-d");
    await pane.sees("Detached. The session continues");
  });

  test("a second start offers the last session here, and shows it again", async () => {
    const pane = openTmux(home({ HARNESS_MODEL: "scripted:offline" })).pane();
    await started(pane, "harness");
    await turn(pane, "hello", "offline scripted model");
    pane.press("C-d");
    await pane.sees("Detached");
    pane.type("clear; harness\n");
    await pane.sees("attach to the last one");
    pane.type("l\n");
    await pane.sees(/› hello[\s\S]*sess_\w+… ·/);
  });

  test("models are picked from a list with prices", async () => {
    const pane = openTmux(home({ ANTHROPIC_API_KEY: "sk-ant-api03-not-a-real-key" })).pane();
    await pane.sees("READY>");
    pane.type("harness daemon start\n");
    await pane.sees(/READY>[\s\S]*READY>/);
    await started(pane);
    pane.type("/model");
    pane.press("Enter");
    await pane.sees(/Models[\s\S]*anthropic:[\s\S]*per million/);
    pane.type("haiku");
    pane.press("Enter");
    await pane.sees(/model: scripted:\S+ → anthropic:\S*haiku/);
  });

  test("a branch begins after the turn that is picked, and the tree shows it", async () => {
    const pane = openTmux(home()).pane();
    await started(pane);
    await turn(pane, "first", "Heard <first>");
    await turn(pane, "second", "Heard <second>");
    pane.type("/branch");
    pane.press("Enter");
    await pane.sees(/2\. second[\s\S]*1\. first/);
    pane.press("Down");
    pane.press("Enter");
    await pane.sees("is a branch of");
    await pane.sees(/branch of[\s\S]*› first[\s\S]*Heard <first>[\s\S]*sess_/);
    pane.press("M-s");
    await pane.sees(/Sessions[\s\S]*└/);
  });

  test("undo shows what it would change, and changes it when it is picked", async () => {
    const made = home();
    const file = join(made.workspace, "notes.txt");
    const pane = openTmux(made).pane();
    await started(pane);
    pane.type("write");
    pane.press("Enter");
    await pane.sees("[y] allow once");
    // Keys right after a question do not count: they were typed before anybody could read it.
    const pressed = (): string => {
      pane.type("y");
      return pane.screen();
    };
    await expect.poll(pressed, { interval: 2_000 }).toContain("Written.");
    expect(readFileSync(file, "utf8")).toBe("one\n");
    pane.press("C-u");
    pane.type("/undo");
    pane.press("Enter");
    await pane.sees(/Undo a turn[\s\S]*Would change[\s\S]*notes\.txt/);
    expect(readFileSync(file, "utf8")).toBe("one\n");
    pane.press("Enter");
    await pane.sees("undo: 1 path restored");
    expect(() => readFileSync(file)).toThrow("ENOENT");
  });

  test("two terminals on one session see the same, and the hangup of one leaves it running", async () => {
    const tmux = openTmux(home());
    const first = tmux.pane();
    await started(first);
    await turn(first, "from the first", "Heard <from the first>");
    const second = tmux.pane();
    await started(second, "harness attach --last");
    await second.sees("Heard <from the first>");
    await turn(second, "from the second", "Heard <from the second>");
    await first.sees("Heard <from the second>");
    first.hangUp();
    await turn(second, "still there", "Heard <still there>");
    second.hangUp();
    const third = tmux.pane();
    await started(third, "harness attach --last");
    await third.sees("Heard <still there>");
  });

  test.each(["TERM", "INT"])("the terminal is as it was after kill -%s", async (signal) => {
    const made = home();
    const pane = openTmux(made).pane();
    await pane.sees("READY>");
    pane.type("stty -a > before\n");
    // The shell that names its process becomes the program.
    await started(pane, "(echo $BASHPID > pid; exec $HARNESS run --model scripted:./model.yaml)");
    pane.press("?");
    await pane.sees("While you type an input");
    process.kill(Number(readFileSync(join(made.workspace, "pid"), "utf8")), `SIG${signal}`);
    await pane.sees(/READY>\s*$/);
    pane.type("stty -a > after; cmp before after && echo SAME\n");
    await pane.sees(/^SAME/m);
  });
});
