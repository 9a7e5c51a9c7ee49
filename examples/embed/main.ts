/**
 * The engine inside another program: one tool, one handler, one prompt. Runs offline, because the model is a scenario; with a
 * key, name a real one instead. An installed package is imported as "harness-runtime".
 *
 *   node examples/embed/main.ts
 */
import { join } from "node:path";
import { createHarness, type SimpleTool } from "../../src/embed.ts";

const stock: Readonly<Record<string, number>> = { teapot: 3, cup: 24 };

const countTool: SimpleTool = {
  name: "stock.count",
  description: "How many of an article are in stock.",
  inputSchema: {
    type: "object",
    properties: { article: { type: "string" } },
    required: ["article"],
    additionalProperties: false,
  },
  class: "read_only",
  execute({ article }) {
    const name = String(article);
    const count = Object.hasOwn(stock, name) ? stock[name] : undefined;
    // Thrown errors become error results: the model reads them and can go on.
    if (count === undefined) throw new Error(`there is no article '${name}'`);
    return `${count} in stock`;
  },
};

const harness = await createHarness(
  { model: `scripted:${join(import.meta.dirname, "shop.yaml")}`, systemPrompt: "You keep the stock of a small shop." },
  [countTool],
  {
    onText: (text) => console.log(`text    ${text}`),
    onToolCall: (_id, name, input) => console.log(`call    ${name} ${JSON.stringify(input)}`),
    onToolResult: (_id, result, isError) => console.log(`${isError ? "failed " : "result "} ${result}`),
  },
);

try {
  const { text, steps } = await harness.prompt("How many teapots are left?");
  console.log(`answer  ${text} (${steps} model calls)`);
} finally {
  await harness.close();
}
