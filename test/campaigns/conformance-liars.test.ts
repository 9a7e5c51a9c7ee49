/** Servers that lie are found out: each lie fails the requirement that it breaks. */
import { expect, test } from "vitest";
import { conforms, httpTarget, type RequirementId, runConformance, type Target } from "#conformance";
import { createSystemClock } from "#world";
import { ownProgram, ownServer, TOKENS } from "../fakes/conformance-targets.ts";
import { type Lie, startLyingServer } from "../fakes/lying-server.ts";

/** Short, because some lies are found out by waiting, and long enough for a busy machine. */
const WAIT_MS = 5_000;

interface Case {
  readonly lie: Lie;
  readonly breaks: RequirementId;
  readonly detail: RegExp;
}

/** What stands where in the frame of an event. */
const kindOf = (frame: string): string => /^event: (\w+)$/m.exec(frame)?.[1] ?? "";

/** By a token that the run has made on its way. */
const isMade = (headers: Readonly<Record<string, string>>): boolean =>
  !Object.values<string | undefined>(TOKENS).includes(headers["x-harness-token"]);

const ACCEPTED = { status: 202, body: {} } as const;

function swapped(): Lie {
  let held: string | undefined;
  return {
    onFrame(frame) {
      if (kindOf(frame) === "CostIncremented") {
        held = frame;
        return [];
      }
      if (held === undefined) return [frame];
      const later = held;
      held = undefined;
      return [frame, later];
    },
  };
}

const cases: Readonly<Record<string, Case>> = {
  "drops an event": {
    lie: { onFrame: (frame) => (kindOf(frame) === "CostIncremented" ? [] : [frame]) },
    breaks: "stream:order",
    detail: /where the log has CostIncremented/,
  },
  "tells an event twice": {
    lie: { onFrame: (frame) => (kindOf(frame) === "TurnStarted" ? [frame, frame] : [frame]) },
    breaks: "stream:order",
    detail: /the stream has/,
  },
  "tells events in the wrong order": { lie: swapped(), breaks: "stream:order", detail: /where the log has/ },
  "changes a text on its way": {
    lie: { onFrame: (frame) => [frame.replace('"text":"', '"text":"So: ')] },
    breaks: "turn:answer",
    detail: /the answer on the stream is/,
  },
  "accepts without a token": {
    lie: {
      onRequest({ headers }) {
        headers["x-harness-token"] ??= TOKENS.human;
        return undefined;
      },
    },
    breaks: "auth:required",
    detail: /without a token/,
  },
  "answers before the handshake": {
    lie: {
      onRequest({ method, path, headers }) {
        const isEarly =
          method === "POST" && path === "/v1/sessions" && headers["x-harness-token"] === TOKENS["other human"];
        return isEarly ? { status: 201, body: { id: "sess_00000000000000000000000000" } } : undefined;
      },
    },
    breaks: "handshake:first",
    detail: /answered .*success/,
  },
  "makes another client of every request": {
    lie: {
      onRequest({ headers }) {
        delete headers["x-harness-client"];
        return undefined;
      },
    },
    breaks: "turn:attachment",
    detail: /one attachment is first cli_/,
  },
  "takes a second input": {
    lie: {
      onRequest({ method, path, body }) {
        if (method !== "POST" || !path.endsWith("/input") || !body.includes("say hello")) return undefined;
        return { status: 202, body: { turn: "turn_00000000000000000000000000" } };
      },
    },
    breaks: "turn:one-at-a-time",
    detail: /answered .*success/,
  },
  "forgets a command in its handshake": {
    lie: { onAnswer: (path, body) => (path.startsWith("/v1/handshake") ? body.replace('"CancelTurn",', "") : body) },
    breaks: "handshake:kinds",
    detail: /CancelTurn/,
  },
  "forgets where a client stood": {
    lie: {
      onRequest({ headers }) {
        delete headers["last-event-id"];
        return undefined;
      },
    },
    breaks: "stream:resume",
    detail: /./,
  },
  "says nothing of content that is gone": {
    lie: { onFrame: (frame) => (kindOf(frame) === "StreamGap" ? [] : [frame]) },
    breaks: "stream:ttl",
    detail: /the stream starts with/,
  },
  "gives no sign of life": {
    lie: { onFrame: (frame) => (frame.startsWith(":") ? [] : [frame]) },
    breaks: "stream:heartbeat",
    detail: /no heartbeat/,
  },
  "takes the answer of an agent": {
    lie: {
      onRequest: ({ path, headers }) =>
        path.endsWith("/permission") && headers["x-harness-token"] === TOKENS.agent ? ACCEPTED : undefined,
    },
    breaks: "permission:agent",
    detail: /answered .*success/,
  },
  "says nothing of the end of a token": {
    lie: { onFrame: (frame) => (kindOf(frame) === "TokenExpiring" ? [] : [frame]) },
    breaks: "auth:expiring",
    detail: /TokenExpiring did not arrive/,
  },
  "takes commands after the end of a token": {
    lie: { onRequest: ({ path, headers }) => (path.endsWith("/cancel") && isMade(headers) ? ACCEPTED : undefined) },
    breaks: "auth:drain",
    detail: /after the token expired, the server answered success/,
  },
  "lets an agent take back rules": {
    lie: { onRequest: ({ body }) => (body.includes("RevokeRule") ? ACCEPTED : undefined) },
    breaks: "permission:agent-steers",
    detail: /answered RevokeRule with success/,
  },
  "cancels nothing": {
    lie: { onRequest: ({ path }) => (path.endsWith("/cancel") ? ACCEPTED : undefined) },
    breaks: "turn:cancel",
    detail: /TurnEnded did not arrive/,
  },
  "takes commands that there are not": {
    lie: { onRequest: ({ body }) => (body.includes("FlyToTheMoon") ? ACCEPTED : undefined) },
    breaks: "input:unknown-verb",
    detail: /answered .*success/,
  },
  "takes what is not JSON": {
    lie: { onRequest: ({ body }) => (body.toString().endsWith('"te') ? ACCEPTED : undefined) },
    breaks: "input:malformed",
    detail: /the server accepted it/,
  },
  "hides that something was taken out": {
    lie: { onAnswer: (path, body) => (path.includes("/log") ? body.replaceAll("«redacted:", "«") : body) },
    breaks: "stream:redacted",
    detail: /the log does not mark the redaction/,
  },
  "leaves events out of the log": {
    lie: { onAnswer: (path, body) => (path.includes("/log") ? body.replace(/\{"id":1,.*?\}\},/, "") : body) },
    breaks: "session:log",
    detail: /where the log has TurnStarted/,
  },
};

