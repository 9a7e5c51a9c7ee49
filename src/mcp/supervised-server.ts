/**
 * A server that is kept running: connected, restarted with growing pauses when it ends, and left alone for an hour after five
 * failures in a row. The tools that it listed last stay known while it is down.
 */
import type { McpServer } from "#artifacts";
import { type Clock, canonicalHash, createSerial, EffectError, messageOf, visibleLine } from "#base";
import { type Connection, connectServer, type Era } from "./connection.ts";
import { startDeadline, untilAborted } from "./deadline.ts";
import type { McpLog, McpWorld } from "./mcp-world.ts";
import type { ListedTool } from "./tool-list.ts";

const MAX_RESTARTS = 3;
const RESTART_WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
const GIVE_UP_AFTER = 5;
const COOL_DOWN_MS = 60 * 60 * 1_000;
/** For the handshake and the list of tools together. */
const CONNECT_TIMEOUT_MS = 30_000;
/** Servers announce a change several times in a row; it is read once. */
const CHANGE_PAUSE_MS = 300;
const MAX_REASON_CHARS = 500;

export interface McpServerState {
  readonly name: string;
  readonly state: "starting" | "ready" | "down" | "stopped";
  /** How many tools it has listed. */
  readonly tools: number;
  readonly era?: Era;
  readonly protocolVersion?: string;
  /** Since the session began. */
  readonly restarts: number;
  readonly lastError?: string;
}

export interface SupervisorParts {
  readonly server: McpServer;
  readonly world: McpWorld;
  readonly clock: Clock;
  readonly log: McpLog;
  onDown(event: { readonly name: string; readonly reason: string; readonly attempts: number }): void;
  /** The list of tools is another one than before. */
  onTools(): void;
}

export interface SupervisedServer {
  readonly server: McpServer;
  tools(): readonly ListedTool[];
  state(): McpServerState;
  /** Resolves when the first attempt to connect has ended, well or not. */
  start(): Promise<void>;
  /** Waits for an attempt that is under way. Rejects with `ServerUnavailable`. */
  connected(signal: AbortSignal): Promise<Connection>;
  /** Ends it and connects again, with a clean record. Resolves when that attempt has ended. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export function superviseServer(parts: SupervisorParts): SupervisedServer {
  const { server, clock } = parts;
  let state: McpServerState["state"] = "stopped";
  let life = new AbortController();
  let connection: Connection | undefined;
  let attempting: Promise<void> = Promise.resolve();
  let tools: readonly ListedTool[] = [];
  let toolsHash = canonicalHash("[]");
  let era: Era | undefined;
  let protocolVersion: string | undefined;
  let lastError: string | undefined;
  let nextTryMs: number | undefined;
  let readySinceMs: number | undefined;
  let failures = 0;
  let restarts = 0;
  /** When the restarts of the last minute were. */
  let recent: number[] = [];
  let isRereading = false;
  const serial = createSerial();

  function attempt(): Promise<void> {
    state = "starting";
    nextTryMs = undefined;
    attempting = connect(life.signal);
    return attempting;
  }

  async function connect(alive: AbortSignal): Promise<void> {
    const deadline = startDeadline(clock, CONNECT_TIMEOUT_MS, alive);
    let made: Connection | undefined;
    try {
      made = await connectServer({ ...parts, era, onToolsChanged: () => void reread(alive) }, deadline.signal);
      const listed = await untilAborted(made.listTools(deadline.signal), deadline.signal);
      if (alive.aborted) throw new Error("it was stopped");
      ready(made, listed, alive);
    } catch (error) {
      made?.kill("it could not be connected");
      if (!alive.aborted) failed(deadline.isOver() ? "it did not answer in time" : messageOf(error), alive);
    } finally {
      deadline.clear();
    }
  }

  function ready(made: Connection, listed: readonly ListedTool[], alive: AbortSignal): void {
    connection = made;
    ({ era, protocolVersion } = made);
    state = "ready";
    readySinceMs = clock.monotonicMs();
    publish(listed);
    void made.closed.then((reason) => {
      if (connection !== made) return;
      connection = undefined;
      failed(reason, alive);
    });
  }

