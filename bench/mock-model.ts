/**
 * A model server for the benchmarks: plays a fixed number of tool calls and then a text over the OpenAI wire, from
 * buffers made beforehand, and notes when each response ended and the next request came. Started as its own process.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface MockPlan {
  /** Tool calls (each reads a file of its own, `data-<step>.txt`) before the final text. */
  readonly steps: number;
  /** Deltas of the final text. */
  readonly deltas: number;
}

export interface MockReport {
  /** Milliseconds since the epoch, with fractions, when the first request was complete. */
  readonly firstRequestMs: number;
  /** From the end of a response to the arrival of the next request. */
  readonly gapsMs: readonly number[];
  /** Bytes of system prompt and tool schemas in the first request. */
  readonly promptBytes: number;
  readonly requests: number;
}

const CHUNK = 200;

function toolReply(step: number): Buffer {
  const call = {
    index: 0,
    id: `t${step}`,
    type: "function",
    function: { name: "fs_read", arguments: `{"path":"data-${step}.txt"}` },
  };
  return Buffer.from(
    event({ delta: { role: "assistant", tool_calls: [call] } }) +
      event({ delta: {}, finish_reason: "tool_calls" }) +
      usageEvent() +
      "data: [DONE]\n\n",
  );
}

function textReply(deltas: number): Buffer[] {
  const events = Array.from({ length: deltas }, (_, index) => event({ delta: { content: `word${index % 10} ` } }));
  const chunks: Buffer[] = [];
  for (let at = 0; at < events.length; at += CHUNK) chunks.push(Buffer.from(events.slice(at, at + CHUNK).join("")));
  chunks.push(Buffer.from(`${event({ delta: {}, finish_reason: "stop" })}${usageEvent()}data: [DONE]\n\n`));
  return chunks;
}

function event(choice: object): string {
  const body = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, ...choice }] };
  return `data: ${JSON.stringify(body)}\n\n`;
}

function usageEvent(): string {
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const body = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage };
  return `data: ${JSON.stringify(body)}\n\n`;
}

let plan: MockPlan = { steps: 0, deltas: 1 };
let text = textReply(1);
let tools: Buffer[] = [];
let report = emptyReport();
let endedMs = 0;

function emptyReport(): { -readonly [Key in keyof MockReport]: MockReport[Key] } & { gapsMs: number[] } {
  return { firstRequestMs: 0, gapsMs: [], promptBytes: 0, requests: 0 };
}

const server = createServer((request, response) => {
  const arrivedMs = performance.timeOrigin + performance.now();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    if (request.url === "/plan") {
      plan = JSON.parse(body) as MockPlan;
      text = textReply(plan.deltas);
      tools = Array.from({ length: plan.steps }, (_, step) => toolReply(step));
      report = emptyReport();
      response.end();
      return;
    }
    if (request.url === "/report") {
      response.end(JSON.stringify(report));
      return;
    }
    if (report.requests === 0) {
      report.firstRequestMs = performance.timeOrigin + performance.now();
      report.promptBytes = promptBytes(body);
    } else report.gapsMs.push(arrivedMs - endedMs);
    const step = report.requests++;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.on("finish", () => {
      endedMs = performance.timeOrigin + performance.now();
    });
    const tool = tools[step];
    if (tool !== undefined) response.end(tool);
    else {
      for (const chunk of text) response.write(chunk);
      response.end();
    }
  });
});

function promptBytes(body: string): number {
  const { messages = [], tools: schemas = [] } = JSON.parse(body) as {
    messages?: { role: string; content: unknown }[];
    tools?: unknown[];
  };
  const system = messages.filter(({ role }) => role === "system" || role === "developer").map(({ content }) => content);
  return Buffer.byteLength(JSON.stringify(system)) + Buffer.byteLength(JSON.stringify(schemas));
}

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
// The parent ends this process by closing its standard input.
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
