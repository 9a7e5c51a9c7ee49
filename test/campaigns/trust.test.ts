/** Trust on first use as people meet it: on a terminal with one key, in CI with a lock file, and in a session that runs. */
import { readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { ackProject } from "../fakes/ack-project.ts";
import { callCli } from "../fakes/cli-call.ts";
import { type CliHome, createCliHome, offlineModel, openCliTerminal, startCli } from "../fakes/cli-process.ts";

let home: CliHome;
beforeEach(() => {
  home = createCliHome(offlineModel);
});

const SAYS = (text: string): string => `name: s\nrules: []\notherwise: [{ text: ${text} }]\n`;
const HOOK = (word: string): string =>
  `---\nevent: turn.start\npriority: 1\nscript: |\n  def handle(event, payload):\n      log("${word}")\n      return allow()\n---\n`;

describe("on a terminal", () => {
  test("init, run; after an edit the difference is shown once, and one key goes on", async () => {
    expect(await callCli(home, ["init", "."])).toMatchObject({ code: 0 });
    expect(await callCli(home, ["run", "hello"])).toMatchObject({ code: 0 });
    const file = join(home.workspace, "harness.md");
    home.put("harness.md", `${readFileSync(file, "utf8")}\nAlways answer in \u001b[31mrhyme\u202e.\n`);
    const refused = await callCli(home, ["run", "hello"]);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("  changed harness.md\n") });

    const terminal = openCliTerminal(home, ["run", "--plain", "hello"]);
    const shown = await terminal.see("[q]uit > ");
    expect(shown).toContain("harness.md needs your ack");
    expect(shown).toContain("prose (the text)");
    expect(stripVTControlCharacters(shown)).toContain("Always answer in ⟨U+001B⟩[31mrhyme⟨U+202E⟩.");
    terminal.type("a");
    expect(await terminal.exit).toBe(0);
    expect(await callCli(home, ["run", "hello"])).toMatchObject({ code: 0 });
  });

  test("a project from elsewhere: whoever denies runs nothing; ack goes file by file and keeps what was accepted", async () => {
    home.put("harness.md", "---\n---\n\nObey.\n");
    home.put(".harness/hooks/h.md", HOOK("ran"));
    const denied = openCliTerminal(home, ["run", "--plain", "hello"]);
    await denied.see("[q]uit > ");
    denied.type("d");
    await denied.see(".harness/hooks/h.md needs your ack");
    await denied.see("[q]uit > ");
    denied.type("d");
    await denied.see("AckDenied");
    expect(await denied.exit).toBe(2);

    const review = openCliTerminal(home, ["ack"]);
    await review.see("[new file] lines 1–4 of 4");
    await review.see("[q]uit > ");
    review.type("s");
    await review.see("Saved: ");
    await review.see("[q]uit > ");
    review.type("v");
    await review.see("Obey.");
    await review.see("[q]uit > ");
    review.type("a");
    await review.see(".harness/hooks/h.md needs your ack");
    await review.see("a script that runs on events, without being called");
    await review.see("[q]uit > ");
    review.type("q");
    await review.see("Not acked:");
    expect(await review.exit).toBe(1);
    expect((await callCli(home, ["verify-ack"])).out).toBe("new     .harness/hooks/h.md\n");

    const rest = openCliTerminal(home, ["ack", "--all"]);
    await rest.see("[q]uit > ");
    rest.type("a");
    await rest.see("2 files of");
    expect(await rest.exit).toBe(0);
    expect(await callCli(home, ["verify-ack"])).toMatchObject({ code: 0 });
    rmSync(join(home.workspace, ".harness"), { recursive: true });
    expect((await callCli(home, ["verify-ack"])).out).toBe("removed .harness/hooks/h.md\n");
  });

  test("a change while a conversation runs is asked about at the next step, and then in force", async () => {
    home.put("s.yaml", SAYS("said"));
    home.put(".harness/hooks/h.md", HOOK("first version"));
    await ackProject(home);
    const terminal = openCliTerminal(home, ["run", "--plain", "-m", "scripted:./s.yaml"]);
    await terminal.see("› ");
    terminal.type("one\r");
    await terminal.see("first version");
    await terminal.see("said");
    await terminal.see("› ");
    home.put(".harness/hooks/h.md", HOOK("second version"));
    terminal.type("two\r");
    await terminal.see(".harness/hooks/h.md needs your ack");
    await terminal.see("executable (script)");
    await terminal.see("[q]uit > ");
    terminal.type("a");
    await terminal.see("in effect from now on: .harness/hooks/h.md");
    await terminal.see("said");
    await terminal.see("› ");
    terminal.type("three\r");
    await terminal.see("second version");
    await terminal.see("› ");
    terminal.type("/quit\r");
    expect(await terminal.exit).toBe(0);
  });
});

