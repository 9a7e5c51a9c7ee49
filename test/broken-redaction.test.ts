/** Redaction that is missing or broken: no model is asked, nothing raw is stored or told, the turn ends with a typed error. */

import { describe, expect, test } from "vitest";
import { defaultSettings } from "#artifacts";
import { defined } from "#base";
import type { Redaction } from "#engine";
import { createHeldKeys } from "#providers";
import { createSystemClock } from "#world";
import { loadRedaction } from "../src/program/redaction.ts";
import { type Breakage, type BreakingPart, brokenRedaction } from "./fakes/broken-redaction.ts";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import { startMockProvider } from "./fakes/mock-provider-server.ts";

const SECRET = "ghp_Zt7Qm2Lx9Wc4Rv8Ks1Bn6Hd3Fy5Gp0JtVaEu";
/** The redaction under test is the first to fail, so the key of the vendor need not be a secret. */
const env = {};
/** Asks for a file with a secret in it, then answers. */
const replies = [
  calls(["fs.read", { path: "notes.txt" }]),
  says(`It says ${SECRET}, I think.`),
  says("A third answer."),
];

async function openRig(breakage: Breakage): Promise<HarnessRig> {
  return createHarnessRig(replies, {
    redaction: () => brokenRedaction(env, breakage),
    prepare: (workspace) => void workspace.put("notes.txt", `token: ${SECRET}\n`),
  });
}

/** Everything that was told, stored and sent; the store is in memory and holds what was told. */
function exits({ events, vendor }: HarnessRig): string {
  return JSON.stringify([events, vendor.requests.map(({ body }) => body)]);
}

test("the healthy one gives both answers and tells no secret", async () => {
  const rig = await openRig({ breaks: () => false });
  expect(await rig.send(`use ${SECRET}`)).toMatchObject({ outcome: "answered", steps: 2 });
  expect(exits(rig)).not.toContain(SECRET);
  expect(exits(rig)).toContain("«redacted:");
});

describe("where it cannot be had there is no session", () => {
  const loaders: Readonly<Record<string, () => Promise<Redaction>>> = {
    "it rejects": () => Promise.reject(new Error(`bad ${SECRET}`)),
    "it throws": () => {
      throw new Error(`bad ${SECRET}`);
    },
    "it is nothing": async () => undefined as never,
    "it is something else": async () => ({ payload: 1 }) as never,
  };
  test.each(Object.keys(loaders))("%s", async (name) => {
    const vendor = await startMockProvider({ always: says("hello") });
    try {
      const opened = createHarnessRig([], {
        redaction: loaders[name]!,
        env: { OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: `${vendor.url}/v1` },
      });
      const error = await opened.then(() => undefined).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason: "RedactionFailed" });
      expect(String(error)).not.toContain(SECRET);
      expect(vendor.requests).toEqual([]);
    } finally {
      await vendor.close();
    }
  });
});