async function behindLie(lie: Lie): Promise<Target> {
  const { socketPath, abilities } = await ownServer();
  const path = await startLyingServer(socketPath, lie);
  const clock = createSystemClock();
  return {
    ...httpTarget("rest", { place: { kind: "unix", path }, clock, waitMs: WAIT_MS, tokens: TOKENS }),
    ...abilities,
  };
}

test.each(Object.entries(cases))("a server that %s", async (_name, { lie, breaks, detail }) => {
  const target = await behindLie(lie);
  const report = await runConformance({ targets: [target], clock: createSystemClock(), only: (id) => id === breaks });
  expect(conforms(report)).toBe(false);
  expect(report.findings).toContainEqual(
    expect.objectContaining({ requirement: breaks, verdict: "fail", detail: expect.stringMatching(detail) }),
  );
});

test("the same server without a lie conforms", async () => {
  const target = await behindLie({});
  const broken = new Set(Object.values(cases).map(({ breaks }) => breaks));
  const report = await runConformance({ targets: [target], clock: createSystemClock(), only: (id) => broken.has(id) });
  expect(report.findings.filter(({ verdict }) => verdict !== "pass")).toEqual([]);
  expect(conforms(report)).toBe(true);
});

test("a program that says something of its own on standard output", async () => {
  const target = ownProgram({ before: "echo starting up" });
  const report = await runConformance({
    targets: [target],
    clock: createSystemClock(),
    only: (id) => id === "rpc:pristine",
  });
  expect(report.findings).toContainEqual(
    expect.objectContaining({
      requirement: "rpc:pristine",
      verdict: "fail",
      detail: expect.stringContaining("starting up"),
    }),
  );
});
