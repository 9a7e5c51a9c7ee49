/** One process for sessions that share a key: who starts it, who hears of it, and when it ends. */
import { beforeAll, expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { stdioServer } from "../../test/fakes/mcp-world.ts";
import { createScriptedWorld } from "../../test/fakes/scripted-mcp-world.ts";
import { loadSdk } from "./sdk.ts";
import { createServerPool } from "./server-pool.ts";
import { createMcpServers } from "./servers.ts";

// On a clock that stands still nothing may take time of its own.
beforeAll(() => loadSdk());

function createRig() {
  const clock = createManualClock();
  const world = createScriptedWorld(clock);
  const hurry = new AbortController();
  const pool = createServerPool();
  const closed: number[] = [];
  const log = () => undefined;
  const parts = {
    ...{ clock, log, hurry: hurry.signal },
    world: { ...world, start: world.start, close: async () => void closed.push(clock.monotonicMs()) },
  };
  const session = (key = "same") => {
    const downs: unknown[] = [];
    const servers = createMcpServers({
      servers: [stdioServer("s", [])],
      world,
      clock,
      log,
      onDown: (event) => void downs.push(event),
      onWaiting: () => undefined,
      lease: (server, listener) => pool.lease(key, server, listener, () => parts),
    });
    const call = () => {
      const asked = { server: "s", tool: "one", args: {}, timeoutMs: 1_000 };
      return servers.port.call(asked, new AbortController().signal);
    };
    return { ...servers, downs, call };
  };
  return { clock, world, hurry, pool, closed, session };
}

test("sessions of one key use one process, and the last one ends it", async () => {
  const { world, closed, session } = createRig();
  const [one, two] = [session(), session()];
  await Promise.all([one.ready(), two.ready()]);
  expect([world.startedAtMs.length, one.tools().length, two.tools().length]).toEqual([1, 1, 1]);
  await one.close();
  expect(await two.call()).toMatchObject({ isError: false });
  await expect(one.call()).rejects.toMatchObject({ reason: "ServerUnavailable" });
  await two.close();
  await expect.poll(() => closed).toHaveLength(1);
  const three = session();
  await three.ready();
  expect(await three.call()).toMatchObject({ isError: false });
  expect(world.startedAtMs).toHaveLength(2);
});

test("another key is another process", async () => {
  const { world, session } = createRig();
  await Promise.all([session("one workspace").ready(), session("another").ready()]);
  expect(world.startedAtMs).toHaveLength(2);
});

test("every session hears that a server gave up, but for those that have left", async () => {
  const { clock, world, session } = createRig();
  const [one, two, left] = [session(), session(), session()];
  world.startError = new Error("no such program");
  await Promise.all([one.ready(), two.ready(), left.ready()]);
  await left.close();
  await clock.advance(120_000);
  expect([one.downs.length, two.downs.length, left.downs.length]).toEqual([1, 1, 0]);
});

test("a server that ignores the end of its input has 5 s, and nobody waits for it", async () => {
  const { clock, world, closed, session } = createRig();
  world.endsWithInput = false;
  const only = session();
  await only.ready();
  await only.close();
  await clock.advance(10_000);
  const [server] = world.running;
  expect([server?.endedAt, closed]).toEqual([{ input: 0, group: 5_000 }, [5_000]]);
});

test.each([
  [0, 800],
  [300, 800],
  [2_000, 2_000],
])("when the program begins to end after %i ms, it has until %i ms", async (afterMs, untilMs) => {
  const { clock, world, hurry, pool, session } = createRig();
  world.endsWithInput = false;
  const only = session();
  await only.ready();
  await only.close();
  await clock.advance(afterMs);
  hurry.abort();
  const ended = pool.close();
  await clock.advance(5_000);
  await ended;
  expect(world.running[0]?.endedAt.group).toBe(untilMs);
});
