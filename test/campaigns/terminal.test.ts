/** The rest of a conversation on a real pseudo-terminal: undo, long commands, restarts, suspending, several lines. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { callCli } from "../fakes/cli-call.ts";
import { createCliHome, finish, openCliTerminal, openShell, startCli } from "../fakes/cli-process.ts";
import { shownScreen } from "../fakes/shown-screen.ts";
import { hasSandbox } from "../fakes/test-sandbox.ts";

const ENTER = "\r";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** The content of a file that a child process is about to write. */
async function untilWritten(path: string): Promise<string> {
  const read = (): string => (existsSync(path) ? readFileSync(path, "utf8").trim() : "");
  await expect.poll(read, { interval: 5 }).not.toBe("");
  return read();
}

const LONG = Array.from({ length: 250 }, (_, line) => `: this is line ${line}`).join("\n");

/** Calls `exec` once for each turn, then answers. */
const SCENARIO = `
name: touching
rules:
  - when: {tool: exec}
    reply: [{text: "Done touching."}]
  - when: {tool: ask_user}
    reply: [{text: "You said {{tool_result}}"}]
  - when: {input: question}
    reply: [{tool: ask_user, args: {question: "Which one?", options: [first, second]}}]
  - when: {input: sleep}
    reply: [{tool: exec, args: {command: "echo $$ > pid; exec sleep 600"}}]
  - when: {input: touch}
    reply: [{tool: exec, args: {command: "touch made.txt"}}]
  - when: {input: long}
    reply: [{tool: exec, args: {command: ${JSON.stringify(LONG)}}}]
otherwise: [{text: "Nothing to do."}]
`;

