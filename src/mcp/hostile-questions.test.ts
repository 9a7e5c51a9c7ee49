/** Questions that a server must not get answered: out of bounds, hostile, too late, or of nobody's call. */
import { beforeAll, describe, expect, test } from "vitest";
import type { ToolContext } from "#engine";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { openServers, stdioServer } from "../../test/fakes/mcp-world.ts";
import { createScriptedWorld } from "../../test/fakes/scripted-mcp-world.ts";
import { elicit } from "./elicitation.ts";
import { loadSdk } from "./sdk.ts";

// On a clock that stands still nothing may take time of its own.
beforeAll(() => loadSdk());

const text = { type: "string" };
const form = (properties: object, more: object = {}) => ({
  message: "m",
  requestedSchema: { type: "object", properties, ...more },
});

/** What the person was asked, and what the server gets. */
async function ask(params: Record<string, unknown>, ...answers: (string | undefined)[]) {
  const questions: string[] = [];
  const asker = {
    ask: async (question: string) => {
      questions.push(question);
      return answers[questions.length - 1];
    },
  };
  const signal = new AbortController().signal;
  const reply = await elicit("s", { method: "elicitation/create", params }, asker, signal);
  return { questions, reply };
}

describe("a form", () => {
  test.each([
    ["no schema", { message: "m" }],
    ["no fields", form({})],
    ["too many fields", form(Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`f${at}`, text])))],
    ["an object inside", form({ a: { type: "object", properties: {} } })],
    ["a list of texts", form({ a: { type: "array", items: text } })],
    ["a reference", form({ a: { $ref: "#" } })],
    ["too many choices", form({ a: { ...text, enum: Array.from({ length: 101 }, (_, at) => `${at}`) } })],
    ["hidden characters in a name", form({ "a\u202eb": text })],
    ["hidden characters in a choice", form({ a: { ...text, enum: ["x\u200b"] } })],
    ["a format that nobody knows", form({ a: { ...text, format: "regex" } })],
    ["no message", { requestedSchema: form({ a: text }).requestedSchema }],
    ["another mode", { ...form({ a: text }), mode: "popup" }],
    ["an address that is a script", { message: "m", mode: "url", url: "javascript:alert(1)" }],
    ["an address of a file", { message: "m", mode: "url", url: "file:///etc/passwd" }],
  ])("with %s is refused, and nobody is asked", async (_what, params) => {
    const { questions, reply } = await ask(params, "{}");
    expect(questions).toEqual([]);
    expect(reply).toHaveProperty("refused");
  });

  test("shows what it says without control characters, and no more than a screen takes", async () => {
    const { questions } = await ask({ ...form({ a: text }), message: `\u001b[2J${"x".repeat(100_000)}` });
    expect(questions[0]).not.toContain("\u001b");
    expect(questions[0]?.length).toBeLessThan(6_000);
  });

  test("that wants a secret carries a warning", async () => {
    for (const name of ["password", "api_key", "access token", "PIN"]) {
      expect((await ask(form({ [name]: text }))).questions[0]).toContain(`WARNING: ${name} looks like a secret`);
    }
  });

  test("gets only values that fit, and gives up after three that do not", async () => {
    const fields = {
      n: { type: "integer", minimum: 1, maximum: 3 },
      on: { type: "boolean" },
      mail: { ...text, format: "email" },
    };
    const wrong = ['{"n":7}', '{"mail":"x"}', '{"on":"maybe"}'];
    expect(await ask(form(fields), ...wrong)).toMatchObject({
      questions: { length: 3 },
      reply: { result: { action: "cancel" } },
    });
    const right = await ask(form(fields, { required: ["n"] }), '{"on":true}', '{"n":"2","mail":"a@b"}');
    expect(right.questions[1]).toMatch(/^That does not fit. n is required./);
    expect(right.reply).toEqual({ result: { action: "accept", content: { n: 2, mail: "a@b" } } });
  });

  test("an address is shown whole and accepted only by the word for it", async () => {
    const url = `https://example.com/${"x".repeat(1_000)}?a=1`;
    const params = { message: "m", mode: "url", url };
    const { questions, reply } = await ask(params, "I have opened it");
    expect(questions[0]).toContain(url);
    expect(reply).toEqual({ result: { action: "accept" } });
    expect((await ask(params, "yes")).reply).toEqual({ result: { action: "decline" } });
  });
});

