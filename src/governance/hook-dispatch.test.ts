/** How hooks are asked and what comes out, with hooks of the test's own. */
import { describe, expect, test } from "vitest";
import type { WebPort } from "#base";
import type { Hook, HookCall, HookDecision, HookPoint } from "#engine";
import { type EventPayload, SessionId, TurnId } from "#protocol";
import { createTemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createHookDispatcher } from "./hook-dispatch.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const at: HookPoint = {
  session: SessionId.from(ULID),
  turn: TurnId.from(ULID),
  depth: 0,
  nesting: 0,
  signal: new AbortController().signal,
};
const ALLOW: HookDecision = { action: "allow" };

function hook(
  name: string,
  answer: (call: HookCall) => HookDecision | Promise<HookDecision>,
  change: Partial<Hook> = {},
): Hook {
  return {
    name,
    event: "tool.pre",
    source: `${name}.md:2`,
    tier: "project",
    priority: 0,
    onError: "block",
    matches: () => true,
    handle: answer,
    ...change,
  };
}

function dispatcher(...hooks: Hook[]) {
  const records: { kind: string; payload: unknown }[] = [];
  const sent: string[] = [];
  const broken = { record: false };
  async function record(kind: string, payload: unknown): Promise<void> {
    if (broken.record) throw new Error("the disk is full");
    records.push({ kind, payload });
  }
  const web: WebPort = {
    async get({ url }) {
      sent.push(`${url} after ${records.map(({ kind }) => kind).join(" ")}`);
      return { status: 200, url, contentType: "", headers: {}, body: new Uint8Array(), truncated: false };
    },
    post: (request, signal) => web.get(request, signal),
  };
  const dispatch = createHookDispatcher({
    source: { hooks: (event) => hooks.filter((one) => one.event === event) },
    bus: { publish: record, publishSoon: record },
    ports: createTemporaryWorkspace(web).ports,
    monotonicMs: () => 0,
  });
  // Every record of these tests is of this kind unless it is asked for another.
  const asked = () =>
    records.filter(({ kind }) => kind === "HooksAsked").map((r) => r.payload as EventPayload<"HooksAsked">);
  return { dispatch, records, asked, sent, broken };
}

describe("composing", () => {
  test("nobody listens: idle, nothing changed, nothing recorded", async () => {
    const { dispatch, records } = dispatcher(hook("other", () => ALLOW, { event: "tool.post" }));
    expect(dispatch.idle("tool.pre")).toBe(true);
    const payload = { name: "x" };
    expect(await dispatch.dispatch("tool.pre", payload, at)).toEqual({ blocked: false, payload, attributes: {} });
    expect(records).toEqual([]);
  });

  test("the first block wins and the later hooks are not asked", async () => {
    let laterAsked = false;
    const { dispatch, asked } = dispatcher(
      hook("audit", () => ALLOW),
      hook("guard", () => ({ action: "block", reason: "no" })),
      hook("later", () => {
        laterAsked = true;
        return ALLOW;
      }),
    );
    const verdict = await dispatch.dispatch("tool.pre", {}, at);
    expect(verdict).toEqual({ blocked: true, reason: "no", hook: "guard", source: "guard.md:2" });
    expect(laterAsked).toBe(false);
    expect(asked()[0]).toMatchObject({
      event: "tool.pre",
      blocked: true,
      decisions: [
        { hook: "audit", source: "audit.md:2", action: "allow" },
        { hook: "guard", action: "block", reason: "no" },
      ],
    });
  });

  test("a modify is what the next one sees, and what comes out", async () => {
    const seen: unknown[] = [];
    const { dispatch } = dispatcher(
      hook("first", () => ({ action: "modify", payload: { n: 2 } })),
      hook("second", ({ payload }) => {
        seen.push(payload);
        return ALLOW;
      }),
    );
    expect(await dispatch.dispatch("tool.pre", { n: 1 }, at)).toMatchObject({ blocked: false, payload: { n: 2 } });
    expect(seen).toEqual([{ n: 2 }]);
  });

  test("one that does not match is neither asked nor recorded", async () => {
    const { dispatch, records } = dispatcher(
      hook("quiet", () => ({ action: "block", reason: "never" }), { matches: () => false }),
    );
    expect(await dispatch.dispatch("tool.pre", {}, at)).toMatchObject({ blocked: false });
    expect(records).toEqual([]);
  });

  test("attributes are gathered", async () => {
    const { dispatch, asked } = dispatcher(
      hook("a", (call) => {
        call.annotate({ "risk.level": "low", n: 1 });
        return ALLOW;
      }),
    );
    expect(await dispatch.dispatch("tool.pre", {}, at)).toMatchObject({ attributes: { "risk.level": "low", n: 1 } });
    expect(asked()[0]?.attrs).toEqual({ "risk.level": "low", n: 1 });
  });
});