describe("one that breaks ends the turn, and no model is asked after it", () => {
  /** Which part breaks, at which of its calls, and how many requests had gone out by then. */
  const places: readonly (readonly [BreakingPart, number, number])[] = [
    ["request", 1, 0],
    ["request", 2, 1],
    ["output", 1, 1],
    ["stream", 1, 2],
    ["push", 1, 2],
    ["flush", 1, 2],
  ];
  const ways: readonly (readonly [string, Breakage["garbage"]])[] = [
    ["throws", undefined],
    ["gives undefined", { value: undefined }],
    ["gives a number", { value: 7 }],
    ["gives an empty object", { value: {} }],
    ["gives null", { value: null }],
  ];
  const cases = places.flatMap(([part, at, sent]) =>
    ways.map(([how, garbage]) => [part, at, how, sent, garbage] as const),
  );
  test.each(cases)("%s, call %i, %s", async (part, at, _how, sent, garbage) => {
    const breaks = (asked: BreakingPart, call: number): boolean => asked === part && call === at;
    const rig = await openRig({ breaks, ...defined({ garbage }) });
    const summary = await rig.send(`use ${SECRET}`);
    expect(summary).toMatchObject({ outcome: "error", reason: "RedactionFailed" });
    expect(rig.vendor.requests).toHaveLength(sent);
    expect(rig.of("TurnEnded")).toHaveLength(1);
    expect(JSON.stringify(summary) + exits(rig)).not.toContain(SECRET);
  });

  test("every event of a turn in its place: none is told raw, and the turn is over", async () => {
    const healthy = await openRig({ breaks: () => false });
    await healthy.send(`use ${SECRET}`);
    // Text passes as a stream, everything else as a payload.
    const payloads = healthy.events.length - healthy.of("TextDelta").length;
    for (let at = 2; at <= payloads; at++) {
      let sentBefore: number | undefined;
      const rig: HarnessRig = await openRig({
        breaks: (part, call) => part === "payload" && call === at,
        onBreak: () => {
          sentBefore = rig.vendor.requests.length;
        },
      });
      const ended = await rig.send(`use ${SECRET}`).catch((error: unknown) => error);
      expect(ended).toMatchObject({ reason: "RedactionFailed" });
      expect(rig.vendor.requests).toHaveLength(sentBefore ?? -1);
      expect(exits(rig)).not.toContain(SECRET);
      // The next turn begins: nothing hangs, nothing is left running.
      expect(await rig.send("again")).toMatchObject({ steps: expect.any(Number) });
    }
  });

  test("one that never works tells and asks nothing", async () => {
    let isBroken = false;
    const rig = await openRig({ breaks: () => isBroken });
    isBroken = true;
    const before = rig.events.length;
    await expect(rig.send(`use ${SECRET}`)).rejects.toMatchObject({ reason: "RedactionFailed" });
    expect(rig.vendor.requests).toEqual([]);
    expect(rig.events).toHaveLength(before);
    // Nothing of the session is left behind when its end cannot be told either.
    await expect(rig.harness.shutdown()).rejects.toMatchObject({ reason: "RedactionFailed" });
    expect(rig.harness.control.session(rig.session)).toBeUndefined();
  });
});

test("one that fails once in 50 calls lets nothing out, turn after turn", async () => {
  const TURNS = 40;
  let count = 0;
  let sentAtFailure: number | undefined;
  const script = Array.from({ length: TURNS }, () => replies.slice(0, 2)).flat();
  const rig: HarnessRig = await createHarnessRig(script, {
    redaction: () =>
      brokenRedaction(env, {
        breaks: () => ++count > 50 && count % 50 === 0,
        onBreak: () => {
          sentAtFailure ??= rig.vendor.requests.length;
        },
      }),
    prepare: (workspace) => void workspace.put("notes.txt", `token: ${SECRET}\n`),
  });
  let failed = 0;
  for (let turn = 0; turn < TURNS; turn++) {
    sentAtFailure = undefined;
    const ended = await rig.send(`use ${SECRET}`).catch((error: unknown) => error as { reason?: string });
    if (sentAtFailure === undefined) continue;
    failed += 1;
    expect(ended.reason).toBe("RedactionFailed");
    expect(rig.vendor.requests).toHaveLength(sentAtFailure);
  }
  expect(failed).toBeGreaterThan(5);
  expect(exits(rig)).not.toContain(SECRET);
});

test("a healthy session works after a broken one", async () => {
  let isBroken = true;
  const rig = await createHarnessRig([says("one"), says("two")], {
    redaction: async () => {
      const [broken, healthy] = await Promise.all([
        brokenRedaction(env, { breaks: (part) => part === "request" && isBroken }),
        loadRedaction({ settings: defaultSettings, env, clock: createSystemClock(), credentials: createHeldKeys(env) }),
      ]);
      return { ...healthy, request: (request) => (isBroken ? broken : healthy).request(request) };
    },
  });
  expect(await rig.send()).toMatchObject({ reason: "RedactionFailed" });
  isBroken = false;
  const { session } = await rig.client.submit({ kind: "CreateSession" });
  if (session === undefined) throw new Error("no session");
  const { done } = await rig.client.submit({ kind: "SendInput", session, content: [{ type: "text", text: "hi" }] });
  expect(await done).toMatchObject({ outcome: "answered" });
});