describe("a server of the older era", () => {
  function rig() {
    const clock = createManualClock();
    const world = createScriptedWorld(clock);
    const replies = new Map<number, Record<string, unknown>>();
    const servers = openServers([stdioServer("s", [], { toolTimeoutMs: 5_000 })], {
      clock,
      world: {
        ...world,
        async start(...args) {
          const process = await world.start(...args);
          return {
            ...process,
            write(line) {
              const message = JSON.parse(line) as { id: number; method?: string };
              if (message.method === undefined) replies.set(message.id, message);
              else process.write(line);
            },
          };
        },
      },
    });
    const elicits = (id: number) =>
      world.running[0]?.send({ id, method: "elicitation/create", params: { mode: "form", ...form({ a: text }) } });
    return { clock, world, servers, replies, elicits };
  }
  const forever = () => undefined;
  const refused = (message: string) => ({ error: { message: expect.stringContaining(message) } });

  test("may ask only while one call is under way", async () => {
    const { world, servers, replies, elicits } = rig();
    await servers.ready();
    elicits(1);
    await expect.poll(() => replies.get(1)).toMatchObject(refused("only while a request"));
    world.answer = forever;
    const stop = new AbortController();
    const running = [0, 1].map(() => servers.run("mcp.s.one", {}, { signal: stop.signal, ask: async () => "x" }));
    for (const call of running) call.catch(() => undefined);
    await expect
      .poll(() => {
        elicits(2);
        return replies.get(2);
      })
      .toMatchObject(refused("several requests"));
    stop.abort();
    await Promise.allSettled(running);
    elicits(3);
    await expect.poll(() => replies.get(3)).toMatchObject(refused("only while a request"));
    await servers.close();
  });

  test("is answered ten times during a call, and the time of people does not count", async () => {
    const { clock, world, servers, replies, elicits } = rig();
    await servers.ready();
    world.answer = forever;
    const waiting: ((answer: string) => void)[] = [];
    const ask = () => new Promise<string>((resolve) => waiting.push(resolve));
    const call = servers.run("mcp.s.one", {}, { ask });
    const failed = expect(call).rejects.toMatchObject({ reason: "ToolTimeout" });
    for (let id = 1; id <= 12; id++) elicits(id);
    await expect.poll(() => replies.get(12)).toMatchObject(refused("more than 10 questions"));
    expect(waiting).toHaveLength(1);
    await clock.advance(60_000);
    for (let at = 0; at < 10; at++) {
      await expect.poll(() => waiting.length).toBe(at + 1);
      waiting[at]?.("filled");
    }
    await expect.poll(() => replies.get(10)).toMatchObject({ result: { action: "accept", content: { a: "filled" } } });
    await clock.advance(5_000);
    await failed;
    await servers.close();
  });

  test("has its question withdrawn when its call ends without waiting for the answer", async () => {
    const { world, servers, elicits } = rig();
    await servers.ready();
    const withdrawn = Promise.withResolvers<void>();
    world.answer = () => {
      elicits(1);
      return { content: [] };
    };
    const ask = (...[, , details]: Parameters<ToolContext["ask"]>) =>
      new Promise<undefined>((resolve) => {
        details?.signal?.addEventListener("abort", () => {
          withdrawn.resolve();
          resolve(undefined);
        });
      });
    await servers.run("mcp.s.one", {}, { ask });
    await withdrawn.promise;
    await servers.close();
  });

  test("has its question withdrawn with its call", async () => {
    const { world, servers, elicits } = rig();
    await servers.ready();
    let answer: (() => void) | undefined;
    world.answer = forever;
    const withdrawn = Promise.withResolvers<void>();
    const stop = new AbortController();
    const call = servers.run(
      "mcp.s.one",
      {},
      {
        signal: stop.signal,
        ask: (_question, _options, details) =>
          new Promise((resolve) => {
            answer = () => resolve(undefined);
            details?.signal?.addEventListener("abort", () => {
              withdrawn.resolve();
              resolve(undefined);
            });
          }),
      },
    );
    call.catch(() => undefined);
    await expect
      .poll(() => {
        elicits(1);
        return answer;
      })
      .toBeDefined();
    stop.abort();
    await withdrawn.promise;
    await expect(call).rejects.toThrow("cancelled");
    await servers.close();
  });
});
