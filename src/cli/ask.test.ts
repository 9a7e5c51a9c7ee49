import { describe, expect, test } from "vitest";
import type { Command, Event } from "#protocol";
import { createAsker } from "./ask.ts";
import type { ReadLine } from "./keyboard.ts";
import type { QuestionScreen } from "./terminal.ts";

interface Asked {
  readonly shown: string;
  readonly sent: readonly Command[];
}

/** A screen of 80 by 24 and somebody who gives these answers, then leaves. */
async function asked(events: readonly object[], answers: readonly string[], rows = 24, columns = 80): Promise<Asked> {
  let shown = "";
  const sent: Command[] = [];
  const left = [...answers];
  const next = (prompt: string): string | undefined => {
    shown += prompt;
    const answer = left.shift();
    shown += answer === undefined ? "\n" : `${answer}\n`;
    return answer;
  };
  const screen: QuestionScreen = {
    show: (text) => {
      shown += text;
    },
    columns,
    rows,
    colour: false,
    readAnswer: async (keys): Promise<ReadLine> => {
      const text = next(keys);
      return text === undefined ? { kind: "end" } : { kind: "line", text };
    },
    readKey: async (prompt) => {
      const key = next(prompt);
      return key === undefined ? { kind: "end" } : { kind: "key", key };
    },
  };
  const asker = createAsker({
    terminal: {
      err: (text) => {
        shown += text;
      },
      ask: (question) => question(screen),
    },
    outward: { describe: async (error) => String(error) },
    renderer: { finishLine: () => undefined },
    reviewAck: async () => "accept",
    client: () => ({
      submit: async (command) => {
        sent.push(command);
      },
    }),
  });
  // Only what a question is made of.
  for (const event of events) asker.handle(event as Event);
  await asker.idle();
  return { shown, sent };
}

const request = (payload: object) => ({
  kind: "PermissionRequested",
  session: "s",
  payload: { call_id: "c", label: "Bash", reason: "touch is not quiet", summary: "", args: {}, ...payload },
});
const command = (text: string, more: object = {}) => request({ summary: text, args: { command: text }, ...more });

test.each([
  [["a"], "approve"],
  [["", "e", "1. Only this", "2. And this", "."], '{"plan":"1. Only this\\n2. And this"}'],
  [["First look at b.txt"], "First look at b.txt"],
])("a plan is shown and answered with %j", async (answers, answer) => {
  const payload = {
    call_id: "c",
    question: "Approve this plan?\n\n1. Look\n2. Change",
    plan: "1. Look\n2. Change",
    options: ["approve"],
  };
  const { shown, sent } = await asked([{ kind: "QuestionAsked", session: "s", payload }], answers);
  expect(shown).toContain("│ 2. Change");
  expect(sent).toEqual([{ kind: "AnswerQuestion", session: "s", call_id: "c", answer }]);
});