describe("a terminal", () => {
  test("/health says how the parts are, and why one of them does not work", async () => {
    const home = createCliHome({ OPENAI_API_KEY: "sk-proj-abcdefghijklmnopqrstuvwxyz012345", TMPDIR: "/nowhere" });
    const terminal = openCliTerminal(home, ["run", "--plain", "-m", "scripted:offline"]);
    await terminal.see("› ");
    terminal.type(`/health${ENTER}`);
    const shown = await terminal.see("sandbox: ");
    expect(shown).toMatch(
      /engine: ok: 1 session open[\s\S]*control_plane: none[\s\S]*store: ok[\s\S]*redaction: loaded[\s\S]*credential_helper: failed: /,
    );
    await terminal.see("› ");
    terminal.type(CTRL_D);
    expect(await terminal.exit).toBe(0);
  });

  test("demo goes on as a conversation", async () => {
    const terminal = openCliTerminal(createCliHome(), ["demo"]);
    await terminal.see("Your turn.");
    await terminal.see("› ");
    terminal.type(`/help${ENTER}`);
    await terminal.see("/model");
    terminal.type(`/quit${ENTER}`);
    expect(await terminal.exit).toBe(0);
  });

  test("takes back and makes again what the turn changed; another process is sent here", async () => {
    const home = createCliHome();
    home.put("touching.yaml", SCENARIO);
    const terminal = openCliTerminal(home, [
      "run",
      "--plain",
      "--model",
      "scripted:./touching.yaml",
      "--allow",
      "Bash",
    ]);
    const made = join(home.workspace, "made.txt");
    await terminal.see("› ");
    terminal.type(`touch it${ENTER}`);
    await terminal.see("Done touching.");
    await terminal.see("› ");
    const busy = await callCli(home, ["undo"]);
    expect(busy).toMatchObject({ code: 1, err: expect.stringContaining("SessionBusy") });
    expect(existsSync(made)).toBe(true);
    terminal.type(`/undo${ENTER}`);
    await terminal.see("Undid turn_");
    await terminal.see("made.txt  removed");
    await terminal.see("› ");
    expect(existsSync(made)).toBe(false);
    terminal.type(`/redo${ENTER}`);
    await terminal.see("made.txt  brought back");
    await terminal.see("› ");
    expect(existsSync(made)).toBe(true);
    terminal.type(`/undo yesterday${ENTER}`);
    await terminal.see("neither a call");
    terminal.type(`/quit${ENTER}`);
    expect(await terminal.exit).toBe(0);
  });

  test("what was typed before a question answers nothing", async () => {
    const home = createCliHome();
    home.put("touching.yaml", SCENARIO);
    const terminal = openCliTerminal(home, ["run", "--plain", "--model", "scripted:./touching.yaml", "touch it"]);
    terminal.type(`o${ENTER}o${ENTER}o`);
    await terminal.see("Bash wants to run:");
    await terminal.see("(Keys that you typed before the question appeared were dropped.)");
    await terminal.see("[d] deny");
    expect(existsSync(join(home.workspace, "made.txt"))).toBe(false);
    terminal.type(`d${ENTER}`);
    await terminal.see("Done touching.");
    expect(await terminal.exit).toBe(0);
    expect(existsSync(join(home.workspace, "made.txt"))).toBe(false);
  });

  test("a long command shows one screen, and everything on v", async () => {
    const home = createCliHome();
    home.put("touching.yaml", SCENARIO);
    const terminal = openCliTerminal(home, ["run", "--plain", "--model", "scripted:./touching.yaml", "long"]);
    await terminal.see("more lines; [v] shows everything");
    await terminal.see("250 lines, ");
    await terminal.see("bytes · sha256 ");
    const first = await terminal.see("[v] show everything");
    expect(stripVTControlCharacters(first)).not.toContain("this is line 40\r\n");
    await terminal.see("> ");
    terminal.type(`v${ENTER}`);
    for (let page = 1; page <= 6; page++) {
      await terminal.see(`page ${page} of 7`);
      terminal.type(" ");
    }
    await terminal.see("this is line 249\r\n");
    await terminal.see("250 lines, ");
    const shown = stripVTControlCharacters(await terminal.see("[v] show everything"));
    for (let line = 0; line < 250; line++) expect(shown).toContain(`  │ : this is line ${line}\r\n`);
    await terminal.see("> ");
    terminal.type(`d${ENTER}`);
    await terminal.see("Done touching.");
    expect(await terminal.exit).toBe(0);
  });

  test("lets the model ask a question", async () => {
    const home = createCliHome();
    home.put("touching.yaml", SCENARIO);
    const terminal = openCliTerminal(home, [
      "run",
      "--plain",
      "--model",
      "scripted:./touching.yaml",
      "a question please",
    ]);
    await terminal.see("Which one?");
    await terminal.see("2. second");
    terminal.type(`2${ENTER}`);
    await terminal.see("You said");
    await terminal.see("second");
    expect(await terminal.exit).toBe(0);
  });

  test("a session that was killed in the middle of a call asks what became of it, then goes on", async () => {
    const home = createCliHome();
    home.put("touching.yaml", SCENARIO);
    const model = ["--model", "scripted:./touching.yaml"];
    const child = startCli(home, ["run", ...model, "--allow", "Bash", "--json", "sleep"]);
    let shown = "";
    for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      shown += chunk;
      if (shown.includes('"kind":"ToolIntent"')) break;
    }
    // A program whose output nobody takes any more ends, and then the command does not begin.
    child.stdout.resume();
    const { session } = JSON.parse(shown.slice(0, shown.indexOf("\n"))) as { session: string };
    const ended = finish(child);
    const pid = Number(await untilWritten(join(home.workspace, "pid")));
    // Without a sandbox, a killed program cannot end what its tools have started; in one, this would be somebody else's number.
    if (!hasSandbox) onTestFinished(() => void process.kill(pid, "SIGKILL"));
    child.kill("SIGKILL");
    await ended;
    const resume = ["run", ...model, "--resume", session];
    const refused = await callCli(home, [...resume, "go on"]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("OrphanUnresolved") });
    const terminal = openCliTerminal(home, [...resume, "hello"]);
    await terminal.see("Cut off:");
    await terminal.see("sleep 600");
    const asked = await terminal.see("abort the session\r\n");
    expect(stripVTControlCharacters(asked)).toMatch(/Cut off:\r\n[^›]*abort the session/);
    await terminal.see("  > ");
    terminal.type(`s I looked${ENTER}`);
    await terminal.see("Nothing to do.");
    expect(await terminal.exit).toBe(0);
    expect(await callCli(home, [...resume, "hello"])).toMatchObject({ code: 0 });
  });

  test("an input of several lines, typed or pasted, is one turn, and arrow-up brings it back in the next run", async () => {
    const home = createCliHome();
    home.put("count.yaml", 'name: count\nrules: [{reply: [{text: "Heard <{{input}}>"}]}]\n');
    const args = ["run", "--plain", "--model", "scripted:./count.yaml"];
    const first = openCliTerminal(home, args);
    await first.see("› ");
    first.type(`one\\${ENTER}`);
    await first.see("… ");
    first.type(`\u001b[200~two\rthree\u001b[201~ ghp_16C7e42F292c6912E7710c838347Ae178B4a${ENTER}`);
    expect(await first.see("three")).not.toContain("Heard <one>");
    await first.see("Heard <one\r\ntwo\r\nthree");
    await first.see("› ");
    first.type(CTRL_D);
    expect(await first.exit).toBe(0);
    const file = join(home.env.HOME ?? "", ".local/state/harness/input-history.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toMatch(/^\[\{"input":"one\\ntwo\\nthree «redacted/);
    const second = openCliTerminal(home, args);
    await second.see("› ");
    second.type("\u001b[A");
    await second.see("one␊two␊three");
    second.type(ENTER);
    await second.see("Heard <one\r\ntwo\r\nthree");
    second.type(CTRL_D);
    expect(await second.exit).toBe(0);
  });

  test("a line says which call runs and for how long, until it has ended", async () => {
    const home = createCliHome();
    home.put("touching.yaml", SCENARIO);
    const terminal = openCliTerminal(home, [
      "run",
      "--plain",
      "--model",
      "scripted:./touching.yaml",
      "--allow",
      "Bash",
    ]);
    await terminal.see("› ");
    terminal.type(`sleep${ENTER}`);
    const ending = " s\u001b[0m\r\n";
    const shown = await terminal.see(ending);
    // What came behind it may be half of the next one.
    const running = shownScreen(shown.slice(0, shown.lastIndexOf(ending)), 120);
    expect(running.filter((row) => / · \d+$/.test(row))).toEqual([
      expect.stringMatching(/^Bash echo \$\$ > pid; exec sleep 600 · \d+$/),
    ]);
    terminal.type(`hello${ENTER}`);
    await terminal.see("queued: hello");
    // Once more, below what was queued.
    await terminal.see("› ");
    await terminal.see(ending);
    terminal.type(CTRL_C);
    await terminal.see("Not sent: hello");
    const ended = shownScreen(await terminal.see("Cancelled."), 120);
    expect(ended.filter((row) => / · \d+ s/.test(row))).toEqual([]);
    expect(ended).toContain("queued: hello");
    terminal.type(`/quit${ENTER}`);
    expect(await terminal.exit).toBe(0);
  });

  test("what is typed during a turn runs when the turn has ended by itself", async () => {
    const home = createCliHome();
    const wait = "until [ -e go ]; do sleep 0.05; done";
    home.put(
      "short.yaml",
      `name: short\nrules: [{when: {tool: exec}, reply: [{text: Slept.}]}, {when: {input: nap}, reply: [{tool: exec, args: {command: "${wait}"}}]}]\notherwise: [{text: Nothing to do.}]\n`,
    );
    const terminal = openCliTerminal(home, ["run", "--plain", "--model", "scripted:./short.yaml", "--allow", "Bash"]);
    await terminal.see("› ");
    terminal.type(`nap${ENTER}`);
    await terminal.see("● Bash");
    terminal.type(`hello${ENTER}`);
    await terminal.see("queued: hello");
    home.put("go", "");
    await terminal.see("Slept.");
    await terminal.see("Nothing to do.");
    terminal.type(CTRL_D);
    expect(await terminal.exit).toBe(0);
  });

  test("Ctrl-Z suspends the program, and fg brings back the line that was typed", async () => {
    const shell = openShell(createCliHome());
    shell.type(`${shell.program} run --plain --model scripted:offline${ENTER}`);
    await shell.see("› ");
    shell.type("hel");
    await shell.see("hel");
    shell.type("\u001a");
    await shell.see("Stopped");
    shell.type(`fg${ENTER}`);
    await shell.see("› ");
    await shell.see("hel");
    shell.type(`lo${ENTER}`);
    await shell.see("offline");
    await shell.see("› ");
    shell.type(CTRL_D);
    await shell.see("bash-");
  });

  test("Starlark can be tried line by line", async () => {
    const terminal = openCliTerminal(createCliHome(), ["starlark"]);
    await terminal.see(">>> ");
    terminal.type(`x = [n * n for n in range(4)]${ENTER}`);
    await terminal.see(">>> ");
    terminal.type(`def f(n):${ENTER}`);
    await terminal.see("... ");
    terminal.type(`    return x[n] + 100${ENTER}`);
    await terminal.see("... ");
    terminal.type(ENTER);
    await terminal.see(">>> ");
    terminal.type(`f(3)${ENTER}`);
    await terminal.see("109");
    terminal.type(`x.nope${ENTER}`);
    await terminal.see("list has no .nope");
    await terminal.see(">>> ");
    terminal.type(CTRL_D);
    expect(await terminal.exit).toBe(0);
  });

  test("Ctrl-C twice leaves with 130", async () => {
    const terminal = openCliTerminal(createCliHome(), ["--no-daemon", "--plain"]);
    await terminal.see("› ");
    terminal.type(CTRL_C);
    await terminal.see("Press Ctrl-C again");
    await terminal.see("› ");
    terminal.type(CTRL_C);
    expect(await terminal.exit).toBe(130);
  });
});
