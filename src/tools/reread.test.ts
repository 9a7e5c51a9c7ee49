import { expect, test } from "vitest";
import { type Event, SessionId, TurnId } from "#protocol";
import { createRereadTool } from "./reread.ts";

const session = SessionId.from("01JZ0000000000000000000000");
const turn = TurnId.from("01JZ0000000000000000000001");
const started = (refused: boolean): Event => ({
  ...{ id: 7, kind: "TurnStarted", session, ts: "2026-01-01T00:00:00.000Z" },
  payload: { turn, content: [{ type: "text", text: "said" }], model: "m", ...(refused && { refused: true as const }) },
});

// The tool needs nothing of its context.
const reread = (event: Event) => createRereadTool(async () => event).run({ event: 7 }, {} as never);

test("an input is read again, unless a hook refused it", async () => {
  expect(await reread(started(false))).toEqual({ content: [{ type: "text", text: "said" }] });
  await expect(reread(started(true))).rejects.toThrow("7 is not the number of a result or an input");
});
