import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type CliHome,
  type CliTerminal,
  createCliHome,
  finish,
  openCliTerminal,
  runCli,
  startCli,
} from "../fakes/cli-process.ts";
import { startDaemonRun } from "../fakes/daemon-run.ts";

const ENTER = "\r";
const CTRL_D = "\u0004";

const SCENARIO = `
name: shared
rules:
  - when: { tool: exec }
    reply: [{ text: "The command is through." }]
  - when: { input: "/touch/" }
    reply: [{ tool: exec, args: { command: "touch made.txt" } }]
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

  test("harness alone goes on in its own process when the daemon cannot be started, and says so", async () => {
    const home = createCliHome();
    mkdirSync(join(home.env.XDG_DATA_HOME ?? "", "harness", "control.sock"), { recursive: true });
    const terminal = openCliTerminal(home, ["--plain"]);
    expect(await terminal.see("› ")).toContain("continuing in this process");
    await leave(terminal);
  });
});
