/** The client library against real processes: a daemon that is killed and started again, and a program on pipes that is killed. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { connect, type Event } from "#client";
import { createCliHome, finish } from "../fakes/cli-process.ts";
import { daemonPlace, startDaemonRun } from "../fakes/daemon-run.ts";
import { launcher } from "../fakes/launcher.ts";

const SCENARIO = `
name: client
rules:
  - when: { input: "/^count/" }
    reply: [{ text: "one two three four five six seven eight nine ten" }]
otherwise: [{ text: "hello" }]
`;

/** Resolves when it listens; its token is another one at each start. */
async function startDaemon(home: ReturnType<typeof createCliHome>, scenario: string) {
  const { socket, tokenFile, flags } = daemonPlace(home);
  const { child } = await startDaemonRun(home, ...flags, "--model", `scripted:${scenario}`);
  return { child, socket, tokenFile, token: readFileSync(tokenFile, "utf8") };
}

describe.each(["sse", "ws"] as const)("a daemon that is killed and started again: %s", (wire) => {
  test("the loop goes on, nothing is lost, nothing comes twice, and commands reach the new one", async () => {
    const home = createCliHome();
    const scenario = home.put("scenario.yaml", SCENARIO);
    const first = await startDaemon(home, scenario);
    const { socket, tokenFile } = first;
    const client = await connect({ socket, tokenFile, wire });
    onTestFinished(() => client.close());
    const session = await client.open({ workingDir: home.workspace });
    const seen: Event[] = [];
    const states: string[] = [];
    let wake = (): void => undefined;
    const reading = (async () => {
      for await (const event of session.events({ since: 0, onConnection: (state) => states.push(state) })) {
        seen.push(event);
        wake();
      }
    })();
    const turnsEnded = async (count: number): Promise<void> => {
      while (seen.filter(({ kind }) => kind === "TurnEnded").length < count) {
        await new Promise<void>((resume) => {
          wake = resume;
        });
      }
    };
    await session.send("count");
    await turnsEnded(1);
    const gone = finish(first.child);
    first.child.kill("SIGKILL");
    await gone;
    // Sent while nobody is there: it waits, and is carried out once.
    const sent = session.send("hello?").catch((error: unknown) => {
      // A socket whose end was not noticed yet took it: nobody was there to begin with it.
      expect(error).toMatchObject({ reason: "ConnectionLost" });
      return session.send("hello?");
    });
    const second = await startDaemon(home, scenario);
    expect(second.token).not.toBe(first.token);
    await sent;
    await turnsEnded(2);
    // Told to stop, it ends its sessions; they go on when it is there again.
    const stopped = finish(second.child);
    second.child.kill("SIGTERM");
    await stopped;
    await startDaemon(home, scenario);
    await session.send("and again");
    await turnsEnded(3);
    await session.end();
    await reading;
    const log = await Array.fromAsync(session.log());
    expect(seen.map(({ id }) => id)).toEqual(log.map(({ id }) => id));
    expect(seen.filter(({ kind }) => kind === "TurnStarted")).toHaveLength(3);
    expect(seen.filter(({ kind }) => kind === "SessionEnded").map(({ payload }) => payload)).toEqual([
      { reason: "binary-shutdown" },
      { reason: "user" },
    ]);
    expect(states.slice(0, 2)).toEqual(["lost", "connected"]);
  });
});

test("a program on pipes that is killed is started again, and its log goes on", async () => {
  const home = createCliHome();
  const scenario = home.put("scenario.yaml", SCENARIO);
  const client = await connect({
    command: [process.execPath, launcher, "rpc", "--cwd", home.workspace, "--model", `scripted:${scenario}`],
    env: { ...home.env },
    cwd: home.workspace,
  });
  onTestFinished(() => client.close());
  const session = await client.open();
  const turns: string[] = [];
  const ids: number[] = [];
  await session.send("count");
  for await (const event of session.events({ since: 0 })) {
    ids.push(event.id);
    if (event.kind !== "TurnEnded") continue;
    turns.push(event.payload.outcome);
    if (turns.length === 1) {
      const [pid] = pidsOf(home.workspace);
      process.kill(pid ?? 0, "SIGKILL");
    }
    if (turns.length === 2) break;
    await session.send("hello?").catch(async (error: unknown) => {
      // It was on its way when the program ended: what became of it is in the log.
      expect(error).toMatchObject({ reason: "ConnectionLost" });
      await session.send("hello?");
    });
  }
  expect(ids).toEqual(ids.map((_, index) => index + 1));
  await client.close();
});

/** Of the program that works in this folder, by its arguments. */
function pidsOf(workspace: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return words.includes("rpc") && words.includes(workspace) ? [Number(name)] : [];
    } catch {
      return []; // it ended meanwhile
    }
  });
}