describe("a permission question", () => {
  test("shows what, why, where, size and digest, and the keys last", async () => {
    const confinement = { confinement: "workspace", confinement_text: "the folder, and the hosts of the list" };
    const { shown, sent } = await asked(
      [command("touch made.txt", { argv_glob: "Bash(touch *)", ...confinement })],
      ["o"],
    );
    expect(shown).toBe(
      [
        "Bash wants to run:",
        "  │ touch made.txt",
        "  Asked because: touch is not quiet",
        "  Runs in: workspace confinement — the folder, and the hosts of the list",
        "  1 line, 28 bytes · sha256 924987e062f623e3",
        "  [o] allow once  [g] allow Bash(touch *) for this session",
        "  [t] allow Bash for this session  [d] deny  [v] show everything",
        "  > o",
        "",
      ].join("\n"),
    );
    expect(sent).toEqual([{ kind: "AnswerPermission", session: "s", call_id: "c", decision: "allow_once" }]);
  });

  test("cannot be forged: no foreign text begins a row, however it is broken", async () => {
    const forged = "\n  [o] allow once  [d] deny\n  > \nHarness: all is well";
    const wide = "漢".repeat(300);
    const { shown } = await asked(
      [
        request({
          label: `Bash${forged}`,
          summary: `ls${forged}${" ".repeat(200)}rm -rf ~`,
          reason: `because${forged}${wide}`,
          argv_glob: `Bash(${"x".repeat(100)}${forged})`,
          confinement: "outside",
          confinement_text: `everything${forged}`,
          steering: [`.git/config${forged}`],
          delegate: { agent: `helper${forged}`, depth: 1, session: "t" },
          args: { command: "other", [`key${forged}`]: `value${forged}`, wide },
        }),
      ],
      ["v"],
      200,
    );
    const ours =
      /^(?: {2}[│├↪] |\[delegate helper| {2}(?:Asked because: because|Runs OUTSIDE the sandbox|Would change the steering file: \.git|\[g\] would allow: Bash|\d+ lines, |\[[ogtdv]\] |> )|$)/;
    expect(shown.split("\n").filter((row) => !ours.test(row))).toEqual([]);
    expect(shown.split("\n").filter((row) => row.startsWith("  > "))).toHaveLength(2);
    // No row is wider than the screen, where every wide character takes two columns.
    const widths = shown.split("\n").map((row) => [...row].reduce((sum, one) => sum + (one > "\u10ff" ? 2 : 1), 0));
    expect(Math.max(...widths.filter((_, row) => !shown.split("\n")[row]?.startsWith("  [")))).toBeLessThanOrEqual(80);
  });

  test("tells a line that was broken from one that begins, and an argument from a line of another", async () => {
    const { shown } = await asked([command(`# ${"a".repeat(72)}\nrm x`, {})], []);
    expect(shown).toContain(`  │ # ${"a".repeat(72)}\n  │ rm x\n`);
    const one = await asked([command(`# ${"a".repeat(72)}rm x`, {})], []);
    expect(one.shown).toContain(`  │ # ${"a".repeat(72)}\n  ↪ rm x\n`);
    const args = { path: "notes.txt", content: "a\npath: /etc/passwd" };
    const write = await asked([request({ summary: "notes.txt", args })], []);
    expect(write.shown).toContain("  │ notes.txt\n  ├ content:\n  │ a\n  │ path: /etc/passwd\n");
  });

  test("on a small screen shows the command and counts what is missing; what allows more is read first", async () => {
    const confinement = { confinement: "workspace", confinement_text: "the folder, and the hosts of the list" };
    const small = command("touch SMALL", { argv_glob: "Bash(touch *)", ...confinement });
    const first = await asked([small], ["o"], 8, 40);
    expect(first.shown).toMatch(
      /^Bash wants to run:\n {2}│ touch SMALL\n {2}… \d+ more rows; v shows all\n {2}\[o\] once {2}\[d\] deny {2}\[v\] show all\n {2}> o\n$/,
    );
    expect(first.sent).toMatchObject([{ decision: "allow_once" }]);
    expect((await asked([small], ["t", "g"], 8, 40)).sent).toMatchObject([{ decision: "deny" }]);
    const read = await asked([small], ["v", " ", " ", "t"], 8, 40);
    expect(read.sent).toMatchObject([{ decision: "allow_tool" }]);
    for (const part of ["Asked because", "Runs in: workspace", "sha256", "[g] allow Bash(touch *)"])
      expect(read.shown).toContain(part);
    expect(Math.max(...read.shown.split("\n").map(({ length }) => length))).toBeLessThan(40);
    const outside = await asked([command("touch SMALL", { confinement: "outside" })], [], 7, 40);
    expect(outside.shown).toContain("  Runs OUTSIDE the sandbox\n  │ touch SMALL\n");
  });

  test("is not asked where there is no room for it", async () => {
    const { shown, sent } = await asked([command("touch SMALL")], ["o", "v", ""], 5, 30);
    expect(shown).toContain("7 rows");
    expect(sent).toMatchObject([{ decision: "deny" }]);
  });

  test("writes out what nobody sees", async () => {
    const { shown } = await asked([command("rm\u200b -rf\u202e a\u00a0b\u001b[2K\r ⟨U+41")], []);
    expect(shown).toContain("  │ rm⟨U+200B⟩ -rf⟨U+202E⟩ a⟨U+00A0⟩b⟨U+001B⟩[2K⟨U+000D⟩ ⟨U+27E8⟩U+41\n");
  });

  test("shows one screen first and everything on [v], page by page, with facts and keys behind it", async () => {
    const text = Array.from({ length: 100 }, (_, line) => `this is line ${line}`).join("\n");
    const { shown, sent } = await asked([command(text)], ["v", " ", " ", " ", " ", "d because it is long"]);
    const [first = "", rest = ""] = shown.split("  > v\n");
    expect(first.split("\n").length).toBeLessThanOrEqual(24);
    expect(first).toMatch(/ {2}… 8\d more lines; \[v\] shows everything\n/);
    expect(first).toContain("  100 lines, 1,702 bytes · sha256 ");
    for (let line = 0; line < 100; line++) expect(rest).toContain(`  │ this is line ${line}\n`);
    expect(rest).toContain("page 1 of 5");
    expect(rest.trimEnd()).toMatch(
      /sha256 \w{16}\n {2}\[o\][^\n]*\n? [^\n]*\[v\] show everything\n {2}> d because it is long$/,
    );
    expect(sent).toMatchObject([{ decision: "deny", reason: "because it is long" }]);
  });

  test("shows a command in full where its summary is cut", async () => {
    const text = `${"x".repeat(50)}\n${"y".repeat(50)}`;
    const summary = `${"x".repeat(50)}… (51 more characters)`;
    const { shown } = await asked([request({ summary, args: { command: text, cwd: "sub" } })], []);
    expect(shown).toContain(`to run:\n  │ ${"x".repeat(50)}\n  │ ${"y".repeat(50)}\n  ├ cwd: sub\n  Asked because`);
  });

  test("offers only what counts", async () => {
    const offers = ["allow_once", "deny"];
    const { shown, sent } = await asked(
      [command("x", { argv_glob: "Bash(x)", offers, confinement: "outside", steering: [".git/config"] })],
      ["t", "g", "o"],
    );
    expect(shown).not.toContain("[t]");
    expect(shown).not.toContain("[g]");
    expect(shown).toContain(
      "  Runs OUTSIDE the sandbox, with your credentials\n  Would change the steering file: .git/config\n",
    );
    expect(shown).toContain("Type o or d;");
    expect(sent).toMatchObject([{ decision: "allow_once" }]);
  });

  test("is not answered by a paste of several lines, nor by a sentence", async () => {
    const { sent } = await asked([command("x"), { ...command("y") }], ["o\no", "once upon a time", "d"]);
    expect(sent.map((one) => "decision" in one && one.decision)).toEqual(["deny", "deny"]);
  });
});

test("the form of a server is filled in field by field, and decline declines it", async () => {
  const form = [
    { name: "place", type: "text", required: true },
    { name: "size", type: "choice", required: false, options: [{ value: "s" }, { value: "l", title: "large" }] },
    { name: "rest", type: "text", required: false },
  ];
  const payload = { call_id: "q", question: "Where?", server: "docs", form };
  const event = { kind: "QuestionAsked", session: "s", payload };
  const filled = await asked([event], ["Ulm", "2", ""]);
  expect(filled.shown).toContain("The MCP server docs asks:\n  │ Where?\n");
  expect(filled.shown).toContain("    2. l (large)");
  expect(filled.sent).toMatchObject([{ kind: "AnswerQuestion", answer: '{"place":"Ulm","size":"l"}' }]);
  expect((await asked([event], ["Ulm", "decline"])).sent).toMatchObject([{ answer: "decline" }]);
});

test("a file that waits for an ack is answered for the content that was asked about", async () => {
  const payload = { call_id: "c", file: "AGENTS.md", sha256: "0".repeat(64) };
  const { sent } = await asked([{ kind: "AckRequested", session: "s", payload }], []);
  expect(sent).toEqual([{ kind: "AnswerAck", session: "s", call_id: "c", answer: "accept", sha256: payload.sha256 }]);
});

test("what the model asks stands behind the prefix, its options behind their numbers", async () => {
  const question = "Which?\n  [o] allow once\u200b";
  const payload = { call_id: "q", question, options: ["a\nb", "c"] };
  const { shown, sent } = await asked([{ kind: "QuestionAsked", session: "s", payload }], ["1"]);
  expect(shown).toBe("The model asks:\n  │ Which?\n  │   [o] allow once⟨U+200B⟩\n  1. a⏎b\n  2. c\n  > 1\n");
  expect(sent).toMatchObject([{ kind: "AnswerQuestion", answer: "a\nb" }]);
});
