/** A client of `harness rpc`: a real process, its pipes, and everything it wrote, line by line. */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { defined } from "#base";
import { type CliHome, startCli } from "./cli-process.ts";

export interface RpcMessage {
  readonly id?: string | number | null;
  readonly method?: string;
  // Tests look into answers of any shape.
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is compared as a whole
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data: Record<string, unknown> };
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly params?: any;
}

export interface RpcProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Every line so far; each was JSON. */
  readonly messages: (RpcMessage | RpcMessage[])[];
  /** The answer, result or error. */
  request(method: string, params?: unknown): Promise<RpcMessage>;
  /** The result; throws for an error. */
  result(method: string, params?: unknown): Promise<RpcMessage["result"]>;
  send(raw: string | Uint8Array): void;
  /** The first message that fits, now or when it comes; each is given once. */
  see(fits: (message: RpcMessage) => boolean): Promise<RpcMessage>;
  notification(method: string): Promise<RpcMessage["params"]>;
  err(): string;
  /** Closes standard input. */
  end(): Promise<number | null>;
  readonly exit: Promise<number | null>;
}

export function startRpc(home: CliHome, ...args: string[]): RpcProcess {
  const child = startCli(home, ["rpc", ...args]);
  const messages: (RpcMessage | RpcMessage[])[] = [];
  const seen = new Set<object>();
  let rest = "";
  let err = "";
  let wake = (): void => undefined;
  let ended = false;
  let lastId = 0;
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    err += chunk;
  });
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) messages.push(JSON.parse(line));
    wake();
  });
  const exit = new Promise<number | null>((done) => {
    child.once("close", (code) => {
      ended = true;
      wake();
      done(code);
    });
  });
  const rpc: RpcProcess = {
    child,
    messages,
    exit,
    async request(method, params) {
      const id = ++lastId;
      rpc.send(`${JSON.stringify({ jsonrpc: "2.0", id, method, ...defined({ params }) })}\n`);
      return rpc.see((message) => message.id === id);
    },
    async result(method, params) {
      const { result, error } = await rpc.request(method, params);
      if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`);
      return result;
    },
    send: (raw) => void child.stdin.write(raw),
    async see(fits) {
      for (;;) {
        const found = messages.find((message) => !seen.has(message) && !Array.isArray(message) && fits(message));
        if (found !== undefined) {
          seen.add(found);
          // Batches were left out above.
          return found as RpcMessage;
        }
        if (ended) throw new Error(`the program ended:\n${messages.map((m) => JSON.stringify(m)).join("\n")}\n${err}`);
        await new Promise<void>((resume) => {
          wake = resume;
        });
      }
    },
    async notification(method) {
      return (await rpc.see((message) => message.method === method)).params;
    },
    err: () => err,
    end() {
      child.stdin.end();
      return exit;
    },
  };
  return rpc;
}
