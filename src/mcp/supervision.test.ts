/** Servers that end, do not start or do not answer: when they are started again, and what a call gets in the meantime. */
import { beforeAll, expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { openServers, stdioServer } from "../../test/fakes/mcp-world.ts";
import { createScriptedWorld } from "../../test/fakes/scripted-mcp-world.ts";
import { loadSdk } from "./sdk.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

// On a clock that stands still nothing may take time of its own.
beforeAll(() => loadSdk());

function rig(more: Parameters<typeof stdioServer>[2] = {}) {
  const clock = createManualClock();
  const world = createScriptedWorld(clock);
  const servers = openServers([stdioServer("s", [], more)], { clock, world });
  return { clock, world, servers };
}

test("a program that cannot be started is tried after 1, 2 and 4 s, once more after a minute, and then left alone for an hour", async () => {
  const { clock, world, servers } = rig();
  world.startError = new Error("no such program");
  await servers.ready();
  await clock.advance(2 * MINUTE_MS);
  expect(world.startedAtMs).toEqual([0, 1_000, 3_000, 7_000, 61_000]);
  expect(servers.downs).toEqual([{ name: "s", reason: "no such program", attempts: 5 }]);
  expect(servers.states()).toEqual([
    { name: "s", state: "down", tools: 0, waiting: 0, restarts: 4, lastError: "no such program" },
  ]);
  await clock.advance(HOUR_MS);
  expect(world.startedAtMs.slice(5)).toEqual([61_000 + HOUR_MS, 63_000 + HOUR_MS, 67_000 + HOUR_MS]);
  await servers.close();
  expect(clock.sleeping).toBe(0);
});

test("the tools of a server that has ended stay listed and say that it is not available", async () => {
  const { clock, world, servers } = rig();
  await servers.ready();
  const offered = servers.tools();
  expect(offered.map(({ name }) => name)).toEqual(["mcp.s.one"]);
  world.running[0]?.exit(3);
  await clock.advance(0);
  expect(servers.tools()).toBe(offered);
  await expect(servers.run("mcp.s.one")).rejects.toMatchObject({
    name: "ToolError",
    message:
      "«mcp-server-unavailable» the MCP server 's' is not available: it exited with code 3. Harness starts it again in 1 s.",
  });
  await clock.advance(1_000);
  expect(await servers.run("mcp.s.one")).toMatchObject({ content: [{ text: "done" }] });
  expect(servers.states()).toMatchObject([{ state: "ready", restarts: 1 }]);
});

test("failures are counted in a row: a minute of work ends the row", async () => {
  const { clock, world, servers } = rig();
  await servers.ready();
  for (let round = 0; round < 8; round++) {
    await clock.advance(MINUTE_MS);
    world.running.at(-1)?.exit(1);
    await clock.advance(1_000);
  }
  expect(servers.downs).toEqual([]);
  for (let round = 0; round < 5; round++) {
    world.running.at(-1)?.exit(1);
    await clock.advance(MINUTE_MS - 1);
  }
  expect(servers.downs).toHaveLength(1);
});

test("a call that is under way when the server ends says so", async () => {
  const { clock, world, servers } = rig();
  world.answer = () => undefined;
  await servers.ready();
  const call = servers.run("mcp.s.one");
  const failed = expect(call).rejects.toThrow(/it ended during the call, which may or may not have had its effect/);
  await clock.advance(0);
  world.running[0]?.exit(0);
  await failed;
});

test("a call without an answer ends with its time", async () => {
  const { clock, world, servers } = rig({ toolTimeoutMs: 5_000 });
  world.answer = () => undefined;
  await servers.ready();
  const failed = expect(servers.run("mcp.s.one")).rejects.toMatchObject({ name: "ToolError", reason: "ToolTimeout" });
  await clock.advance(5_000);
  await failed;
  expect(servers.states()).toMatchObject([{ state: "ready" }]);
});

test("the first request waits no longer than the startup time, and a call waits for a server that is starting", async () => {
  const { clock, world, servers } = rig({ startupTimeoutMs: 3_000 });
  const { start } = world;
  const gate = Promise.withResolvers<void>();
  world.start = async (...args) => {
    await gate.promise;
    return start(...args);
  };
  let isReady = false;
  void servers.ready().then(() => {
    isReady = true;
  });
  await clock.advance(2_999);
  expect(isReady).toBe(false);
  await clock.advance(1);
  expect(isReady).toBe(true);
  expect(servers.states()).toMatchObject([{ state: "starting" }]);
  gate.resolve();
  await clock.advance(0);
  expect(servers.states()).toMatchObject([{ state: "ready" }]);
});

test("a handshake and a list that do not come end after 30 s", async () => {
  for (const silent of ["initialize", "tools/list"]) {
    const { clock, world, servers } = rig();
    const { start } = world;
    world.start = async (server, on, signal) => {
      const process = await start(server, on, signal);
      return { ...process, write: (line) => (line.includes(`"${silent}"`) ? undefined : process.write(line)) };
    };
    void servers.ready();
    await clock.advance(29_999);
    expect(servers.states()).toMatchObject([{ state: "starting" }]);
    await clock.advance(1);
    expect(servers.states()).toMatchObject([{ state: "down", lastError: "it did not answer in time" }]);
    expect(world.running[0]?.endedAt.group).toBe(30_000);
    await servers.close();
  }
});

test("a restart by hand begins with a clean record", async () => {
  const { clock, world, servers } = rig();
  world.startError = new Error("not yet");
  await servers.ready();
  await clock.advance(HOUR_MS / 2);
  expect(servers.downs).toHaveLength(1);
  delete world.startError;
  await servers.restart("s");
  expect(servers.states()).toMatchObject([{ state: "ready" }]);
  await clock.advance(2 * HOUR_MS);
  expect(world.running).toHaveLength(1);
  await expect(servers.restart("t")).rejects.toMatchObject({ reason: "ServerUnavailable" });
});

test("two restarts at once are one, and no server is left after the end", async () => {
  const { clock, world, servers } = rig();
  await servers.ready();
  const both = Promise.all([servers.restart("s"), servers.restart("s")]);
  await clock.advance(0);
  await both;
  const alive = () => world.running.filter(({ endedAt }) => endedAt.input === undefined && endedAt.group === undefined);
  expect([world.running.length, alive().length]).toEqual([2, 1]);
  expect(servers.states()).toMatchObject([{ restarts: 1 }]);
  await servers.close();
  expect(alive()).toEqual([]);
});

test("the reason why a server failed is short and visible", async () => {
  const { world, servers } = rig();
  world.startError = new Error(`\u001b[2J${"x".repeat(10_000)}`);
  await servers.ready();
  expect(servers.states()[0]?.lastError).toMatch(/^⟨U\+001B⟩\[2Jx{496}$/);
  await servers.close();
});

test("a server is asked to end by closing its input, and its process group is ended after 5 s", async () => {
  for (const endsWithInput of [true, false]) {
    const { clock, world, servers } = rig();
    world.endsWithInput = endsWithInput;
    await servers.ready();
    const closing = servers.close();
    await clock.advance(5_000);
    await closing;
    expect(world.running[0]?.endedAt.input).toBe(0);
    expect(world.running[0]?.endedAt.group).toBe(endsWithInput ? 0 : 5_000);
    await clock.advance(MINUTE_MS);
    expect(world.running).toHaveLength(1);
    expect(servers.states()).toMatchObject([{ state: "stopped" }]);
  }
});

test("changed tools are read once for several announcements, and are offered as new objects", async () => {
  const { clock, world, servers } = rig();
  await servers.ready();
  const before = servers.tools();
  world.tools = [...world.tools, { name: "two", inputSchema: { type: "object" } }];
  for (let count = 0; count < 4; count++) world.running[0]?.send({ method: "notifications/tools/list_changed" });
  await clock.advance(299);
  expect(servers.tools()).toBe(before);
  await clock.advance(1);
  expect(servers.tools().map(({ name }) => name)).toEqual(["mcp.s.one", "mcp.s.two"]);
  const after = servers.tools();
  world.running[0]?.send({ method: "notifications/tools/list_changed" });
  await clock.advance(1_000);
  expect(servers.tools()).toBe(after);
});
