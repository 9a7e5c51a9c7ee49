/** A call that was cut off, as a person sees it and says what became of it. */
import { expect, test } from "vitest";
import type { ClientSession } from "#client";
import { expectGolden, playScene, type Scene } from "../../test/fakes/golden-screens.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";

const cutOff: Scene["events"] = [
  [
    "OrphanedCall",
    {
      turn: "turn_1",
      call_id: "call_1",
      name: "exec",
      args: { command: "npm publish\u202e" },
      started_at: "2026-01-01T10:00:00.000Z",
    },
  ],
];

test("a call that was cut off", () => expectGolden("orphan", { events: cutOff }));
test("how far it got", () => expectGolden("orphan-note", { events: cutOff, keys: ["w", "it was published"] }));

const resolve = { kind: "ResolveOrphan", call_id: "call_1" };

test.each([
  [["s"], [{ ...resolve, resolution: "succeeded" }]],
  [["f"], [{ ...resolve, resolution: "failed" }]],
  [["a"], [{ ...resolve, resolution: "abort" }]],
  [["w", "half of it", KEYS.enter], [{ ...resolve, resolution: "failed", note: "half of it" }]],
  [["x", KEYS.enter], []],
])("%j", async (keys, commands) => {
  const seen: unknown[] = [];
  const submit = async (command: { readonly kind: string }) => {
    if (command.kind !== "DescribeSession") seen.push(command);
    return {};
  };
  const session = { submit: submit as unknown as ClientSession["submit"] };
  const client = { session: () => session as ClientSession, sessions: async () => [] };
  await playScene({ events: cutOff, keys, session, parts: { client } });
  expect(seen).toEqual(commands);
});
