import { describe, expect, test } from "vitest";
import type { Control } from "#control";
import type { SessionMeta } from "#engine";
import { ClientId, type Command, type Event, ReasonError, SessionId, TurnId } from "#protocol";
import { createManualClock } from "../../../test/fakes/manual-clock.ts";
import { createOpenThreads } from "./open-threads.ts";
import { IN_FLIGHT_MAX, serveRpc } from "./server.ts";

const session = SessionId.from("0".repeat(26));
const turn = TurnId.from("1".repeat(26));

const meta = (id: SessionId): SessionMeta => ({
  id,
  workingDir: "/w",
  profile: "default",
  model: "m",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  title: "",
  state: "active",
  pinned: false,
  lastEventId: 1,
});

/** A control that answers every command with what it is told to; `emit` is an event from it. */
function fakeControl(reply: (command: Command) => Promise<object>) {
  let emit: (event: Event) => void = () => undefined;
  const submitted: Command[] = [];
  // The transport asks for no more of a session than whether it is there, and what runs in it.
  const control = {
    connect({ onEvent }: { onEvent: (event: Event) => void }) {
      emit = onEvent;
      const submit = (command: Command) => {
        submitted.push(command);
        return reply(command);
      };
      return { id: ClientId.from("0".repeat(26)), submit, disconnect: () => undefined };
    },
    session: () => ({ running: undefined, model: "m" }),
    shutdown: async () => undefined,
  } as unknown as Control;
  return { control, submitted, emit: (event: Event) => emit(event) };
}

function input() {
  const chunks: Uint8Array[] = [];
  let wake = (): void => undefined;
  let pulled = 0;
  let ended = false;
  return {
    push(value: object): void {
      chunks.push(Buffer.from(`${JSON.stringify(value)}\n`));
      wake();
    },
    end(): void {
      ended = true;
      wake();
    },
    pulled: () => pulled,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const chunk = chunks.shift();
        if (chunk !== undefined) {
          pulled += 1;
          yield chunk;
        } else if (ended) return;
        else {
          await new Promise<void>((resume) => {
            wake = resume;
          });
        }
      }
    },
  };
}

function rig(reply: (command: Command) => Promise<object>, write?: (text: string) => Promise<void>) {
  const fake = fakeControl(reply);
  const stdin = input();
  const clock = createManualClock();
  const logged: string[] = [];
  let out = "";
  let shutdowns = 0;
  const done = serveRpc({
    control: fake.control,
    slashCommands: () => [],
    store: {
      get: async (id) => meta(id),
      list: async () => [],
      read: async () => [],
      update: async () => undefined,
    },
    clock,
    identityClass: "human",
    directory: "/w",
    version: "0",
    input: stdin,
    write:
      write ??
      (async (text) => {
        out += text;
      }),
    onClosed: () => stdin.end(),
    shutdown: async () => {
      shutdowns += 1;
    },
    log: (line) => logged.push(line),
    outward: {
      value: (value) => value,
      text: (text) => text.replaceAll("hunter2", "«redacted»"),
      log: () => (_kind, payload) => payload,
    },
    outboxMaxBytes: 1000,
  });
  const said = () =>
    out
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  const request = (id: number, method: string, params = {}) => stdin.push({ jsonrpc: "2.0", id, method, params });
  return { ...fake, stdin, clock, logged, done, said, request, shutdowns: () => shutdowns };
}

const settle = () => new Promise((resume) => setTimeout(resume, 0));

