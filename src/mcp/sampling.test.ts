/** What a server may have the model answer, how that is bounded, and what is refused. */
import { expect, test } from "vitest";
import type { ModelPort, ModelQuestion, ServerAsk } from "#base";
import type { ToolContext } from "#engine";
import { createSystemClock } from "#world";
import { stdioServer } from "../../test/fakes/mcp-world.ts";
import { answering } from "./answer-server.ts";
import { startDeadline } from "./deadline.ts";
import { samplingTools } from "./sampling.ts";
import { createAsking } from "./server-questions.ts";

const never = new AbortController().signal;
const user = (text: string) => ({ role: "user", content: { type: "text", text } });
const [tool] = samplingTools([stdioServer("s", [], { sampling: true })]);

async function ask(request: unknown, more: Partial<ToolContext> = {}) {
  const asked: ModelQuestion[] = [];
  const model: ModelPort = {
    async ask(question) {
      asked.push(question);
      return { text: "Yes.", model: "fake:one", isCut: false };
    },
  };
  // The tool uses these alone.
  const context = { ports: { model }, nesting: 1, signal: never, ...more } as ToolContext;
  const output = await tool!.run({ server: "s", request }, context);
  return { asked, output };
}

test("neighbours of one role are one message, and what the server wants is bounded", async () => {
  const messages = [user("a"), user("b"), { role: "assistant", content: [{ type: "text", text: "c" }] }, user("d")];
  const { asked } = await ask({ messages, maxTokens: 50_000, temperature: 9, modelPreferences: { hints: [] } });
  expect(asked).toEqual([
    {
      system: [expect.stringContaining("MCP server s")],
      messages: [
        { role: "user", content: [user("a").content, user("b").content] },
        { role: "assistant", content: [{ type: "text", text: "c" }] },
        { role: "user", content: [user("d").content] },
      ],
      maxTokens: 4_096,
    },
  ]);
  const small = await ask({ messages: [user("a")], maxTokens: 7.9, temperature: 0.5, systemPrompt: "Be brief." });
  expect(small.asked).toMatchObject([{ maxTokens: 7, temperature: 0.5, system: [expect.anything(), "Be brief."] }]);
});

test.each<[string, unknown, string]>([
  ["no messages", {}, "has messages"],
  ["nothing at all", "x", "has messages"],
  ["an empty list", { messages: [] }, "must be the user's"],
  ["the assistant first", { messages: [{ ...user("a"), role: "assistant" }, user("b")] }, "must be the user's"],
  ["another role", { messages: [{ ...user("a"), role: "system" }] }, "of the user or of the assistant"],
  ["tools", { messages: [user("a")], tools: [{ name: "t" }] }, "no tools of a server"],
  ["audio", { messages: [{ role: "user", content: { type: "audio", data: "AA" } }] }, "holds text, or an image"],
  ["an empty text", { messages: [user("")] }, "holds text, or an image"],
  ["too many messages", { messages: Array.from({ length: 101 }, () => user("a")) }, "at most 100"],
])("%s is refused", async (_what, request, told) => {
  await expect(ask(request)).rejects.toThrow(told);
});

test("nobody else has the model answer, and not every server may", async () => {
  const request = { messages: [user("a")] };
  await expect(ask(request, { nesting: 0 })).rejects.toThrow("No MCP server asks for this.");
  const context = { ports: {}, nesting: 1, signal: never } as ToolContext;
  await expect(tool!.run({ server: "s", request }, context)).rejects.toThrow("There is no model");
  expect(samplingTools([])).toEqual([]);
  const asked: ServerAsk = { method: "sampling/createMessage", params: request };
  expect(await answering(stdioServer("t", []), context)(asked, never)).toEqual({
    refused: "the user does not let this server have a model answer it",
  });
});

test("a refusal of the call is one of the request, and an answer of a hook is handed over", async () => {
  const asked: ServerAsk = { method: "sampling/createMessage", params: { messages: [user("a")] } };
  const reply = (content: string, isError: boolean) => {
    const call: ToolContext["call"] = async () => ({ content: [{ type: "text", text: content }], isError });
    return answering(stdioServer("s", [], { sampling: true }), { call } as ToolContext)(asked, never);
  };
  expect(await reply("denied", true)).toEqual({ refused: "denied" });
  expect(await reply("other", false)).toMatchObject({
    result: { content: { text: "other" }, model: "unknown", stopReason: "endTurn" },
  });
});

test("one request gets five answers", async () => {
  const deadline = startDeadline(createSystemClock(), 60_000, never);
  const asking = createAsking(async () => ({ result: {} }), deadline, never);
  const replies = [];
  for (let count = 0; count < 6; count++) {
    replies.push(await asking.ask({ method: "sampling/createMessage", params: {} }));
  }
  deadline.clear();
  expect(replies.filter((reply) => "result" in reply)).toHaveLength(5);
  expect(replies[5]).toEqual({ refused: "more than 5 answers of the model during one request" });
});
