/** Terminals that come to sessions of a daemon in less usual ways: `--continue`, acks, tokens, lists, a daemon that is killed again and again. */
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { Event } from "#protocol";
import {
  type CliHome,
  type CliTerminal,
  createCliHome,
  finish,
  openCliTerminal,
  runCli,
  startCli,
} from "../fakes/cli-process.ts";
import { createDaemonHome } from "../fakes/daemon-home.ts";
import { startDaemonRun } from "../fakes/daemon-run.ts";

const ENTER = "\r";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

const SCENARIO = `
name: shared
rules:
  - when: { tool: exec }
    reply: [{ text: "The command is through." }]
  - when: { input: "/touch/" }
    reply: [{ tool: exec, args: { command: "touch made.txt" } }]
  - when: { input: "/sleep/" }
    reply: [{ tool: exec, args: { command: "sleep 600" } }]
  - when: { input: "/later/" }
    reply: [{ text: "This came from the queue." }]
otherwise: [{ text: "Nothing to do." }]
`;

async function leave(terminal: CliTerminal): Promise<void> {
  terminal.type(CTRL_D);
  expect(await terminal.exit).toBe(0);
}

async function startDaemon(home: CliHome, ...flags: string[]) {
  home.put("shared.yaml", SCENARIO);
  const run = await startDaemonRun(home, "--model", "scripted:./shared.yaml", "--sandbox", "off", ...flags);
  return run.child;
}

