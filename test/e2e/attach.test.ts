/** Two terminals on one session of a daemon: each sees the other's turns, either may answer, queue and cancel. */
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
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
  test("a second terminal sees the turn of the first one live, and answers its question", async () => {
    const home = createCliHome();
    await startDaemon(home);
    const first = openCliTerminal(home, ["--plain"]);
    await first.see("attached on unix:");
    await first.see("› ");
    first.type(`touch it${ENTER}`);
    await first.see("[d] deny");
    const second = openCliTerminal(home, ["--plain"]);
    const offer = await second.see("[p] pick from the list");
    expect(offer).toMatch(/Last session here:.*waiting, 1 attached/);
    second.type(`l${ENTER}`);
    await second.see("touch it");
    await second.see("Bash wants to run:");
    await second.see("[d] deny");
    second.type(`o${ENTER}`);
    await Promise.all([first.see("The command is through."), second.see("The command is through.")]);
    expect(existsSync(join(home.workspace, "made.txt"))).toBe(true);
    // The question of the first terminal has gone by itself, and it can go on.
    await first.see("› ");
    first.type(`anything else?${ENTER}`);
    await second.see("anything else?");
    await Promise.all([first.see("Nothing to do."), second.see("Nothing to do.")]);
    second.type(CTRL_D);
    await second.see("Detached. The session continues");
    expect(await second.exit).toBe(0);
    first.type(`/quit${ENTER}`);
    expect(await first.exit).toBe(0);
  });

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

  test("tells that the daemon is gone, finds it again, and shows what happened meanwhile", async () => {
    const home = createCliHome();
    const daemon = await startDaemon(home);
    const terminal = openCliTerminal(home, ["--plain"]);
    await terminal.see("› ");
    terminal.type(`one${ENTER}`);
    await terminal.see("Nothing to do.");
    const gone = finish(daemon);
    daemon.kill("SIGKILL");
    await gone;
    await terminal.see("The connection was lost; reconnecting.");
    await startDaemon(home);
    await terminal.see("Reconnected; nothing was missed.");
    terminal.type(`two${ENTER}`);
    await terminal.see("Nothing to do.");
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

  test("without a terminal it prints events; without a daemon it says so", async () => {
    const home = createCliHome();
    const none = await runCli(home, ["attach"]);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("Start one with harness daemon start") });
    await startDaemon(home);
    const terminal = openCliTerminal(home, ["attach", "--plain", "--new"]);
    const [id = ""] = /sess_\w+/.exec(await terminal.see("/help for help")) ?? [];
    terminal.type(`hi${ENTER}`);
    await terminal.see("Nothing to do.");
    const watching = startCli(home, ["attach", id.slice(0, 20), "--json", "--since", "0"]);
    const lines: { readonly id: number; readonly kind: string }[] = [];
    const sawEnd = new Promise<void>((resolve) => {
      let rest = "";
      watching.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        const parts = (rest + chunk).split("\n");
        rest = parts.pop() ?? "";
        for (const part of parts) lines.push(JSON.parse(part));
        if (lines.some(({ kind }) => kind === "TurnEnded")) resolve();
      });
    });
    await sawEnd;
    const ended = finish(watching);
    watching.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0 });
    expect(lines.map((event) => event.id)).toEqual(lines.map((_, index) => index + 1));
    // A prompt in a pipe would wait for ever in a session that nobody can say anything to.
    const before = await runCli(home, ["sessions", "list", "--json"]);
    for (const flags of [[], ["--new"]]) {
      expect(await runCli(home, ["attach", ...flags], "hi\n")).toMatchObject({
        code: 2,
        err: expect.stringContaining("use harness run"),
      });
    }
    expect(await runCli(home, ["sessions", "list", "--json"])).toEqual(before);
    const looking = startCli(home, ["attach", id]);
    const left = finish(looking);
    let shown = "";
    looking.stderr.on("data", (chunk: string) => {
      shown += chunk;
      if (shown.includes("read-only")) looking.kill("SIGINT");
    });
    expect(await left).toMatchObject({ code: 0 });
    expect(await runCli(home, ["attach", "sess_NOBODY"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("SessionNotFound"),
    });
  });

  test("harness alone starts the daemon, the next one attaches to it, and with --no-daemon there is none", async () => {
    const home = createCliHome();
    try {
      const first = openCliTerminal(home, ["--plain"]);
      expect(await first.see("› ")).toContain("The engine runs in the background now");
      first.type(`hello${ENTER}`);
      await first.see("offline");
      const second = openCliTerminal(home, ["--plain"]);
      expect(await second.see("  > ")).toContain("Last session here");
      second.type(ENTER);
      expect(await second.see("› ")).not.toMatch(/attached on[\s\S]*hello/);
      for (const terminal of [first, second]) {
        await leave(terminal);
      }
      expect(await runCli(home, ["daemon", "status"])).toMatchObject({ code: 0 });
    } finally {
      expect(await runCli(home, ["daemon", "stop"])).toMatchObject({ code: 0 });
    }
    const inside = openCliTerminal(home, ["--no-daemon", "--plain"]);
    expect(await inside.see("› ")).not.toContain("attached on");
    await leave(inside);
    expect(await runCli(home, ["daemon", "status"])).toMatchObject({ code: 1 });
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

  test("harness alone goes on in its own process when the daemon cannot be started, and says so", async () => {
    const home = createCliHome();
    mkdirSync(join(home.env.XDG_DATA_HOME ?? "", "harness", "control.sock"), { recursive: true });
    const terminal = openCliTerminal(home, ["--plain"]);
    expect(await terminal.see("› ")).toContain("continuing in this process");
    await leave(terminal);
  });
});
