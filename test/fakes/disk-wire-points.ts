/** Full disks as clients of other wires than REST meet them. */
import { setTimeout as pause } from "node:timers/promises";
import { connectWire } from "./ack-wires.ts";
import { type DiskPoint, LOOK_EVERY_MS, PATIENCE_MS, words } from "./disk-point.ts";
import type { PointContext } from "./full-disks.ts";

export const wirePoints: readonly DiskPoint[] = [
  {
    name: "on the pipe",
    needs: ["data"],
    run: onThePipe,
  },
  {
    name: "on a web socket",
    needs: ["data"],
    run: onASocket,
  },
];

async function onASocket({ daemon, session, ...context }: PointContext): Promise<void> {
  const nothing = { open: refuse, submit: refuse, log: refuse, close: () => undefined };
  const socket = await connectWire("ws", daemon.place(), nothing);
  const send = async (text: string): Promise<{ readonly turn?: string } | string> =>
    socket
      .submit(session, { kind: "SendInput", content: [{ type: "text", text }] })
      .catch((error: Error) => error.message);
  context.fill(8 * 1024);
  for (const size of [10, 60_000, 60_000]) {
    const text = `hi ${words(size)}`;
    const answer = await send(text);
    if (typeof answer === "string") {
      context.expectRefusal("an input on a web socket", { status: 507, json: JSON.parse(answer) });
      continue;
    }
    context.acknowledged("an input on a web socket", session, (log) =>
      log.some(({ kind, payload }) => kind === "TurnStarted" && payload.content[0].text === text),
    );
    await pause(100);
  }
  daemon.disk.makeRoom();
  let last: unknown;
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_EVERY_MS) {
    last = await send("hello");
    if (typeof last !== "string") break;
    await pause(LOOK_EVERY_MS);
  }
  if (typeof last === "string") context.fail(`the web socket does not recover: ${last}`);
  socket.close();
}

async function refuse(): Promise<never> {
  throw new Error("nothing but inputs goes over this wire here");
}

async function onThePipe({ daemon, ...context }: PointContext): Promise<void> {
  const child = daemon.talk("rpc");
  child.stderr.resume();
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
  });
  let lastId = 0;
  // biome-ignore lint/suspicious/noExplicitAny: read as a foreign program would
  const call = async (method: string, params: unknown): Promise<any> => {
    const id = ++lastId;
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_EVERY_MS) {
      const answer = messages(out).find((message) => message.id === id);
      if (answer !== undefined) return answer;
      await pause(LOOK_EVERY_MS);
    }
    throw new Error(`no answer to ${method}`);
  };
  await call("initialize", {});
  context.fill(0);
  const refused = await call("thread.create", { directory: daemon.workspace });
  // It may have found a place in pages that the log has already.
  if (refused.result === undefined && refused.error?.code !== -32005)
    context.fail(`thread.create on the pipe: ${JSON.stringify(refused)}`);
  daemon.disk.makeRoom();
  const again = await call("thread.create", { directory: daemon.workspace });
  if (again.result === undefined) context.fail(`the pipe does not recover: ${JSON.stringify(again)}`);
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.stdin.end();
  await gone;
}

// biome-ignore lint/suspicious/noExplicitAny: read as a foreign program would
function messages(out: string): any[] {
  return out
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
