/**
 * A client of `harness rpc` in one file: starts the program, makes a thread, sends one prompt, shows what comes, answers approvals.
 * Without a key the offline model answers.
 *
 *   node examples/rpc/client.ts --cwd DIR "Run the tests"
 *   node examples/rpc/client.ts --cwd DIR --approve once "Run the tests"     nobody is asked: once, always or reject
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cwd: { type: "string", default: "." }, approve: { type: "string" } },
});
const program = join(import.meta.dirname, "../../bin/harness.cjs");
const server = spawn(process.execPath, [program, "rpc", "--cwd", values.cwd], { stdio: ["pipe", "pipe", "inherit"] });

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: Record<string, never>;
  readonly error?: { readonly code: number; readonly message: string };
  readonly params?: Record<string, never>;
}

let lastId = 0;
const waiting = new Map<number, (answer: Message) => void>();

async function request(method: string, params: object): Promise<Record<string, never>> {
  const id = ++lastId;
  const { result, error } = await new Promise<Message>((resolve) => {
    waiting.set(id, resolve);
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  });
  if (error !== undefined) throw new Error(`${method}: ${error.message} (${error.code})`);
  return result ?? {};
}

async function decide(summary: string): Promise<string> {
  if (values.approve !== undefined) return values.approve;
  if (!process.stdin.isTTY) return "reject";
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${summary}\nAllow? once, always, reject: `);
  terminal.close();
  return ["once", "always"].includes(answer) ? answer : "reject";
}

function onNotification({ method, params = {} }: Message): void {
  const { item, delta, type, error, summary, requestId } = params as Record<string, never> & {
    readonly item?: { readonly type: string; readonly data: Record<string, unknown> };
    readonly delta?: { readonly text: string };
    readonly error?: { readonly message: string };
  };
  switch (method) {
    case "item.delta":
      if (type === "assistant_message") process.stdout.write(delta?.text ?? "");
      break;
    case "item.started":
      if (item?.type === "tool_exec") console.log(`\n→ ${item.data.label} ${JSON.stringify(item.data.args)}`);
      break;
    case "item.completed":
      if (item?.type === "tool_exec") console.log(`← ${item.data.outcome}`);
      if (item?.type === "artifact") console.log(`+ ${item.data.path}`);
      break;
    case "approval.requested":
      void decide(String(summary))
        .then((decision) => request("approval.respond", { requestId, decision }))
        .catch((problem: Error) => console.error(problem.message));
      break;
    case "turn.completed":
      console.log();
      server.stdin.end();
      break;
    case "turn.error":
      console.error(`\n${error?.message}`);
      process.exitCode = 1;
      server.stdin.end();
      break;
  }
}

// Lines end at \n and nowhere else: readers that also split at other separators would cut a message in two.
let rest = "";
server.stdout.setEncoding("utf8").on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    // What the server writes is JSON-RPC.
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) onNotification(message);
    else waiting.get(message.id)?.(message);
  }
});

try {
  await request("initialize", { clientInfo: { name: "example" } });
  const { thread } = await request("thread.create", {});
  const { threadId } = thread as unknown as { readonly threadId: string };
  await request("turn.start", { threadId, input: [{ type: "text", text: positionals.join(" ") }] });
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
  server.stdin.end();
}
