/** `harness daemon run` as a process: found by its socket and token file, drained by SIGTERM, started again after a kill. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CliHome, createCliHome, finish, runCli } from "../fakes/cli-process.ts";
import { daemonPlace, startDaemonRun } from "../fakes/daemon-run.ts";

const SCENARIO = `
name: daemon
rules:
  - when: { tool: exec }
    reply: [{ text: "slept" }]
  - when: { input: "/^slow/" }
    reply: [{ tool: exec, args: { command: "sleep 1 && echo slept" } }]
otherwise: [{ text: "hello from the daemon" }]
`;

interface Daemon {
  readonly child: ChildProcessWithoutNullStreams;
  readonly socket: string;
  readonly token: string;
  // biome-ignore lint/suspicious/noExplicitAny: a foreign program knows no types
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; json: any }>;
}

async function startDaemon(home: CliHome, ...args: string[]): Promise<Daemon> {
  const { socket, tokenFile, flags } = daemonPlace(home);
  const { child } = await startDaemonRun(home, ...flags, ...args);
  const token = readFileSync(tokenFile, "utf8").trim();
  expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
  return {
    child,
    socket,
    token,
    ask: (method, path, body) =>
      new Promise((resolve, reject) => {
        const headers = { host: "localhost", "x-harness-token": token };
        const asked = request({ socketPath: socket, method, path, headers, agent: false }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("end", () => {
            // What the daemon answers is JSON, or nothing.
            const json = (text === "" ? {} : JSON.parse(text)) as unknown;
            resolve({ status: response.statusCode ?? 0, json });
          });
        });
        asked.on("error", reject);
        asked.end(body === undefined ? undefined : JSON.stringify(body));
      }),
  };
}

const input = (text: string) => ({ content: [{ type: "text", text }] });

describe("harness daemon run", () => {
  test("serves a turn, lets a running one end on SIGTERM, and leaves nothing behind", async () => {
    const home = createCliHome();
    const scenario = home.put("scenario.yaml", SCENARIO);
    const daemon = await startDaemon(home, "--model", `scripted:${scenario}`, "--allow", "Bash(*)", "--sandbox", "off");
    await daemon.ask("GET", "/v1/handshake");
    const { id } = (await daemon.ask("POST", "/v1/sessions", {})).json;
    expect((await daemon.ask("POST", `/v1/sessions/${id}/input?wait=turn`, input("hi"))).json).toMatchObject({
      outcome: "answered",
      answer: "hello from the daemon",
    });
    const slow = daemon.ask("POST", `/v1/sessions/${id}/input?wait=turn`, input("slow"));
    for (let activity = ""; activity !== "running"; ) {
      activity = (await daemon.ask("GET", `/v1/sessions/${id}`)).json.activity ?? "";
    }
    const ended = finish(daemon.child);
    daemon.child.kill("SIGTERM");
    expect((await slow).json).toMatchObject({ outcome: "answered" });
    expect(await ended).toMatchObject({ code: 0 });
    expect(existsSync(daemon.socket)).toBe(false);
    expect(existsSync(join(home.workspace, "..", "token"))).toBe(false);
  });

  test("starts again over what a killed one left, and goes on with its session and its queue", async () => {
    const home = createCliHome();
    const scenario = home.put("scenario.yaml", SCENARIO);
    const flags = ["--model", `scripted:${scenario}`, "--allow", "Bash(*)", "--sandbox", "off"];
    const first = await startDaemon(home, ...flags);
    await first.ask("GET", "/v1/handshake");
    const { id } = (await first.ask("POST", "/v1/sessions", {})).json;
    await first.ask("POST", `/v1/sessions/${id}/input`, input("slow"));
    expect(await first.ask("POST", `/v1/sessions/${id}/input?mode=queue`, input("later"))).toMatchObject({
      status: 202,
    });
    const gone = finish(first.child);
    first.child.kill("SIGKILL");
    await gone;
    expect(existsSync(first.socket)).toBe(true);
    const second = await startDaemon(home, ...flags);
    await second.ask("GET", "/v1/handshake");
    expect(await second.ask("POST", "/v1/sessions", { resume: id })).toMatchObject({ status: 200 });
    const orphan = (await logOf(second, id)).find(({ kind }) => kind === "OrphanedCall");
    if (orphan !== undefined) {
      const body = { kind: "ResolveOrphan", call_id: orphan.payload.call_id, resolution: "failed" };
      expect(await second.ask("POST", `/v1/sessions/${id}/commands`, body)).toMatchObject({ status: 202 });
    }
    let delivered: LoggedEvent[] = [];
    while (delivered.length === 0) {
      delivered = (await logOf(second, id)).filter(({ kind, payload }) => kind === "TurnStarted" && payload.queued);
    }
    expect(delivered).toMatchObject([{ payload: { content: [{ text: "later" }] } }]);
    expect(await runCli(home, ["daemon", "run", "--listen", `unix:${second.socket}`])).toMatchObject({
      code: 2,
      err: expect.stringContaining("another program listens"),
    });
  });

  test("refuses addresses that other machines could reach", async () => {
    const home = createCliHome();
    const result = await runCli(home, ["daemon", "run", "--listen", "0.0.0.0:8080"]);
    expect(result).toMatchObject({ code: 2, err: expect.stringContaining("is reachable from other machines") });
  });
});

interface LoggedEvent {
  readonly kind: string;
  readonly payload: { readonly queued?: number; readonly call_id?: string };
}

async function logOf(daemon: Daemon, id: string): Promise<LoggedEvent[]> {
  const { events } = (await daemon.ask("GET", `/v1/sessions/${id}/log`)).json as { events: LoggedEvent[] };
  return events;
}