describe("rpc server", () => {
  test("a client that asks and never reads is read no further than the bound", async () => {
    const { stdin, request } = rig(
      async () => ({}),
      () => new Promise(() => undefined),
    );
    request(0, "initialize");
    for (let id = 1; id <= 10_000; id++) request(id, "thread.list");
    await settle();
    await settle();
    expect(stdin.pulled()).toBeLessThan(IN_FLIGHT_MAX * 3);
    // The bound on the answers that wait for the reader is what stopped it, not the end of the requests.
    expect(stdin.pulled()).toBeGreaterThan(IN_FLIGHT_MAX);
  });

  test("the end of input is noticed while the reader does not read, and does not wait for it for ever", async () => {
    const { stdin, request, done, clock, shutdowns } = rig(
      async () => ({}),
      () => new Promise(() => undefined),
    );
    request(0, "initialize");
    for (let id = 1; id <= 20; id++) request(id, "thread.list");
    await settle();
    stdin.end();
    await settle();
    await clock.advance(10_000);
    await done;
    expect(shutdowns()).toBe(1);
  });

  test("a turn whose log fails is told as an error, for no event can tell it", async () => {
    const { request, stdin, done, said, emit } = rig(async ({ kind }) => (kind === "SendInput" ? { turn } : {}));
    request(1, "initialize");
    request(2, "turn.start", { threadId: session, input: [{ type: "text", text: "x" }] });
    await settle();
    const ts = "2026-01-01T00:00:00.000Z";
    emit({ id: 1, kind: "TurnLost", session, ts, payload: { turn, reason: "StoreFailed", message: "disk full" } });
    stdin.end();
    await done;
    expect(said().slice(1)).toMatchObject([
      { id: 2, result: { turnId: turn } },
      { method: "turn.error", params: { turn: { turnId: turn, status: "error" }, error: { reason: "StoreFailed" } } },
    ]);
  });

  test("what fails in here is an internal error without its details, which go to the log", async () => {
    const { request, stdin, done, said, logged } = rig(async () => {
      throw new Error("a secret detail");
    });
    request(1, "initialize");
    request(2, "thread.create");
    stdin.end();
    await done;
    expect(said()[1]).toMatchObject({ id: 2, error: { code: -32603, message: "Harness itself failed." } });
    expect(logged.join()).toContain("a secret detail");
  });

  test("no secret leaves with the message of an error or in the log", async () => {
    const { request, stdin, done, said, logged } = rig(async ({ kind }) => {
      if (kind === "CreateSession") throw new ReasonError("ConfigInvalid", { detail: "hunter2 is wrong" });
      throw new Error("hunter2");
    });
    request(1, "initialize");
    request(2, "thread.create");
    request(3, "command.submit", { command: { kind: "ListRules", session } });
    stdin.end();
    await done;
    expect(said().slice(1)).toMatchObject([
      { id: 2, error: { message: "«redacted» is wrong" } },
      { id: 3, error: { message: "Harness itself failed." } },
    ]);
    expect(logged.join()).toMatch(/«redacted»/);
    expect(logged.join()).not.toMatch(/hunter2/);
  });

  test("an event that cannot be told is a gap", async () => {
    const { stdin, done, said, emit } = rig(async () => ({}));
    await settle();
    const broken = { id: 7, kind: "TurnStarted", session, ts: "2026-01-01T00:00:00.000Z" };
    emit(broken as unknown as Event);
    stdin.end();
    await done;
    expect(said()).toEqual([
      { jsonrpc: "2.0", method: "stream.gap", params: { threadId: session, from: 7, to: 7, reason: "failed" } },
    ]);
  });

  test("requests for one thread are carried out in their order, those for others do not wait", async () => {
    const gate = Promise.withResolvers<void>();
    const other = SessionId.from("9".repeat(26));
    const { request, stdin, done, submitted } = rig(async (command) => {
      if (command.kind === "SetContext" && command.session === session) await gate.promise;
      return {};
    });
    const command = (id: number, kind: string, on: SessionId) =>
      request(id, "command.submit", { command: { kind, session: on, values: {} } });
    request(1, "initialize");
    command(2, "SetContext", session);
    command(3, "ListRules", session);
    command(4, "ListRules", other);
    await settle();
    const sent = () => submitted.map((sub) => `${sub.kind} ${"session" in sub && sub.session === other ? "b" : "a"}`);
    expect(sent()).toEqual(["SetContext a", "ListRules b"]);
    gate.resolve();
    stdin.end();
    await done;
    expect(sent()).toEqual(["SetContext a", "ListRules b", "ListRules a"]);
  });
});

test("a command without words of its own here is a method by its row", async () => {
  const rules = [{ effect: "allow", rule: "fs.read", source: "built-in" }];
  const { request, stdin, done, submitted, said } = rig(async () => ({ result: rules, done: Promise.resolve() }));
  request(1, "initialize");
  request(2, "rule.list", { session });
  request(3, "model.set", { session, model: "" });
  request(4, "turn.queue", { content: [] });
  stdin.end();
  await done;
  expect(submitted).toEqual([{ kind: "ListRules", session }]);
  expect(said().toSorted((a, b) => Number(a.id) - Number(b.id))).toMatchObject([
    { id: 1 },
    { id: 2, result: { ok: true, result: rules } },
    { id: 3, error: { data: { reason: "InvalidCommand" } } },
    { id: 4, error: { data: { reason: "InvalidCommand" } } },
  ]);
});

test("threads beyond the bound: the one used longest ago is closed", async () => {
  let count = 0;
  const ended: string[] = [];
  const { control } = fakeControl(async (command) => {
    if (command.kind === "EndSession") ended.push(command.session);
    return command.kind === "CreateSession" ? { session: SessionId.from(String(count++).repeat(26)) } : {};
  });
  const client = control.connect({ identityClass: "human", interactive: true });
  const store = {
    get: async (id: SessionId) => meta(id),
    list: async () => [],
    read: async () => [],
    update: async () => undefined,
  };
  const threads = createOpenThreads({ control, client, store, max: 2 });
  const first = await threads.create("/w");
  const second = await threads.create("/w");
  await threads.open(first);
  await threads.create("/w");
  expect(ended).toEqual([second]);
});
