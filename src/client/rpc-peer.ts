/** A program that speaks JSON-RPC on its pipes: what it refuses with, how its end shows, and how it is brought about. */
import { type Clock, isRecord } from "#base";
import { ReasonError } from "#protocol";
import { createJsonRpcPeer, JsonRpcError, PeerError, standardError } from "#wire";
import { connectionLost, garbled, refusalFrom, unreachable } from "./refusal.ts";

/** A line of the server is no longer: a page of the log that is as large as it may be, and some. */
const LINE_MAX_BYTES = 64 * 1024 * 1024;
/** Requests that wait for their reply; a program that asks for more has lost count. */
const PENDING_MAX = 10_000;
/** How long a program may take to end after its input has. */
const END_GRACE_MS = 5000;

export interface PipedProcess {
  readonly stdin: { write(text: string): unknown; end(): unknown };
  readonly stdout: AsyncIterable<Uint8Array>;
  /** The end of what it wrote to standard error. */
  errors(): string;
  kill(): void;
}

export type StartProcess = (onEnd: () => void) => PipedProcess;

export interface RpcPeer {
  /** Rejects with what the server refused with, or ConnectionLost. */
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>;
  /** Ends its input, waits for its end, and ends it where that does not come. */
  close(): Promise<void>;
}

export interface RpcPeerOptions {
  readonly address: string;
  readonly start: StartProcess;
  readonly clock: Pick<Clock, "sleep">;
  /** What it throws ends the connection. */
  readonly onNotification: (method: string, params: Readonly<Record<string, unknown>>, bytes: number) => void;
  readonly onEnd: (error: unknown) => void;
}

export function createRpcPeer({ address, start, clock, onNotification, onEnd }: RpcPeerOptions): RpcPeer {
  const ended = Promise.withResolvers<void>();
  let isOver = false;
  let hasSpoken = false;
  const process = start(() => finish("the program ended"));
  const peer = createJsonRpcPeer({
    send: (line) => void process.stdin.write(line),
    handle({ method, params, bytes, isNotification }) {
      hasSpoken = true;
      if (!isNotification) throw standardError("MethodNotFound", "A client carries out no requests.");
      onNotification(method, isRecord(params) ? params : {}, bytes);
    },
    onMalformed(error) {
      throw error;
    },
    whenFull: "refuse",
    clock,
    limits: { lineBytes: LINE_MAX_BYTES, pending: PENDING_MAX, inFlight: 1, inFlightBytes: LINE_MAX_BYTES, batch: 0 },
  });

  function finish(cause: unknown): void {
    ended.resolve();
    if (isOver) return;
    isOver = true;
    const why = process.errors().trim();
    const detail = why === "" ? cause : new Error(`it ended, saying: ${why}`, { cause });
    const lost = (): ReasonError => (hasSpoken ? connectionLost(address, detail) : unreachable(address, detail));
    const error = cause instanceof ReasonError ? cause : lost();
    peer.close(error);
    onEnd(error);
  }

  // That its output has ended is not yet that it has: the process says so, and why.
  peer.read(process.stdout).catch((cause: unknown) => {
    process.kill();
    finish(cause instanceof ReasonError ? cause : garbled(address, cause));
  });

  return {
    async request(method, params, signal) {
      if (isOver) throw unreachable(address, "the program ended");
      try {
        const result = await peer.request(method, params, { signal });
        hasSpoken = true;
        return result;
      } catch (error) {
        if (error instanceof PeerError) throw new ReasonError("Overloaded", error.message, { cause: error });
        if (!(error instanceof JsonRpcError)) throw error;
        hasSpoken = true;
        const reason = isRecord(error.data) ? (error.data.reason ?? error.data.name) : undefined;
        throw refusalFrom({ reason, message: error.message }, address);
      }
    },
    async close() {
      process.stdin.end();
      const late = new AbortController();
      await Promise.race([ended.promise, clock.sleep(END_GRACE_MS, late.signal).then(() => process.kill())]);
      await ended.promise;
      late.abort();
    },
  };
}
