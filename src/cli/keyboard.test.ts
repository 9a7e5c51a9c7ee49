import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { shownScreen } from "../../test/fakes/shown-screen.ts";
import { createTerminal } from "./terminal.ts";

const ENTER = "\r";
const never = new AbortController().signal;

/** A terminal whose keys are typed by the test and whose clock stands still. */
function openTerminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin, fd: 0 });
  const output = (write: (text: string) => void) =>
    Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 }).on("data", (chunk: Buffer) =>
      write(chunk.toString("utf8")),
    );
  let shown = "";
  const write = (text: string): void => {
    shown += text;
  };
  const clock = createManualClock();
  // The few parts of the process that a terminal has.
  const fake = { stdin, stdout: output(write), stderr: output(write), env: { NO_COLOR: "1" }, on: () => undefined };
  const terminal = createTerminal(fake as unknown as NodeJS.Process, clock, () => undefined);
  const settled = async (): Promise<void> => {
    for (let round = 0; round < 20; round++) await new Promise((resume) => setImmediate(resume));
  };
  return {
    terminal,
    shown: () => shown,
    // A terminal goes to the beginning of the next row itself.
    screen: () => shownScreen(shown.replace(/\r?\n/g, "\r\n"), 80),
    async type(keys: string): Promise<void> {
      stdin.write(keys);
      await settled();
    },
    async pass(ms: number): Promise<void> {
      await settled();
      await clock.advance(ms);
      await settled();
    },
  };
}

describe("an answer", () => {
  test("counts only when it was typed after its prompt was shown", async () => {
    const { terminal, shown, type, pass } = openTerminal();
    await type(`o${ENTER}`);
    const answer = terminal.ask((screen) => {
      screen.show("Question\n");
      return screen.readAnswer("[o] [d]\n> ", never);
    });
    await pass(299);
    await type(`o${ENTER}`);
    await pass(299);
    expect(shown()).not.toContain("[o] [d]");
    await pass(1);
    expect(shown()).toContain("were dropped.)\n[o] [d]\n");
    await type(`d${ENTER}`);
    await pass(50);
    expect(await answer).toEqual({ kind: "line", text: "d" });
  });

  test("is the whole of a paste, and the next question gets nothing of it", async () => {
    const { terminal, shown, type, pass } = openTerminal();
    const ask = (keys: string) => terminal.ask((screen) => screen.readAnswer(keys, never));
    const answers = [ask("first > "), ask("second > ")];
    await pass(300);
    await type(`o${ENTER}o${ENTER}o`);
    await pass(40);
    await type(ENTER);
    await pass(100);
    expect(await answers[0]).toEqual({ kind: "line", text: "o\no\no" });
    await type(`o${ENTER}`);
    await pass(300);
    expect(shown()).toContain("second > ");
    await type(`d${ENTER}`);
    await pass(50);
    expect(await answers[1]).toEqual({ kind: "line", text: "d" });
  });

  test("is waited for in silence: other output comes after it", async () => {
    const { terminal, shown, type, pass } = openTerminal();
    terminal.out("half a line");
    const key = terminal.ask((screen) => {
      screen.show("Question\n");
      return screen.readKey("[a] > ", never);
    });
    await pass(300);
    terminal.err("noise\n".repeat(100));
    expect(shown()).toBe("half a line\nQuestion\n[a] > ");
    await type("a");
    expect(await key).toEqual({ kind: "key", key: "a" });
    await pass(0);
    expect(shown()).toMatch(/\[a\] > a\n(?:noise\n){100}$/);
  });

  test("shows the key that was pressed, and nothing for Enter", async () => {
    const { terminal, type, pass, shown } = openTerminal();
    const answers = terminal.ask(async (screen) => [
      await screen.readKey("[a] > ", never),
      await screen.readKey("[a] > ", never),
    ]);
    await pass(300);
    await type(ENTER);
    await pass(300);
    await type("a");
    expect(await answers).toEqual([
      { kind: "key", key: ENTER },
      { kind: "key", key: "a" },
    ]);
    expect(shown()).toBe("[a] > \n[a] > a\n");
  });

  test("goes away when somebody else has answered; Ctrl-C ends it, also before it is shown", async () => {
    const { terminal, type, pass } = openTerminal();
    const settled = new AbortController();
    const first = terminal.ask((screen) => screen.readAnswer("> ", settled.signal));
    await pass(300);
    settled.abort();
    expect(await first).toEqual({ kind: "interrupted" });
    const interrupts: string[] = [];
    terminal.onInterrupt((by) => interrupts.push(by));
    const second = terminal.ask((screen) => screen.readKey("> ", never));
    await pass(0);
    await type("\u0003");
    expect(await second).toEqual({ kind: "interrupted" });
    expect(interrupts).toEqual(["person"]);
  });
});

test("a line that a question took away comes back behind the same prompt", async () => {
  const { terminal, type, pass } = openTerminal();
  const question = new AbortController();
  const line = terminal.readLine("› ", question.signal);
  await pass(0);
  await type("hello wor");
  question.abort();
  expect(await line).toEqual({ kind: "interrupted" });
  const again = terminal.readLine("› ", never);
  await pass(0);
  await type(`ld${ENTER}`);
  expect(await again).toEqual({ kind: "line", text: "hello world" });
});

