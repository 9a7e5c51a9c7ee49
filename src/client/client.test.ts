/** One interface over every wire: the same calls against a whole harness, and what happens when connections are cut. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { CallId, type Event, SessionId } from "#protocol";
import { serveRpc } from "#transports/rpc";
import { createSystemClock, createSystemRandom } from "#world";
import { startCuttingProxy } from "../../test/fakes/cutting-proxy.ts";
import { calls, says } from "../../test/fakes/harness-rig.ts";
import { createHttpRig, type HttpRig } from "../../test/fakes/http-rig.ts";
import { type Client, type ClientSession, createClient } from "./client.ts";
import { connect } from "./connect.ts";
import { clientHost } from "./node/host.ts";
import { DEFAULT_RECONNECT } from "./retry.ts";
import { createRpcTransport } from "./rpc-transport.ts";
import type { Transport } from "./transport.ts";

const CALL = CallId.from("0".repeat(26));
const UNKNOWN = SessionId.from("Z".repeat(26));

const wires: Readonly<Record<string, (rig: HttpRig) => Promise<Client>>> = {
  "SSE on a Unix socket": ({ socketPath: socket }) => connect({ socket, token: "human" }),
  "SSE on TCP": ({ port }) => connect({ url: `http://127.0.0.1:${port}`, token: "human" }),
  "web socket on a Unix socket": ({ socketPath: socket }) => connect({ socket, token: "human", wire: "ws" }),
  "web socket on TCP": ({ port }) => connect({ url: `http://127.0.0.1:${port}`, token: "human", wire: "ws" }),
  "in this process": ({ harness }) => connect({ engine: harness }),
  "JSON-RPC": overPipes,
};

/** The server of `harness rpc` on two streams. */
function overPipes({ harness, workspace }: HttpRig): Promise<Client> {
  const clock = createSystemClock();
  const transport = createRpcTransport({
    address: "pipes",
    clock,
    start(onEnd) {
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      void serveRpc({
        control: harness.control,
        store: harness.store,
        slashCommands: () => harness.slashCommands(),
        clock,
        identityClass: "human",
        directory: workspace.root,
        version: "0.0.0",
        input: stdin,
        write: async (text) => void stdout.write(text),
        onClosed: () => undefined,
        shutdown: async () => undefined,
        log: () => undefined,
        outward: { text: (text) => text, value: (value) => value, log: () => (_kind, payload) => payload },
      }).then(onEnd);
      return { stdin, stdout, errors: () => "", kill: () => stdin.end() };
    },
  });
  return createClient({
    transport,
    clock,
    random: createSystemRandom(),
    reconnect: DEFAULT_RECONNECT,
    signal: new AbortController().signal,
  });
}

function overHttp(socket: string): Promise<Transport> {
  return clientHost().transportTo({ socket, token: "human" }, createSystemClock());
}

/** Reads until the turn has ended, answering what is asked. */
async function untilTurnEnds(session: ClientSession, events: AsyncIterable<Event>): Promise<Event[]> {
  const seen: Event[] = [];
  for await (const event of events) {
    seen.push(event);
    if (event.kind === "PermissionRequested") await session.answer(event.payload.call_id, "allow_once");
    if (event.kind === "TurnEnded") break;
  }
  return seen;
}

