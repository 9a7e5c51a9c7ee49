/**
 * The stdio transport of MCP over a program that somebody else starts and confines. It reads bounded lines, skips what is not
 * JSON, and ends a server that floods it. What the SDK brings for this starts programs itself and loses progress notifications.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { type Clock, messageOf } from "#base";
import { createLineSplitter, type Line } from "#wire";
import type { McpWorld, ServerProcess, StdioServer } from "./mcp-world.ts";
import type { OpenTransport } from "./open-transport.ts";
import type { ServerLog } from "./server-log.ts";

export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** Of an error answer that we put in the place of one that was too long. No server sends it: its lines are parsed, not trusted. */
export const TOO_LARGE_CODE = -32_098;
/** The same for one that is JSON and still cannot be read, because it is nested too deep. */
export const UNREADABLE_CODE = -32_097;
/** How long a server has to end after its standard input was closed. */
const END_GRACE_MS = 5_000;
/** The same when the program itself ends: somebody may be waiting for that. */
const HURRIED_GRACE_MS = 800;
/** After that: the time in which the signal must have ended the process group. */
const KILL_GRACE_MS = 10_000;
/** A single line that goes on for this long never ends. */
const MAX_SKIPPED_BYTES = 256 * 1024 * 1024;
/** What nobody asked for: notifications, requests, text that is not JSON. One line counts as at least 1 KiB. */
const UNASKED_BURST_BYTES = 32 * 1024 * 1024;
const UNASKED_BYTES_PER_MS = 1_024;
const UNASKED_LINE_BYTES = 1_024;
const SKIPPED_LINE_COST_BYTES = 1024 * 1024;
const MAX_SHOWN_CHARS = 200;

/** Both fields make the SDK see a stdio transport, on which a silent server counts as one of the older era. */
interface StdioTransport extends Transport {
  readonly pid: undefined;
  readonly stderr: undefined;
}

export function createStdioTransport(
  server: StdioServer,
  world: Pick<McpWorld, "start">,
  clock: Clock,
  log: ServerLog,
  hurry?: AbortSignal,
): OpenTransport {
  const ending = new AbortController();
  const splitter = createLineSplitter(MAX_MESSAGE_BYTES);
  const decoder = new TextDecoder();
  const unasked = createAllowance(clock);
  const waiting = new Set<string | number>();
  const over = Promise.withResolvers<string>();
  let process: ServerProcess | undefined;
  let reason: string | undefined;
  let handedOver: Promise<void> = Promise.resolve();
  let skippedBytes = 0;

  function finish(why: string): void {
    if (reason !== undefined) return;
    reason = why;
    over.resolve(why);
    waiting.clear();
    transport.onclose?.();
  }

  function kill(why: string): void {
    finish(why);
    ending.abort();
  }

  function read(chunk: Buffer): void {
    if (reason !== undefined) return;
    const lines = splitter.push(chunk);
    skippedBytes = lines.length === 0 ? skippedBytes + chunk.length : 0;
    if (skippedBytes > MAX_SKIPPED_BYTES) kill("it sent a line that never ended");
    else if (lines.length > 0) handedOver = handedOver.then(() => handOver(lines));
  }

  async function handOver(lines: readonly Line[]): Promise<void> {
    for (const line of lines) {
      if (reason !== undefined) return;
      if ("tooLong" in line) answerTooLarge();
      else receive(line.bytes);
      // The SDK handles a notification one microtask later, and an answer at once: without this, progress gets lost.
      await Promise.resolve();
    }
  }

  /** Nobody can say any more whose answer it was. */
  function answerTooLarge(): void {
    log.line("warn", `a message of more than ${MAX_MESSAGE_BYTES} bytes was skipped`);
    charge(SKIPPED_LINE_COST_BYTES);
    const error = { code: TOO_LARGE_CODE, message: `the answer is longer than ${MAX_MESSAGE_BYTES} bytes` };
    for (const id of waiting) transport.onmessage?.({ jsonrpc: "2.0", id, error });
    waiting.clear();
  }

  function receive(bytes: Uint8Array): void {
    const text = decoder.decode(bytes);
    const message = parseMessage(text);
    if (message === undefined && text.trim() !== "") {
      log.line("warn", `wrote something to its output that is not a message: ${text.slice(0, MAX_SHOWN_CHARS)}`);
    }
    const isExpected = message !== undefined && isAnswer(message) && waiting.delete(message.id);
    if (!isExpected) charge(bytes.length);
    if (message === undefined || reason !== undefined) return;
    try {
      transport.onmessage?.(message);
    } catch (error) {
      const text = `a message could not be handled: ${messageOf(error)}`;
      transport.onerror?.(new Error(text, { cause: error }));
      if (isExpected)
        transport.onmessage?.({ jsonrpc: "2.0", id: message.id, error: { code: UNREADABLE_CODE, message: text } });
    }
  }

  function charge(bytes: number): void {
    if (!unasked(Math.max(bytes, UNASKED_LINE_BYTES))) kill("it floods its output");
  }

  const transport: StdioTransport = {
    pid: undefined,
    stderr: undefined,
    async start() {
      try {
        process = await world.start(server, { stdout: read, stderr: log.stderr }, ending.signal);
      } catch (error) {
        finish(messageOf(error));
        throw error;
      }
      void process.ended.then(async ({ code, signal, problem }) => {
        await handedOver;
        finish(problem ?? (signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`));
      });
    },
    async send(message) {
      if (process === undefined || reason !== undefined) throw new Error(`the server is not connected: ${reason}`);
      if ("id" in message && "method" in message) waiting.add(message.id);
      else if ("method" in message && message.method === "notifications/cancelled") forget(message.params?.requestId);
      process.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      finish("it was closed");
      process?.end();
      if (!ending.signal.aborted) await endsByItself();
      ending.abort();
      await endedWithin(KILL_GRACE_MS, new AbortController().signal);
    },
  };

  function forget(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") waiting.delete(id);
  }

  /** Counted from now, also when the program begins to end later. */
  async function endsByItself(): Promise<void> {
    const sinceMs = clock.monotonicMs();
    const hurried = hurry ?? new AbortController().signal;
    await endedWithin(END_GRACE_MS, hurried);
    if (!hurried.aborted) return;
    await endedWithin(Math.max(0, sinceMs + HURRIED_GRACE_MS - clock.monotonicMs()), new AbortController().signal);
  }

  async function endedWithin(ms: number, stop: AbortSignal): Promise<void> {
    if (process === undefined) return;
    const woken = new AbortController();
    await Promise.race([process.ended, clock.sleep(ms, AbortSignal.any([stop, woken.signal]))]);
    woken.abort();
  }

  return { transport, closed: over.promise, reason: () => reason, kill };
}

/** Says whether so much may still come; what is left grows with time, up to the burst. */
function createAllowance(clock: Clock): (bytes: number) => boolean {
  let left = UNASKED_BURST_BYTES;
  let lastMs = clock.monotonicMs();
  return (bytes) => {
    const nowMs = clock.monotonicMs();
    left = Math.min(UNASKED_BURST_BYTES, left + (nowMs - lastMs) * UNASKED_BYTES_PER_MS) - bytes;
    lastMs = nowMs;
    return left >= 0;
  };
}

function parseMessage(text: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // What kind of message it is, the SDK checks field by field.
    return typeof value === "object" && value !== null ? (value as JSONRPCMessage) : undefined;
  } catch {
    return undefined; // the caller says so in the log
  }
}

function isAnswer(message: JSONRPCMessage): message is JSONRPCMessage & { readonly id: string | number } {
  return "id" in message && !("method" in message);
}