describe("a line", () => {
  const paste = (text: string): string => `\u001b[200~${text}\u001b[201~`;
  const aid = {
    history: ["newest\nof two lines", "oldest"],
    complete: async (line: string) => ["/model", "/help"].filter((word) => word.startsWith(line)),
  };

  test("takes a paste of many lines as one input, and keeps what was typed behind Enter for the next", async () => {
    const { terminal, type, pass } = openTerminal();
    const first = terminal.readLine("› ", never, aid);
    await pass(0);
    await type(`see ${paste("one\r\ttwo\r")}${ENTER}and this${ENTER}`);
    expect(await first).toEqual({ kind: "line", text: "see one\n\ttwo\n" });
    expect(await terminal.readLine("› ", never, aid)).toEqual({ kind: "line", text: "and this" });
  });

  test("comes back with arrow-up and Ctrl-P; Tab completes its first word", async () => {
    const { terminal, type, pass } = openTerminal();
    const typed = async (keys: string) => {
      const line = terminal.readLine("› ", never, aid);
      await pass(0);
      for (const key of [...keys.split("|"), ENTER]) await type(key);
      return line;
    };
    expect(await typed("\u001b[A")).toEqual({ kind: "line", text: "newest\nof two lines" });
    expect(await typed("\u0010|\u0010")).toEqual({ kind: "line", text: "oldest" });
    expect(await typed("/m|\t")).toEqual({ kind: "line", text: "/model" });
  });

  test("stays unseen while another line has not ended, and is shown then", async () => {
    const { terminal, shown, type, pass } = openTerminal();
    const line = terminal.readLine("› ", never);
    await pass(0);
    terminal.out("The answer ");
    await type("next");
    terminal.out("goes on.\n");
    await pass(0);
    expect(shown()).toMatch(/The answer goes on\.\n[^\n]*› next[^\n]*$/);
    await type(ENTER);
    expect(await line).toEqual({ kind: "line", text: "next" });
  });
});

describe("the status", () => {
  test("stays below what is written, is replaced by the next one and erased at the end", () => {
    const { terminal, screen } = openTerminal();
    terminal.err("● Bash npm test\n");
    terminal.status("Bash npm test", " · 1 s");
    expect(screen()).toEqual(["● Bash npm test", "Bash npm test · 1 s"]);
    terminal.err("  ok 1\n");
    terminal.status("Bash npm test", " · 2 s");
    expect(screen()).toEqual(["● Bash npm test", "  ok 1", "Bash npm test · 2 s"]);
    terminal.status("");
    terminal.out("Done.\n");
    expect(screen()).toEqual(["● Bash npm test", "  ok 1", "Done."]);
  });

  test("fits on one row, and keeps its ending", () => {
    const { terminal, screen } = openTerminal();
    terminal.status("x".repeat(200), " · 12 s");
    expect(screen()).toEqual([`${"x".repeat(72)} · 12 s`]);
    terminal.status("");
    expect(screen()).toEqual([]);
  });

  test("does not break a line that has not ended", () => {
    const { terminal, screen } = openTerminal();
    terminal.out("The answer");
    terminal.status("Bash", " · 1 s");
    terminal.out(" goes on.\n");
    expect(screen()).toEqual(["The answer goes on.", "Bash · 1 s"]);
  });

  test("stays above the line that is typed, also when that one ends", async () => {
    const { terminal, screen, type, pass } = openTerminal();
    const line = terminal.readLine("› ", never);
    await pass(0);
    terminal.status("Bash", " · 1 s");
    await type("next");
    expect(screen()).toEqual(["Bash · 1 s", "› next"]);
    terminal.status("Bash", " · 2 s");
    expect(screen()).toEqual(["Bash · 2 s", "› next"]);
    await type(ENTER);
    expect(await line).toEqual({ kind: "line", text: "next" });
    terminal.err("queued: next\n");
    expect(screen()).toEqual(["› next", "queued: next", "Bash · 2 s"]);
    void terminal.readLine("› ", never);
    await pass(0);
    expect(screen()).toEqual(["› next", "queued: next", "Bash · 2 s", "›"]);
    terminal.status("");
    expect(screen()).toEqual(["› next", "queued: next", "›"]);
  });

  test("makes room for a question and comes back after it", async () => {
    const { terminal, screen, type, pass } = openTerminal();
    terminal.status("Bash", " · 1 s");
    const answer = terminal.ask((question) => question.readAnswer("May it?\n> ", never));
    await pass(300);
    terminal.status("Bash", " · 2 s");
    expect(screen()).toEqual(["May it?", ">"]);
    terminal.err("held\n");
    await type(`y${ENTER}`);
    await pass(50);
    expect(await answer).toEqual({ kind: "line", text: "y" });
    expect(screen()).toEqual(["May it?", "> y", "held", "Bash · 2 s"]);
  });
});