  function publish(listed: readonly ListedTool[]): void {
    const hash = canonicalHash(JSON.stringify(listed));
    if (hash === toolsHash) return;
    toolsHash = hash;
    tools = listed;
    parts.onTools();
  }

  function failed(cause: string, alive: AbortSignal): void {
    // It may be in the words of the server.
    const reason = visibleLine(cause.slice(0, MAX_REASON_CHARS));
    const nowMs = clock.monotonicMs();
    if (readySinceMs !== undefined && nowMs - readySinceMs >= RESTART_WINDOW_MS) failures = 0;
    readySinceMs = undefined;
    failures += 1;
    lastError = reason;
    state = "down";
    if (failures >= GIVE_UP_AFTER) {
      parts.log(
        "error",
        `${server.name}: ${reason}. It is left alone for an hour after ${failures} failures in a row.`,
      );
      parts.onDown({ name: server.name, reason, attempts: failures });
      failures = 0;
      recent = [];
      void retryAfter(COOL_DOWN_MS, alive);
      return;
    }
    parts.log("warn", `${server.name}: ${reason}`);
    recent = recent.filter((atMs) => nowMs - atMs < RESTART_WINDOW_MS);
    const [oldestMs = nowMs] = recent;
    const isFull = recent.length >= MAX_RESTARTS;
    void retryAfter(isFull ? oldestMs + RESTART_WINDOW_MS - nowMs : FIRST_PAUSE_MS * 2 ** recent.length, alive);
  }

  async function retryAfter(ms: number, alive: AbortSignal): Promise<void> {
    nextTryMs = clock.monotonicMs() + ms;
    await clock.sleep(ms, alive);
    if (alive.aborted) return;
    recent.push(clock.monotonicMs());
    restarts += 1;
    await attempt();
  }

  async function reread(alive: AbortSignal): Promise<void> {
    if (isRereading) return;
    isRereading = true;
    await clock.sleep(CHANGE_PAUSE_MS, alive);
    isRereading = false;
    const current = connection;
    if (current === undefined || alive.aborted) return;
    const deadline = startDeadline(clock, CONNECT_TIMEOUT_MS, alive);
    try {
      const listed = await untilAborted(current.listTools(deadline.signal), deadline.signal);
      if (connection === current) publish(listed);
    } catch (error) {
      parts.log("warn", `${server.name}: its changed tools could not be read: ${messageOf(error)}`);
    } finally {
      deadline.clear();
    }
  }

  async function end(): Promise<void> {
    life.abort();
    const ended = connection;
    connection = undefined;
    await ended?.close();
    await attempting;
  }

  function unavailable(): EffectError {
    const waitMs = nextTryMs === undefined ? undefined : Math.max(0, nextTryMs - clock.monotonicMs());
    const when = waitMs === undefined ? "" : ` It is started again in ${Math.ceil(waitMs / 1_000)} s.`;
    const why = lastError ?? (state === "stopped" ? "it is not running" : "it is starting");
    return new EffectError("ServerUnavailable", `the MCP server '${server.name}' is not available: ${why}.${when}`);
  }

  return {
    server,
    tools: () => tools,
    state: () => ({
      name: server.name,
      state,
      tools: tools.length,
      ...(era !== undefined && { era }),
      ...(protocolVersion !== undefined && { protocolVersion }),
      restarts,
      ...(lastError !== undefined && { lastError }),
    }),
    start: attempt,
    async connected(signal) {
      if (state === "starting") await untilAborted(attempting, signal);
      if (connection === undefined) throw unavailable();
      return connection;
    },
    restart: () =>
      serial(async () => {
        await end();
        life = new AbortController();
        failures = 0;
        recent = [];
        restarts += 1;
        await attempt();
      }),
    stop: () =>
      serial(async () => {
        await end();
        state = "stopped";
        nextTryMs = undefined;
      }),
  };
}
