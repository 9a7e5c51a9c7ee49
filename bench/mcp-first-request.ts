/**
 * How much later the first request of a session goes out with 20 lazy servers of 50 tools, whose lists are kept, than without any: the
 * time from the input to its arrival at a model in a process of its own. Rounds alternate. `node bench/mcp-first-request.ts [rounds]`.
 */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createToolKeeper } from "#mcp";
import { stdioServer } from "../test/fakes/mcp-world.ts";
import { openMemoryHarness } from "../test/fakes/memory-harness.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const ROUNDS = Number(process.argv[2] ?? 20);
const SERVERS = 20;
const TOOLS = 50;
const MAX_LATER_MS = 20;

/** Prints its port, then when each request was there as a whole. */
const MODEL = `
  const now = () => performance.timeOrigin + performance.now();
  require("node:http").createServer((request, response) => {
    request.resume().on("end", () => {
      console.log(now());
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}]}\\n\\n');
      response.end("data: [DONE]\\n\\n");
    });
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;
const model = spawn(process.execPath, ["-e", MODEL], { stdio: ["ignore", "pipe", "inherit"] });
const printed = createInterface({ input: model.stdout })[Symbol.asyncIterator]();
const nextNumber = async (): Promise<number> => Number((await printed.next()).value);
const port = await nextNumber();

const home = mkdtempSync(join(tmpdir(), "first-request-"));
const env = {
  PATH: process.env.PATH,
  HOME: home,
  OPENAI_API_KEY: "bench-key",
  OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
};
const keeper = createToolKeeper(join(home, ".local/state/harness/mcp-tools"), (_level, text) => console.error(text));
const servers = Array.from({ length: SERVERS }, (_, at) => {
  const server = stdioServer(`s${at}`, [], { discovery: "lazy", startupTimeoutMs: 0 });
  // It is started after the request, and what it answers then is no part of the figure.
  const silent = { ...server, connection: { ...server.connection, command: "/bin/cat" } as typeof server.connection };
  const approved = Array.from({ length: TOOLS }, (_unused, index) => ({
    name: `look_${at}_${index}`,
    description: `Looks at number ${index} of the things that the server ${at} knows about, and says what it has found there.`,
    inputSchema: {
      type: "object",
      properties: { at: { type: "string", description: "Where to look" }, deep: { type: "boolean" } },
      required: ["at"],
    },
  }));
  keeper.write(silent, { approved, waiting: [], absent: [] });
  return silent;
});

/** Resolves with the time until the request was there, in ms. */
async function firstRequest(mcpServers: typeof servers): Promise<number> {
  const workspace = mkdtempSync(join(tmpdir(), "first-request-work-"));
  const settings = { mcpServers, sandbox: "off" } as const;
  const harness = await openMemoryHarness({ env, workspace, model: "openai:mock-model", settings });
  const client = harness.control.connect({ identityClass: "human", interactive: false, onEvent: () => undefined });
  const { session } = await client.submit({ kind: "CreateSession" });
  const startedMs = performance.timeOrigin + performance.now();
  const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text: "hello" }] });
  await done;
  const arrivedMs = await nextNumber();
  await harness.shutdown();
  return arrivedMs - startedMs;
}

const without: number[] = [];
const withServers: number[] = [];
for (let round = 0; round <= ROUNDS; round++) {
  const [bare, kept] = [await firstRequest([]), await firstRequest(servers)];
  // In the first round this process loads what every later one has.
  if (round === 0) console.log(`first round: ${bare.toFixed(1)} ms without, ${kept.toFixed(1)} ms with servers`);
  else {
    without.push(bare);
    withServers.push(kept);
  }
}
// On a machine with much to do, the fastest rounds say more than the medians.
console.log(`fastest: ${Math.min(...without).toFixed(1)} ms without, ${Math.min(...withServers).toFixed(1)} ms with`);
const ratio = median(withServers) / median(without);
console.log(
  `median: ${median(without).toFixed(1)} ms without, ${median(withServers).toFixed(1)} ms with, ratio ${ratio.toFixed(2)}`,
);
const name = `first request with ${SERVERS} lazy servers of ${TOOLS} tools: later than without`;
const later = median(withServers.map((ms, at) => ms - without[at]!));
const figures: Figure[] = [{ name, unit: "ms", ours: later, limit: MAX_LATER_MS }];
printFigures("MCP: first request", figures);
process.exitCode = figures.every(holds) ? 0 : 1;
model.kill();
