import { expect, test } from "vitest";
import type { ModelOutcome, ModelRequest, RequestCall, Tool } from "#engine";
import type { Message } from "#protocol";
import { createHistory } from "./history.ts";

const tool = (name: string, deferred?: true): Tool => ({
  name,
  label: name,
  class: "read_only",
  description: "",
  parameters: {},
  ...(deferred && { deferred }),
  run: async () => ({ content: [] }),
});

async function sentTools(history: readonly Message[]): Promise<string[]> {
  let sent: ModelRequest | undefined;
  const request = { messages: [], tools: [] };
  // The middleware reads these fields alone.
  const call = { request, history, tools: [tool("a"), tool("b", true)], session: "s" } as unknown as RequestCall;
  await createHistory()(call, async ({ request: given }) => {
    sent = given;
    return {} as ModelOutcome;
  });
  return (sent?.tools ?? []).map(({ name }) => name);
}

test("a deferred tool is sent once the conversation has called it", async () => {
  expect(await sentTools([])).toEqual(["a"]);
  // The id of a call is of no interest here.
  const input = { type: "tool_use", id: "call_1" as never, name: "b", input: {} } as const;
  expect(await sentTools([{ role: "assistant", content: [input] }])).toEqual(["a", "b"]);
});
