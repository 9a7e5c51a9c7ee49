/** A daemon that is killed with SIGKILL while it compacts: the session goes on, with the compaction or without it, never with half of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createSteppedHome, readLog } from "../../bench/stepped-daemon.ts";
import { problemsOfLog } from "../fakes/long-work-checks.ts";
import { startMockProvider } from "../fakes/mock-provider-server.ts";
import type { MockReply } from "../fakes/mock-reply.ts";

const KILLS = 10;
/** The summary comes after half of this time, the kill somewhere within it. */
const SPAN_MS = 60;

test("a daemon that is killed while it compacts loses nothing and goes on", async () => {
  let calls: readonly object[] = [];
  let onSummary: (() => void) | undefined;
  const says = (text: string): MockReply => ({ type: "message", blocks: [{ type: "text", text }] });
  const server = await startMockProvider({
    forgets: true,
    answer(body) {
      if (((body as { tools?: readonly unknown[] }).tools ?? []).length === 0) {
        onSummary?.();
        return { ...says("What was read is in data.txt."), headersAfter: pause(SPAN_MS / 2) } as MockReply;
      }
      const [call, ...rest] = calls;
      calls = rest;
      if (call === undefined) return says("read");
      return { type: "message", blocks: [{ type: "tool_call", name: "fs_read", arguments: JSON.stringify(call) }] };
    },
  });
  const home = createSteppedHome({
    flags: ["-m", "anthropic:mock-model"],
    env: { ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: server.url },
  });
  onTestFinished(async () => {
    await home.stop();
    await server.close();
    home.remove();
  });
  writeFileSync(join(home.workspace, "data.txt"), "a line of an ordinary file in the workspace\n".repeat(600));
  const ask = (method: string, path: string, body?: object) => home.ask(home.token(), method, path, body);
  await home.start();
  await ask("GET", "/v1/handshake");
  const session = String((await ask("POST", "/v1/sessions", { working_dir: home.workspace })).body.id);
  const input = async (text: string): Promise<unknown> =>
    (await ask("POST", `/v1/sessions/${session}/input?wait=turn`, { content: [{ type: "text", text }] })).body.outcome;
  for (let kill = 0; kill < KILLS; kill++) {
    calls = Array.from({ length: 4 }, (_, at) => ({ path: "data.txt", limit: 1_000 + kill * 10 + at }));
    expect(await input(`read ${kill}`)).toBe("answered");
    calls = [];
    const summary = new Promise<void>((done) => {
      onSummary = done;
    });
    expect((await ask("POST", `/v1/sessions/${session}/compact`, {})).status).toBe(202);
    await summary;
    await pause(((kill + 0.5) * SPAN_MS) / KILLS);
    await home.stop("SIGKILL");
    await home.start();
    await ask("GET", "/v1/handshake");
    expect((await ask("POST", "/v1/sessions", { resume: session })).status).toBe(200);
    expect(await input(`go on ${kill}`)).toBe("answered");
  }
  expect(server.refused).toBe(0);
  const log = await readLog(home, session);
  const cutOff = log.filter((event) => event.kind === "Error" && event.payload.reason === "Interrupted");
  const compacted = log.filter(({ kind }) => kind === "CompactionTriggered");
  // Some of the kills come before the summary, some after it.
  expect(cutOff.length).toBeGreaterThan(0);
  expect(compacted.length).toBeGreaterThan(0);
  const others = problemsOfLog(log).filter((problem) => !/^error \d+: Interrupted/.test(problem));
  expect(others).toEqual([]);
  expect(await home.cli("audit", "verify", session)).toMatchObject({ code: 0 });
});