describe.each(Object.entries(wires))("%s", (_name, connectTo) => {
  async function connected(rig: HttpRig): Promise<Client> {
    const client = await connectTo(rig);
    onTestFinished(() => client.close());
    return client;
  }

  test("opens, sends, answers, reads; another client sees the same", async () => {
    const rig = await createHttpRig([calls(["fs.write", { path: "a.txt", content: "x" }]), says("Written.")], {
      waitsForHumans: true,
    });
    const client = await connected(rig);
    expect(client.has("queue_input")).toBe(true);
    const session = await client.open({ workingDir: rig.workspace.root });
    const second = await connected(rig);
    const theirs = Array.fromAsync(second.session(session.id).events({ since: 0 }));
    const events = session.events({ since: 0 });
    const { turn } = await session.send("write it");
    const seen = await untilTurnEnds(session, events);
    expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1));
    expect(seen.at(-1)).toMatchObject({ kind: "TurnEnded", payload: { turn, outcome: "answered" } });
    expect(readFileSync(join(rig.workspace.root, "a.txt"), "utf8")).toBe("x");
    const log = await Array.fromAsync(session.log());
    expect(log.slice(0, seen.length)).toEqual(seen);
    const info = await session.info();
    expect(info).toMatchObject({ id: session.id, activity: "idle", working_dir: rig.workspace.root });
    expect((await client.sessions({ limit: 10 })).map(({ id }) => id)).toContain(session.id);
    await session.end();
    const whole = await theirs;
    expect(whole.map(({ id }) => id)).toEqual(whole.map((_, index) => index + 1));
    expect(whole.at(-1)).toMatchObject({ kind: "SessionEnded" });
  });

  test("queues, steers and cancels; refusals keep their reason", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = { type: "message", blocks: [{ type: "text", text: "slow" }], headersAfter: gate.promise } as const;
    const rig = await createHttpRig([slow, says("Go on."), says("Queued.")]);
    const client = await connected(rig);
    const session = client.session(rig.session);
    await expect(session.steer("nobody listens")).rejects.toMatchObject({ reason: "NoTurnRunning" });
    await expect(session.answer(CALL, "deny")).rejects.toMatchObject({ reason: "CallNotFound" });
    await session.cancel();
    const kinds: string[] = [];
    const events = session.events();
    const first = events.next();
    await session.send("a");
    await first;
    await expect(session.send("b")).rejects.toMatchObject({ reason: "TurnInProgress" });
    await session.queue("c");
    await session.steer("d");
    gate.resolve();
    for await (const { kind } of events) {
      kinds.push(kind);
      if (kinds.filter((one) => one === "TurnEnded").length === 2) break;
    }
    expect(kinds).toEqual(expect.arrayContaining(["InputQueued", "TurnSteered", "TurnStarted", "TurnEnded"]));
    await expect(client.resume(UNKNOWN)).rejects.toMatchObject({ reason: "SessionNotFound" });
    await expect(client.resume("sess_1")).rejects.toMatchObject({ reason: "SessionNotFound" });
    expect(() => client.session("")).toThrow(expect.objectContaining({ reason: "SessionNotFound" }));
  });

  test("a loop ends when it is told to, and with the client", async () => {
    const rig = await createHttpRig([]);
    const client = await connected(rig);
    const aborter = new AbortController();
    const told = Array.fromAsync(client.session(rig.session).events({ since: 0, signal: aborter.signal }));
    const withClient = Array.fromAsync(client.session(rig.session).events({ since: 0 }));
    await rig.publish("CustomEvent", { namespace: "test", kind: "one", payload: 1 });
    aborter.abort();
    await told;
    await client.close();
    await withClient;
    await expect(client.sessions()).rejects.toMatchObject({ reason: "Cancelled" });
  });
});

const wiresThatCut = { SSE: "sse", "web sockets": "ws" } as const;

describe.each(Object.entries(wiresThatCut))("cut connections: %s", (_name, wire) => {
  test("nothing is lost and nothing comes twice, wherever the cut is", async () => {
    const rig = await createHttpRig([]);
    // Every connection is cut somewhere else: in a header, in an id, between two frames, in the middle of a letter.
    const proxy = await startCuttingProxy(rig.socketPath, (connection) => {
      return connection === 0 ? undefined : 900 + ((connection * 379) % 5000);
    });
    onTestFinished(() => proxy.close());
    const client = await connect(
      { socket: proxy.socketPath, token: "human", wire },
      { reconnect: { firstDelayMs: 1, maxDelayMs: 5 } },
    );
    onTestFinished(() => client.close());
    const wanted = 400;
    const seen: number[] = [];
    const reading = (async () => {
      for await (const event of client.session(rig.session).events({ since: 0 })) {
        seen.push(event.id);
        if (event.id >= wanted) return;
      }
    })();
    while ((rig.events.at(-1)?.id ?? 0) < wanted) {
      await rig.publish("CustomEvent", { namespace: "test", kind: "n", payload: "größer ".repeat(10) });
    }
    await reading;
    expect(seen).toEqual(Array.from({ length: wanted }, (_, index) => index + 1));
    expect(proxy.cuts).toBeGreaterThan(15);
  });

  test("a reader that does not keep up gets everything in the end", async () => {
    const rig = await createHttpRig([]);
    const client = await connect({ socket: rig.socketPath, token: "human", wire });
    onTestFinished(() => client.close());
    const events = client.session(rig.session).events({ since: 0 });
    await events.next();
    const wanted = 6000;
    const payload = { namespace: "test", kind: "large", payload: "x".repeat(2000) };
    for (let id = 1; id < wanted; ) {
      await Promise.all(Array.from({ length: 500 }, () => rig.publish("CustomEvent", payload)));
      id = rig.events.at(-1)?.id ?? 0;
    }
    let last = 1;
    for await (const { id } of events) {
      expect(id).toBe(last + 1);
      last = id;
      if (id >= wanted) break;
    }
  });
});

