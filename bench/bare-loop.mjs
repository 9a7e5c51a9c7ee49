// The floor the benchmarks compare with: one fetch loop without log, gate or schema, in as few lines as it takes.
// usage: node bare-loop.mjs BASE_URL WORKSPACE
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const [baseUrl, workspace] = process.argv.slice(2);
const messages = [{ role: "user", content: "hello" }];
const tools = [
  {
    type: "function",
    function: { name: "fs_read", parameters: { type: "object", properties: { path: { type: "string" } } } },
  },
];
for (;;) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer x" },
    body: JSON.stringify({ model: "m", messages, tools, stream: true }),
  });
  const calls = [];
  let text = "";
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const data = rest.slice(6, end);
      rest = rest.slice(end + 2);
      if (data === "[DONE]") continue;
      const delta = JSON.parse(data).choices[0]?.delta;
      if (delta?.content) {
        text += delta.content;
        process.stdout.write(delta.content);
      }
      if (delta?.tool_calls) calls.push(...delta.tool_calls);
    }
  }
  messages.push({ role: "assistant", content: text || null, ...(calls.length > 0 ? { tool_calls: calls } : {}) });
  if (calls.length === 0) break;
  for (const call of calls) {
    const { path } = JSON.parse(call.function.arguments);
    messages.push({ role: "tool", tool_call_id: call.id, content: await readFile(join(workspace, path), "utf8") });
  }
}
