import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { defaultSettings, type Settings } from "#artifacts";
import { callModel, testPorts, userRequest } from "../../test/fakes/call-model.ts";
import { createFakeProvider, says, text } from "../../test/fakes/fake-provider.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { type MockProviderServer, startMockProvider } from "../../test/fakes/mock-provider-server.ts";
import { chooseModel, type ModelChoiceOptions } from "./model-choice.ts";
import { createLimiters } from "./rate-limit.ts";

let mock: MockProviderServer;
beforeAll(async () => {
  mock = await startMockProvider();
});
afterAll(() => mock.close());

const ok = { type: "message", blocks: [{ type: "text", text: "ok" }] } as const;
const broken = { type: "http", status: 400, body: '{"error":{"message":"no"}}' } as const;

function choose(change: Partial<ModelChoiceOptions> & { models?: Settings["models"] } = {}) {
  const { models = [], ...options } = change;
  return chooseModel({
    settings: { ...defaultSettings, models },
    offlineAllowed: true,
    extraProviders: [],
    scenarioFile: (name) => join(import.meta.dirname, `../../scenarios/${name}.yaml`),
    ports: testPorts(),
    ...options,
  });
}

const first = () => ({ model: "openai:first", baseUrl: `${mock.url}/v1`, retry: { maxRetries: 0 } });
const second = () => ({ model: "anthropic:second", baseUrl: mock.url, retry: { maxRetries: 0 } });

describe("which model", () => {
  test("a name beats the list, the list beats the keys, and without any the offline model plays", async () => {
    const named = await choose({ named: "ollama:x", models: [first()] });
    expect(named).toMatchObject({ model: "ollama:x", offline: false, fallbacks: [] });
    const listed = await choose({ models: [first(), second()] });
    expect(listed).toMatchObject({ model: "openai:first", fallbacks: ["anthropic:second"] });
    const ports = testPorts({});
    expect(await choose({ ports })).toMatchObject({ model: "scripted:offline", offline: true });
    await expect(choose({ ports, offlineAllowed: false })).rejects.toMatchObject({ reason: "ModelNotConfigured" });
  });

  test("from a scripted model another one can be chosen, and its missing key is named", async () => {
    const { resolve } = await choose({ named: "scripted:offline", ports: testPorts({ OPENAI_API_KEY: "k" }) });
    expect(await resolve("openai:gpt-4o")).toBe("openai:gpt-4o");
    await expect(resolve("zai:glm-5.3")).rejects.toMatchObject({ reason: "MissingCredential" });
  });

  test("a scripted model of the list is retried as its settings say", async () => {
    const file = join(tmpdir(), `harness-retries-${process.pid}.yaml`);
    writeFileSync(file, "name: x\nrules: []\notherwise: [{ fault: cut }]\n");
    onTestFinished(() => rmSync(file));
    const models = [{ model: "scripted:x", retry: { maxRetries: 0 } }];
    const { provider } = await choose({ models, scenarioFile: () => file });
    const { events, outcome } = await callModel(provider, userRequest("scripted:x"));
    expect([events, outcome]).toMatchObject([[], { reason: "ProviderStreamCut" }]);
  });

  test("a bare name stands for the model of the list that has it", async () => {
    expect(await choose({ named: "second", models: [first(), second()] })).toMatchObject({ model: "anthropic:second" });
  });

  test("a plugin's provider is found by its name, which must not be a built-in one", async () => {
    const own = createFakeProvider([says(text("mine"))]);
    const { provider, model } = await choose({ named: "fake:one", extraProviders: [own] });
    expect(model).toBe("fake:one");
    expect((await callModel(provider, userRequest("fake:one"))).outcome).toMatchObject({ type: "done" });
    for (const name of ["openai", "scripted"]) {
      const taken = choose({ extraProviders: [{ ...own, name }] });
      await expect(taken).rejects.toMatchObject({ reason: "ConfigInvalid" });
    }
  });
});

describe("the fallback chain", () => {
  test("tells why the first model failed and which one answers", async () => {
    const { provider } = await choose({ models: [first(), second()] });
    mock.reply(broken, ok);
    const { events, outcome } = await callModel(provider, userRequest("openai:first"));
    expect(events.slice(0, 2)).toMatchObject([
      { type: "retrying", reason: "ProviderRefused", retryAfterMs: 0 },
      { type: "model_changed", model: "anthropic:second", previous: "openai:first" },
    ]);
    expect(outcome).toMatchObject({ type: "done", model: "anthropic:second" });
  });

  test("passes over a model without its key and keeps the real failure", async () => {
    const ports = testPorts({ OPENAI_API_KEY: "k" });
    const { provider } = await choose({ models: [first(), second()], ports });
    mock.reply(broken);
    const { events, outcome } = await callModel(provider, userRequest("openai:first"));
    expect({ events, outcome }).toMatchObject({ events: [], outcome: { type: "failed", reason: "ProviderRefused" } });
  });

  test("may end in a scenario, and faults of a scenario are tried again", async () => {
    const file = join(tmpdir(), `harness-choice-${process.pid}.yaml`);
    writeFileSync(file, "name: x\nrules: []\notherwise: [{fault: unavailable, times: 1}, {text: after}]\n");
    const clock = createManualClock();
    const ports = { ...testPorts(), clock };
    const model = "scripted:x";
    const { provider } = await choose({ models: [first(), { model }], ports, scenarioFile: () => file });
    mock.reply(broken);
    let answered = false;
    const answer = callModel(provider, userRequest("openai:first")).finally(() => {
      answered = true;
    });
    for (let waited = 0; !answered && waited < 1000; waited++) await clock.advance(100);
    expect((await answer).outcome).toMatchObject({ type: "done", model });
  });
});

describe.each(["global", "models"] as const)("the %s rate limit", (which) => {
  const limit = { requestsPerMinute: 1 };
  const rateLimits = which === "global" ? { global: limit, models: {} } : { models: { "openai:first": limit } };
  const limited = (models: Settings["models"]): Settings => ({
    ...defaultSettings,
    models,
    rateLimits: { ...rateLimits, tools: [] },
  });

  test.each([
    ["of the same choice", false],
    ["of another choice in the same program", true],
  ])("holds a second request back, %s", async (_of, isOther) => {
    const clock = createManualClock();
    const ports = { ...testPorts(), clock, limiterFor: createLimiters({ clock }) };
    const { provider } = await choose({ settings: limited([first()]), ports });
    const other = isOther ? (await choose({ settings: limited([first(), second()]), ports })).provider : provider;
    mock.reply(ok, ok);
    await callModel(provider, userRequest("openai:first"));
    const before = mock.requests.length;
    const waiting = callModel(other, userRequest("openai:first"));
    while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(mock.requests).toHaveLength(before);
    await clock.advance(60_000);
    const { events, outcome } = await waiting;
    expect(events[0]).toMatchObject({ type: "retrying", reason: "RateLimited" });
    expect(outcome).toMatchObject({ type: "done" });
  });
});