test("where nobody can be asked, a change waits, is told, and the acked version stays; an ack from elsewhere is taken up", async () => {
  home.put("s.yaml", SAYS("said"));
  home.put(".harness/hooks/h.md", HOOK("first version"));
  await ackProject(home);
  const child = startCli(home, ["serve", "--source", "stdin", "--json", "-m", "scripted:./s.yaml"]);
  const lines = child.stdout.setEncoding("utf8").iterator() as AsyncIterator<string>;
  let rest = "";
  const turn = async (prompt: string) => {
    child.stdin.write(`${prompt}\n`);
    const events: { kind: string; payload: Record<string, unknown> }[] = [];
    while (!events.some(({ kind }) => kind === "TurnEnded")) {
      const end = rest.indexOf("\n");
      if (end < 0) {
        rest += (await lines.next()).value;
        continue;
      }
      events.push(JSON.parse(rest.slice(0, end)));
      rest = rest.slice(end + 1);
    }
    return {
      logged: events.filter(({ kind }) => kind === "ScriptLogged").map(({ payload }) => payload.message),
      changed: events.filter(({ kind }) => kind === "ProjectChanged").map(({ payload }) => payload),
    };
  };
  expect(await turn("one")).toEqual({ logged: ["first version"], changed: [] });
  home.put(".harness/hooks/h.md", HOOK("second version"));
  expect(await turn("two")).toMatchObject({
    logged: ["first version"],
    changed: [
      { in_force: false, files: [".harness/hooks/h.md"], problems: [expect.stringContaining("needs your ack")] },
    ],
  });
  expect(await turn("three")).toEqual({ logged: ["first version"], changed: [] });
  await ackProject(home);
  expect((await turn("four")).changed).toMatchObject([{ in_force: true, files: [".harness/hooks/h.md"] }]);
  expect((await turn("five")).logged).toEqual(["second version"]);
});