describe("a guard that cannot do its work", () => {
  const broken: readonly [string, Partial<Hook>][] = [
    [
      "raises",
      {
        handle: () => {
          throw new Error("odd argument");
        },
      },
    ],
    ["rejects", { handle: () => Promise.reject(new Error("too late")) }],
    [
      "has a when: that raises",
      {
        matches: () => {
          throw new Error("no such key");
        },
      },
    ],
  ];

  test.each(broken)("blocks when it %s", async (_how, change) => {
    const { dispatch, asked } = dispatcher(hook("guard", () => ALLOW, change));
    const verdict = await dispatch.dispatch("tool.pre", {}, at);
    expect(verdict).toMatchObject({ blocked: true, hook: "guard" });
    expect(asked()[0]).toMatchObject({ blocked: true, decisions: [{ action: "failed" }] });
  });

  test.each(broken)("only warns when it %s and says on_error: allow", async (_how, change) => {
    const { dispatch, records } = dispatcher(hook("guard", () => ALLOW, { ...change, onError: "allow" }));
    expect(await dispatch.dispatch("tool.pre", {}, at)).toMatchObject({ blocked: false });
    expect(records.map(({ kind }) => kind)).toEqual(["HookError", "HooksAsked"]);
  });
});

test("the ports of a hook close when it has answered", async () => {
  let kept: HookCall["ports"] | undefined;
  const { dispatch } = dispatcher(
    hook("greedy", (call) => {
      kept = call.ports;
      return ALLOW;
    }),
  );
  await dispatch.dispatch("tool.pre", {}, at);
  await expect(kept?.files.stat("x")).rejects.toThrow(/ports are closed/);
  expect(kept?.files).not.toHaveProperty("write");
});

describe("what a hook sends", () => {
  const reporter = hook("reporter", async (call) => {
    await call.ports.web.get({ url: "http://siem.test/x", maxBytes: 1, timeoutMs: 1000 }, call.signal);
    return ALLOW;
  });

  test("is on the record before it goes out, with the hook that sends it", async () => {
    const { dispatch, records, sent } = dispatcher(reporter);
    await dispatch.dispatch("tool.pre", {}, at);
    expect(sent).toEqual(["http://siem.test/x after HookIntent"]);
    expect(records.map(({ kind }) => kind)).toEqual(["HookIntent", "NetworkJudged", "HooksAsked"]);
    expect(records[0]?.payload).toMatchObject({
      event: "tool.pre",
      hook: "reporter",
      source: "reporter.md:2",
      port: "connect",
      target: "siem.test",
    });
  });

  test("does not go out when it cannot be recorded, and the guard blocks", async () => {
    const { dispatch, sent, broken } = dispatcher(reporter);
    broken.record = true;
    expect(await dispatch.dispatch("tool.pre", {}, at)).toMatchObject({ blocked: true, hook: "reporter" });
    expect(sent).toEqual([]);
  });
});
