import { expect, test } from "vitest";
import type { Event, SessionId } from "#protocol";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createRunningCalls } from "./running-calls.ts";

const SESSION = "sess_a" as SessionId;

function open() {
  const clock = createManualClock();
  let status = "";
  const show = (text: string, ending = ""): void => {
    status = text + ending;
  };
  const calls = createRunningCalls({ status: show }, clock, SESSION);
  const begin = (call_id: string, command: string) =>
    ({ kind: "ToolCallStarted", payload: { call_id, label: "Bash", args: { command } } }) as const;
  return {
    clock,
    calls,
    begin,
    status: () => status,
    /** Only the fields that are looked at. */
    handle: (event: object, isEarlier = false) =>
      calls.handle({ session: SESSION, ts: new Date(clock.now()).toISOString(), ...event } as Event, isEarlier),
  };
}

test("a call is shown from its first second on, and no longer when it has ended", async () => {
  const { clock, handle, begin, status } = open();
  handle(begin("call_1", "npm test"));
  await clock.advance(999);
  expect(status()).toBe("");
  await clock.advance(1);
  expect(status()).toBe("Bash npm test · 1 s");
  await clock.advance(11_500);
  expect(status()).toBe("Bash npm test · 12 s");
  handle({ kind: "ToolResult", payload: { call_id: "call_1" } });
  expect(status()).toBe("");
  expect(clock.sleeping).toBe(0);
});

test("the newest of several calls is shown, with the number of the others", async () => {
  const { clock, handle, begin, status } = open();
  handle(begin("call_1", "npm test"));
  await clock.advance(5_000);
  handle({ ...begin("call_2", "npm run lint"), session: "sess_child" });
  await clock.advance(1_000);
  expect(status()).toBe("Bash npm run lint · 1 s (and 1 more)");
  handle({ kind: "ToolResult", payload: { call_id: "call_2" } });
  handle({ kind: "TurnEnded", payload: {}, session: "sess_child" });
  expect(status()).toBe("Bash npm test · 6 s");
});

test("a call that waits for a person does not run, and its time begins with the answer", async () => {
  const { clock, handle, begin, status } = open();
  handle(begin("call_1", "rm x"));
  handle({ kind: "PermissionRequested", payload: { call_id: "call_1" } });
  await clock.advance(30_000);
  expect(status()).toBe("");
  handle({ kind: "PermissionAnswered", payload: { call_id: "call_1" } });
  await clock.advance(2_000);
  expect(status()).toBe("Bash rm x · 2 s");
});

test("the end of the turn ends it, and so does leaving", async () => {
  const { clock, calls, handle, begin, status } = open();
  for (const end of [() => handle({ kind: "TurnEnded", payload: {} }), () => calls.stop()]) {
    handle(begin("call_1", "sleep 600"));
    await clock.advance(3_000);
    expect(status()).toBe("Bash sleep 600 · 3 s");
    end();
    expect({ status: status(), sleeping: clock.sleeping }).toEqual({ status: "", sleeping: 0 });
  }
});

test("a call that began before this terminal came counts from its beginning", () => {
  const { clock, handle, begin, status } = open();
  handle({ ...begin("call_1", "npm test"), ts: new Date(clock.now() - 90_000).toISOString() }, true);
  expect(status()).toBe("Bash npm test · 90 s");
});