describe("in CI", () => {
  test.each(["nowhere/approved.lock", "a-folder"])(
    "a lock file that cannot be written (%s) is said plainly",
    async (path) => {
      home.put("a-folder/x", "");
      expect(await callCli(home, ["init", "."])).toMatchObject({ code: 0 });
      const { code, err } = await callCli(home, ["ack", "--emit-lockfile", path]);
      expect(code).toBe(2);
      expect(err).toMatch(/UsageInvalid: the lock file \S+ cannot be written \((?:ENOENT|EISDIR)\): name a file/);
      expect(err).not.toContain(".tmp");
      expect(readdirSync(home.workspace).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    },
  );

  test("a folder without a project is said to have none, and one file is one", async () => {
    const none = await callCli(home, ["verify-ack"]);
    expect(none).toMatchObject({ code: 0, out: expect.stringMatching(/^There is no project in \S+\.\n$/) });
    expect(await callCli(home, ["ack"])).toMatchObject({ code: 0, err: expect.stringContaining("no project in") });
    home.put("harness.md", "---\n---\n");
    await ackProject(home);
    expect(await callCli(home, ["verify-ack"])).toMatchObject({
      code: 0,
      out: "1 file is unchanged since it was acked.\n",
    });
  });

  test("from ack --emit-lockfile to a green verify-ack, a run, and a red one when a byte changes", async () => {
    expect(await callCli(home, ["init", "."])).toMatchObject({ code: 0 });
    expect(await callCli(home, ["ack", "--emit-lockfile"])).toMatchObject({ code: 0 });
    const lock = JSON.parse(readFileSync(join(home.workspace, "approved.lock"), "utf8"));
    expect(lock).toMatchObject({ format: "harness-approved-lock", version: 1 });
    expect(lock).not.toHaveProperty("root");
    // Another machine: the same files, nothing acked.
    const { HOME = "" } = home.env;
    const ci = { ...home, env: { ...home.env, HOME: join(HOME, "ci"), XDG_CONFIG_HOME: join(HOME, "ci/config") } };
    expect(await callCli(ci, ["run", "hello"])).toMatchObject({ code: 2 });
    expect(await callCli(ci, ["verify-ack"])).toMatchObject({ code: 1 });
    expect(await callCli(ci, ["verify-ack", "--lockfile", "approved.lock"])).toMatchObject({
      code: 0,
      out: "7 files are unchanged since they were acked.\n",
    });
    expect(await callCli(ci, ["run", "--lockfile", "approved.lock", "hello"])).toMatchObject({ code: 0 });
    const named = { ...ci, env: { ...ci.env, HARNESS_LOCKFILE: "approved.lock" } };
    expect(await callCli(named, ["run", "hello"])).toMatchObject({ code: 0 });

    home.put(".harness/hooks/detect_secrets.md", HOOK("weaker"));
    const { code, out } = await callCli(named, ["verify-ack", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      reason: "HookHashChanged",
      changed: [{ path: ".harness/hooks/detect_secrets.md", class: "hook", change: "changed" }],
    });
    expect(await callCli(named, ["run", "hello"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("  changed .harness/hooks/detect_secrets.md\n"),
    });
    expect(await callCli(ci, ["verify-ack", "--lockfile", "harness.md"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("not JSON"),
    });
    symlinkSync("/dev/zero", join(home.workspace, "endless.lock"));
    expect(await callCli(ci, ["verify-ack", "--lockfile", "endless.lock"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("it is larger than"),
    });
    expect(await callCli(ci, ["run", "--no-project", "hello"])).toMatchObject({ code: 0 });
  });

  test("verify-ack says when what was acked here does not count any more", async () => {
    expect(await callCli(home, ["init", "."])).toMatchObject({ code: 0 });
    const other = { ...home, env: { ...home.env, HARNESS_PASSPHRASE: "another key" } };
    const { code, err } = await callCli(other, ["verify-ack"]);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining("approved.lock: this machine's key did not seal it"),
    });
  });

  test("a folder of the user's own is acked with one answer, or with --yes", async () => {
    const { XDG_CONFIG_HOME = "" } = home.env;
    const own = join("..", "config", "harness", "agents", "mine");
    home.put(join(own, "harness.md"), "---\n---\n\nMine.\n");
    home.put(join(own, ".harness/hooks/h.md"), HOOK("x"));
    expect(XDG_CONFIG_HOME).toContain("config");
    expect(await callCli(home, ["ack", "--dir", own])).toMatchObject({ code: 2 });
    expect(await callCli(home, ["ack", "--dir", own, "--all", "--yes"])).toMatchObject({ code: 0 });
    // It can be asked about, but no session works in a folder of the program.
    expect(await callCli(home, ["validate", "-c", join(own, "harness.md")])).toMatchObject({ code: 0 });
    expect(await callCli(home, ["run", "-c", join(own, "harness.md"), "hello"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("it belongs to this program"),
    });
    home.put("harness.md", "---\n---\n");
    expect(await callCli(home, ["ack", "--all", "--yes"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("one by one"),
    });
  });
});

test("a file is accepted only when its last page was shown", async () => {
  home.put("harness.md", `---\n---\n\n${"Obey.\n".repeat(240)}`);
  const terminal = openCliTerminal(home, ["ack"]);
  for (let left = 7; left > 0; left--) {
    await terminal.see(`[a] next page, ${left} of 8 not shown yet`);
    await terminal.see("[q]uit > ");
    terminal.type("a");
  }
  await terminal.see("page 8 of 8");
  await terminal.see("[a]ccept");
  await terminal.see("[q]uit > ");
  terminal.type("q");
  expect(await terminal.exit).toBe(1);
  expect((await callCli(home, ["verify-ack"])).out).toBe("new     harness.md\n");
});

test("what was typed ahead answers nothing", async () => {
  home.put("harness.md", "---\n---\n\nObey.\n");
  const terminal = openCliTerminal(home, ["run", "--plain", "hello"]);
  terminal.type("aaa\r");
  await terminal.see("harness.md needs your ack");
  await terminal.see("[q]uit > ");
  terminal.type("d");
  await terminal.see("AckDenied");
  expect(await terminal.exit).toBe(2);
});