describe("harness attach", () => {
  test("--continue of a session that the daemon has open goes on there; with a prompt it says what to do", async () => {
    const home = createCliHome();
    await startDaemon(home);
    const first = openCliTerminal(home, ["--plain"]);
    const [id = ""] = /sess_\w+/.exec(await first.see("/help for help")) ?? [];
    await first.see("› ");
    first.type(`hello${ENTER}`);
    await first.see("Nothing to do.");
    const second = openCliTerminal(home, ["run", "--plain", "--continue"]);
    await second.see(`${id} is open in the daemon. It continues there`);
    await second.see("attached on unix:");
    await second.see("› ");
    second.type(`anything else?${ENTER}`);
    await first.see("anything else?");
    await second.see("Nothing to do.");
    const refused = await runCli(home, ["run", "--continue", "-m", "scripted:./shared.yaml", "more"]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`harness attach ${id}`) });
    second.type(CTRL_D);
    expect(await second.exit).toBe(0);
  });

  test("either may queue, steer and cancel; the list leads to other sessions", async () => {
    const home = createCliHome();
    await startDaemon(home, "--allow", "Bash(*)");
    const first = openCliTerminal(home, ["attach", "--plain", "--new"]);
    await first.see("› ");
    first.type(`sleep well${ENTER}`);
    await first.see("● Bash sleep 600");
    const second = openCliTerminal(home, ["attach", "--plain", "--last"]);
    await second.see("● Bash sleep 600");
    second.type(`hello?${ENTER}`);
    await second.see("queued: hello?");
    second.type(`/queue later${ENTER}`);
    await first.see("queued: ");
    second.type(`/steer and dream${ENTER}`);
    await Promise.all([first.see("sent during the turn: and dream"), second.see("sent during the turn: and dream")]);
    second.type(CTRL_C);
    await Promise.all([first.see("Cancelled."), second.see("Cancelled.")]);
    await Promise.all([
      first.see("2 queued inputs still in the session"),
      second.see("2 queued inputs still in the session"),
    ]);
    await Promise.all([first.see("This came from the queue."), second.see("This came from the queue.")]);
    const other = openCliTerminal(home, ["attach", "--plain", "--new", "--model", "scripted:./shared.yaml"]);
    const shown = await other.see("/help for help");
    const [id = ""] = /sess_\w+/.exec(shown) ?? [];
    second.type(`/sessions:list${ENTER}`);
    await second.see(`  ${id}  `);
    second.type(`/sessions:resume ${id}${ENTER}`);
    await second.see(`${id} · scripted:./shared.yaml`);
    other.type(`hello${ENTER}`);
    await Promise.all([other.see("Nothing to do."), second.see("Nothing to do.")]);
    const picking = openCliTerminal(home, ["attach", "--plain", "--plain"]);
    await picking.see("[p] pick from the list");
    picking.type(`p${ENTER}`);
    await picking.see(" 2. sess_");
    await picking.see("number > ");
    picking.type(`2${ENTER}`);
    await picking.see("This came from the queue.");
    // A key that comes before the line is read is not that line's.
    await picking.see("/help for help");
    await picking.see("› ");
    await leave(picking);
    for (const terminal of [first, second, other]) terminal.type(CTRL_D);
    expect(await Promise.all([first.exit, second.exit, other.exit])).toEqual([0, 0, 0]);
  });

  test("asks about the files of a project before the daemon opens a session on it", async () => {
    const home = createCliHome();
    await startDaemon(home);
    home.put("harness.md", "---\n---\n\nAnswer in rhyme.\n");
    const denied = openCliTerminal(home, ["--plain"]);
    await denied.see("harness.md needs your ack");
    await denied.see("[q]uit > ");
    denied.type("d");
    await denied.see("AckDenied");
    expect(await denied.exit).toBe(2);
    const terminal = openCliTerminal(home, ["--plain"]);
    await terminal.see("[q]uit > ");
    terminal.type("a");
    await terminal.see("/help for help");
    await terminal.see("› ");
    terminal.type(`hi${ENTER}`);
    await terminal.see("Nothing to do.");
    await leave(terminal);
  });

  test("asks about the files that the daemon reads by its own flags", async () => {
    const home = createCliHome();
    home.put("claude.toml", 'name = "claude"\ncontext_sources = ["CLAUDE.md"]\n');
    await startDaemon(home, "--profile", "./claude.toml", "--allow-project-hooks");
    home.put("CLAUDE.md", "Answer in rhyme.\n");
    home.put(".claude/settings.json", '{ "hooks": {} }\n');
    const terminal = openCliTerminal(home, ["--plain"]);
    for (const file of ["CLAUDE.md", ".claude/settings.json"]) {
      await terminal.see(`${file} needs your ack`);
      await terminal.see("[q]uit > ");
      terminal.type("a");
    }
    await terminal.see("/help for help");
    await terminal.see("› ");
    await leave(terminal);
  });

  test("shows the code when a program asks for a token", async () => {
    const home = createCliHome();
    await startDaemon(home);
    const terminal = openCliTerminal(home, ["attach", "--plain", "--new"]);
    const [id = ""] = /sess_\w+/.exec(await terminal.see("/help for help")) ?? [];
    terminal.type(`hi${ENTER}`);
    await terminal.see("Nothing to do.");
    const socketPath = join(home.env.XDG_DATA_HOME ?? "", "harness", "control.sock");
    const path = `/v1/auth/token?session=${id}&commands=SendInput&ttl_seconds=600`;
    const asked = await new Promise<string>((resolve, reject) => {
      const ask = request({ socketPath, path, headers: { host: "localhost" }, agent: false }, (response) => {
        text(response).then(resolve, reject);
      });
      ask.on("error", reject).end();
    });
    expect(JSON.parse(asked)).toMatchObject({ channel: "client" });
    const shown = await terminal.see("To allow it, give it this code before");
    expect(shown).toContain("It may send: SendInput");
    await leave(terminal);
  });

  test("a daemon that was killed is started again as it was, and nothing that was typed is lost or sent twice", async () => {
    const home = createDaemonHome();
    home.put("shared.yaml", SCENARIO);
    const first = await home.start("-m", "scripted:./shared.yaml", "--sandbox", "off");
    const terminal = openCliTerminal(home, ["--plain"]);
    const [id = ""] = /sess_\w+/.exec(await terminal.see("/help for help")) ?? [];
    const watching = startCli(home, ["attach", id, "--json", "--since", "0"]);
    const watched = finish(watching);
    let printed = "";
    watching.stdout.on("data", (chunk: string) => {
      printed += chunk;
    });
    await terminal.see("› ");
    terminal.type(`one${ENTER}`);
    await terminal.see("Nothing to do.");
    if (printed === "") await once(watching.stdout, "data");
    // One that is half-way to the daemon when it dies, and one that is typed while there is none.
    process.kill(first, "SIGSTOP");
    terminal.type(`two${ENTER}`);
    await terminal.see("two");
    process.kill(first, "SIGKILL");
    terminal.type(`/queue later${ENTER}`);
    await terminal.see("The daemon was killed; restarting it.");
    await terminal.see("Reconnected; nothing was missed.");
    await terminal.see("This came from the queue.");
    const second = await home.status();
    expect(second).toMatchObject({ state: "running" });
    expect(second.pid).not.toBe(first);
    expect(second.health.subsystems.providers.model).toBe("scripted:./shared.yaml");
    // And once more, in the middle of a line.
    await terminal.see("› ");
    terminal.type("thr");
    process.kill(second.pid ?? 0, "SIGKILL");
    await terminal.see("Reconnected; nothing was missed.");
    terminal.type(`ee${ENTER}`);
    await terminal.see("Nothing to do.");
    await leave(terminal);
    const { json } = await home.ask("GET", `/v1/sessions/${id}/log?limit=1000`);
    const log = json.events as Event[];
    const inputs = log.flatMap((event) => (event.kind === "TurnStarted" ? event.payload.content : []));
    expect(inputs.map((block) => Reflect.get(block, "text"))).toEqual(["one", "two", "later", "three"]);
    // It comes back by itself, at its own pace.
    while (!printed.includes(`{"id":${log.at(-1)?.id},`)) await once(watching.stdout, "data");
    watching.kill("SIGINT");
    const lines = (await watched).out.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(log);
  });

  test("harness alone says which keys of this terminal the daemon lacks, and takes the model of this terminal", async () => {
    const home = createCliHome();
    try {
      expect(await runCli(home, ["daemon", "start"])).toMatchObject({ code: 0 });
      const env = { ...home.env, ANTHROPIC_API_KEY: "sk-ant-made-up-0123456789", HARNESS_MODEL: "scripted:demo" };
      const second = openCliTerminal({ ...home, env }, ["--plain"]);
      const seen = await second.see("› ");
      expect(seen).toContain("without the key of anthropic that is set here. To use it: harness daemon restart");
      expect(seen).toContain("scripted:demo");
      await leave(second);
    } finally {
      expect(await runCli(home, ["daemon", "stop"])).toMatchObject({ code: 0 });
    }
  });
});
