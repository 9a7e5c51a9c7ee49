/** Requests and notifications of JSON-RPC on the pipes of one process: lines out, lines in, split at `\n` and nowhere else. */
import type { Readable, Writable } from "node:stream";
import { isRecord } from "#base";
import { ReasonError } from "#protocol";
import { connectionLost, garbled, refusalFrom, unreachable } from "./refusal.ts";

/** A line of the server is no longer: a page of the log that is as large as it may be, and some. */
const LINE_MAX_BYTES = 64 * 1024 * 1024;
/** How long a program may take to end after its input has. */
const END_GRACE_MS = 5000;

export interface PipedProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The end of what it wrote to standard error. */
  errors(): string;
  kill(): void;
}

export type StartProcess = (onEnd: () => void) => PipedProcess;

export interface RpcPeer {
  /** Rejects with what the server refused with, or ConnectionLost. */
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>;
  /** Ends its input, waits for its end, and ends it where that does not come. */
  close(sleep: (ms: number, signal: AbortSignal) => Promise<void>): Promise<void>;
}

export interface RpcPeerOptions {
  readonly address: string;
  readonly start: StartProcess;
  /** What it throws ends the connection. */
  readonly onNotification: (method: string, params: Readonly<Record<string, unknown>>, bytes: number) => void;
  readonly onEnd: (error: unknown) => void;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export function createRpcPeer({ address, start, onNotification, onEnd }: RpcPeerOptions): RpcPeer {
  const waiting = new Map<number, Waiting>();
  const ended = Promise.withResolvers<void>();
  let lastId = 0;
  let isOver = false;
  let hasSpoken = false;
  const process = start(() => finish("the program ended"));

  function finish(cause: unknown): void {
    ended.resolve();
    if (isOver) return;
    isOver = true;
    const why = process.errors().trim();
    const detail = why === "" ? cause : new Error(`it ended, saying: ${why}`, { cause });
    const lost = (): ReasonError => (hasSpoken ? connectionLost(address, detail) : unreachable(address, detail));
    const error = cause instanceof ReasonError ? cause : lost();
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    onEnd(error);
  }

  function take(line: Uint8Array): void {
    const message: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
    if (!isRecord(message)) throw new Error("a message is an object");
    hasSpoken = true;
    const { id, method, params, result, error } = message;
    if (typeof method === "string") {
      onNotification(method, isRecord(params) ? params : {}, line.length);
      return;
    }
    const asked = typeof id === "number" ? waiting.get(id) : undefined;
    if (typeof id !== "number" || asked === undefined) return;
    waiting.delete(id);
    if (isRecord(error)) {
      const reason = isRecord(error.data) ? (error.data.reason ?? error.data.name) : undefined;
      asked.reject(refusalFrom({ reason, message: error.message }, address));
    } else asked.resolve(result);
  }

  const lines = createLines(LINE_MAX_BYTES);
  process.stdout.on("data", (chunk: Buffer) => {
    try {
      for (const line of lines(chunk)) take(line);
    } catch (cause) {
      process.kill();
      finish(cause instanceof ReasonError ? cause : garbled(address, cause));
    }
  });

  return {
    async request(method, params, signal) {
      signal.throwIfAborted();
      if (isOver) throw unreachable(address, "the program ended");
      const id = ++lastId;
      const answer = new Promise((resolve, reject) => void waiting.set(id, { resolve, reject }));
      const aborted = Promise.withResolvers<never>();
      const give = (): void => aborted.reject(signal.reason);
      signal.addEventListener("abort", give, { once: true });
      process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      try {
        return await Promise.race([answer, aborted.promise]);
      } finally {
        signal.removeEventListener("abort", give);
        waiting.delete(id);
      }
    },
    async close(sleep) {
      process.stdin.end();
      const late = new AbortController();
      await Promise.race([ended.promise, sleep(END_GRACE_MS, late.signal).then(() => process.kill())]);
      await ended.promise;
      late.abort();
    },
  };
}

/** Throws for a line above the bound. */
function createLines(maxBytes: number): (chunk: Buffer) => Buffer[] {
  let parts: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    const complete: Buffer[] = [];
    let from = 0;
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      complete.push(Buffer.concat([...parts, chunk.subarray(from, at)]));
      parts = [];
      size = 0;
      from = at + 1;
    }
    size += chunk.length - from;
    if (size > maxBytes) throw new Error(`a line is longer than ${maxBytes} bytes`);
    parts.push(chunk.subarray(from));
    return complete;
  };
}
