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

test("what still applies is said again where a limit of turns has cut it off, and only there", async () => {
  const said = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
  const answer: Message = { role: "assistant", content: [{ type: "text", text: "a" }] };
  const history = [said("plan"), answer, said("two")];
  const sent = async (maxTurns?: number): Promise<unknown> => {
    let messages: unknown;
    const pinned = [{ type: "text", text: "plan" }];
    // The middleware reads these fields alone.
    const call = { request: { messages: [], tools: [] }, history, pinned, tools: [] } as unknown as RequestCall;
    await createHistory({ maxTurns: () => maxTurns })(call, async ({ request }) => {
      messages = request.messages;
      return {} as ModelOutcome;
    });
    return messages;
  };
  expect(await sent()).toEqual(history);
  expect(await sent(2)).toEqual(history);
  const again = [
    { type: "text", text: "plan" },
    { type: "text", text: "two" },
  ];
  expect(await sent(1)).toEqual([{ role: "user", content: again }]);
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