describe("commands", () => {
  test("open a session again that nobody has ended, and no other", async () => {
    const rig = await createHttpRig([says("one"), says("two")]);
    const client = await connect({ socket: rig.socketPath, token: "human" });
    onTestFinished(() => client.close());
    const session = await client.open();
    expect(await rig.harness.control.retire(session.id)).toBe(true);
    await session.send("are you there?");
    for await (const { kind } of session.events({ since: 0 })) if (kind === "TurnEnded") break;
    await session.end();
    await expect(session.send("still there?")).rejects.toMatchObject({ reason: "SessionClosed" });
    await client.resume(session.id);
    await session.send("and now?");
  });

  test("are not sent again when the server may have begun with them", async () => {
    const rig = await createHttpRig([says("one"), says("two")]);
    const client = await connect({ socket: rig.socketPath, token: "human" });
    const proxy = await startCuttingProxy(rig.socketPath, () => 1);
    onTestFinished(() => proxy.close());
    const cut = await connect({ socket: rig.socketPath, token: "human" }).then(async () =>
      createClient({
        transport: await overHttp(proxy.socketPath),
        clock: createSystemClock(),
        random: createSystemRandom(),
        reconnect: DEFAULT_RECONNECT,
        signal: new AbortController().signal,
      }).catch((error: unknown) => error),
    );
    expect(cut).toMatchObject({ reason: "ConnectionLost" });
    const raw = await overHttp(proxy.socketPath);
    const content = [{ type: "text" as const, text: "hi" }];
    const never = new AbortController().signal;
    await expect(raw.submit({ kind: "SendInput", session: rig.session, content }, never)).rejects.toMatchObject({
      reason: "ConnectionLost",
    });
    await rig.next("TurnEnded");
    const log = await Array.fromAsync(client.session(rig.session).log());
    expect(log.filter(({ kind }) => kind === "TurnStarted")).toHaveLength(1);
    await client.close();
  });

  test("wait for a server that is not there, for so long as they are told to", async () => {
    const rig = await createHttpRig([]);
    const client = await connect(
      { socket: rig.socketPath, token: "human" },
      { reconnect: { attempts: 2, firstDelayMs: 1, maxDelayMs: 2 } },
    );
    await rig.server.close();
    await expect(client.session(rig.session).send("hi")).rejects.toMatchObject({ reason: "ServerUnreachable" });
    await expect(connect({ socket: rig.socketPath, token: "human" })).rejects.toMatchObject({
      reason: "ServerUnreachable",
    });
  });

  test("a token file holds the token alone or as it was minted; one that is not there stands for a server that is not", async () => {
    const rig = await createHttpRig([]);
    const socket = rig.socketPath;
    const tokenFile = `${socket}.token`;
    for (const text of ["human\n", '{"token":"human"}\n']) {
      writeFileSync(tokenFile, text);
      await (await connect({ socket, tokenFile })).close();
    }
    for (const text of ["", "{", '{"jti":1}', "x".repeat(100_000), "nobody"]) {
      writeFileSync(tokenFile, text);
      for (const wire of ["sse", "ws"] as const) {
        await expect(connect({ socket, tokenFile, wire })).rejects.toMatchObject({ reason: "TokenInvalid" });
      }
    }
    await expect(connect({ socket, tokenFile: `${socket}.none` })).rejects.toMatchObject({
      reason: "ServerUnreachable",
    });
  });
});
