/**
 * A server that is kept running: connected, restarted with growing pauses when it ends, and left alone for an hour after five
 * failures in a row. The tools that it listed last stay known while it is down.
 */
import type { McpServer } from "#artifacts";
import { createSerial, defined, EffectError, messageOf, type ServerPrompt, visibleLine } from "#base";
import { ReasonError } from "#protocol";
import { createApprovedTools, isSameList, type ListedTools } from "./approved-tools.ts";
import { type Connection, type ConnectOptions, connectServer, type Era } from "./connection.ts";
import { startDeadline, untilAborted } from "./deadline.ts";
import { keepsNothing, type ToolKeeper } from "./kept-tools.ts";
import type { ListedTool } from "./tool-list.ts";
import { openWriting, type WritingServer } from "./writing-server.ts";

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
  /** `idle`: it was not needed yet, and its tools are known from an earlier connection. */
  readonly state: "idle" | "starting" | "ready" | "down" | "stopped";
  /** How many of its tools may be offered. */
  readonly tools: number;
  /** How many have changed and wait for approval. */
  readonly waiting: number;
  readonly era?: Era;
  readonly protocolVersion?: string;
  /** Since the session began. */
  readonly restarts: number;
  readonly lastError?: string;
  /** Of a server that must not start: a stable code. */
  readonly reason?: string;
}

export interface SupervisorParts extends Pick<ConnectOptions, "server" | "world" | "clock" | "log" | "root" | "hurry"> {
  onDown(event: { readonly name: string; readonly reason: string; readonly attempts: number }): void;
  /** It must not start; trying again does not help. */
  onRefused?(problem: { readonly reason: string; readonly message: string }): void;
  /** The list of tools is another one than before. */
  onTools(): void;
  onResourceUpdated(uri: string): void;
  /** What was approved of its tools; absent: that is not kept. */
  readonly keeper?: ToolKeeper;
}

/** What a server has, as it said last. */
export interface ServerOffer {
  readonly tools: readonly ListedTool[];
  readonly hasResources: boolean;
  /** Absent where it offers none at all; empty until they were listed for the first time. */
  readonly prompts?: readonly ServerPrompt[];
}

export interface SupervisedServer {
  readonly server: McpServer;
  /** What may be offered. */
  offer(): ServerOffer;
  /** Tools that have changed since they were approved. */
  waiting(): readonly ListedTool[];
  state(): McpServerState;
  /** Its tools are known without connecting it. */
  isKnown(): boolean;
  /** Whether it would start as it was approved, without starting it. Why not, if it would not; it is down then. */
  check(): Promise<ReasonError | undefined>;
  /** Somebody may have approved what waits. */
  lookAgain(): void;
  /** Begins, unless it has begun. Resolves when the attempt that is under way has ended, well or not. */
  start(): Promise<void>;
  /** Begins, unless it has begun, and waits for an attempt that is under way. Rejects with `ServerUnavailable`. */
  connected(signal: AbortSignal): Promise<Connection>;
  /** Another process of it, for one call that may change the workspace. Rejects as `connected` does; whoever asks for it closes it. */
  writing(signal: AbortSignal): Promise<WritingServer>;
  /** Ends it and connects again, with a clean record; once for all who ask meanwhile. Resolves when that attempt has ended. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A list of a server that it may announce as changed. */
interface Reread {
  readonly name: string;
  /** Resolves to what puts the list into its place. */
  read(current: Connection, signal: AbortSignal): Promise<() => void>;
}

export function superviseServer(parts: SupervisorParts): SupervisedServer {
  const { server, clock } = parts;
  const approved = createApprovedTools(server, parts.keeper ?? keepsNothing, clock);
  let state: McpServerState["state"] = approved.known === undefined ? "stopped" : "idle";
  let life = new AbortController();
  let connection: Connection | undefined;
  let attempting: Promise<void> = Promise.resolve();
  let { hasResources, prompts } = approved.besides;
  let { offered: tools, waiting }: ListedTools = approved.known ?? { offered: [], waiting: [] };
  let era: Era | undefined;
  let protocolVersion: string | undefined;
  let lastError: string | undefined;
  let refusal: string | undefined;
  let nextTryMs: number | undefined;
  let readySinceMs: number | undefined;
  let failures = 0;
  let restarts = 0;
  /** When the restarts of the last minute were. */
  let recent: number[] = [];
  const rereading = new Set<Reread>();
  const serial = createSerial();
  let restarting: Promise<void> | undefined;

  function start(): Promise<void> {
    return state === "idle" || (state === "stopped" && !life.signal.aborted) ? attempt() : attempting;
  }

  function attempt(): Promise<void> {
    state = "starting";
    refusal = undefined;
    nextTryMs = undefined;
    attempting = connect(life.signal);
    return attempting;
  }

  async function connect(alive: AbortSignal): Promise<void> {
    const deadline = startDeadline(clock, CONNECT_TIMEOUT_MS, alive);
    let made: Connection | undefined;
    try {
      const onToolsChanged = () => void reread(readAgain.tools, alive);
      const onPromptsChanged = () => void reread(readAgain.prompts, alive);
      made = await connectServer({ ...parts, era, onToolsChanged, onPromptsChanged }, deadline.signal);
      const listed = await untilAborted(made.listTools(deadline.signal), deadline.signal);
      if (alive.aborted) throw new Error("it was stopped");
      ready(made, listed, alive);
    } catch (error) {
      made?.kill("it could not be connected");
      if (error instanceof ReasonError) {
        refused(error);
        parts.onRefused?.({ reason: error.reason, message: error.message });
      } else if (!alive.aborted) failed(deadline.isOver() ? "it did not answer in time" : messageOf(error), alive);
    } finally {
      deadline.clear();
    }
  }

  function ready(made: Connection, listed: readonly ListedTool[], alive: AbortSignal): void {
    connection = made;
    ({ era, protocolVersion } = made);
    state = "ready";
    readySinceMs = clock.monotonicMs();
    publish(approved.update(listed));
    const { resources, prompts: offersPrompts } = made.client.getServerCapabilities() ?? {};
    publishBesides(resources !== undefined, offersPrompts && (prompts ?? []));
    // Nobody waits for them: tools come first.
    if (offersPrompts !== undefined) void readNow(readAgain.prompts, made, alive);
    void made.closed.then((reason) => {
      if (connection !== made) return;
      connection = undefined;
      failed(reason, alive);
    });
  }

  function publish(next: ListedTools): void {
    if (isSameList(next.offered, tools) && isSameList(next.waiting, waiting)) return;
    const isNews = !isSameList(next.waiting, waiting);
    tools = next.offered;
    waiting = next.waiting;
    parts.onTools();
    if (!isNews || waiting.length === 0) return;
    parts.log("warn", `${server.name}: ${waiting.length} changed tools wait for: harness mcp approve ${server.name}`);
  }

  function publishBesides(offersResources: boolean, listed: ServerOffer["prompts"]): void {
    const isNews = offersResources !== hasResources || (listed === undefined) !== (prompts === undefined);
    hasResources = offersResources;
    prompts = listed;
    approved.updateBesides({ hasResources, ...defined({ prompts }) });
    // Its tools are others; the prompts themselves are read whenever somebody types.
    if (isNews) parts.onTools();
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
        `${server.name}: ${reason}. After ${failures} failures in a row, Harness waits an hour before it tries again.`,
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

  /** What was approved is not what would start: only a person can change that. */
  function refused({ reason, message }: ReasonError): void {
    state = "down";
    lastError = message;
    refusal = reason;
    parts.log("error", message);
  }

  async function check(): Promise<ReasonError | undefined> {
    const { connection: entry } = server;
    if (entry.kind !== "stdio" || state !== "idle") return undefined;
    try {
      await parts.world.check?.({ ...server, connection: entry });
    } catch (error) {
      if (!(error instanceof ReasonError)) return undefined; // starting it says what is wrong
      refused(error);
      return error;
    }
    return undefined;
  }

  async function retryAfter(ms: number, alive: AbortSignal): Promise<void> {
    nextTryMs = clock.monotonicMs() + ms;
    await clock.sleep(ms, alive);
    if (alive.aborted) return;
    recent.push(clock.monotonicMs());
    restarts += 1;
    await attempt();
  }

  async function reread(what: Reread, alive: AbortSignal): Promise<void> {
    if (rereading.has(what)) return;
    rereading.add(what);
    await clock.sleep(CHANGE_PAUSE_MS, alive);
    rereading.delete(what);
    if (connection !== undefined && !alive.aborted) await readNow(what, connection, alive);
  }

  async function readNow({ name, read }: Reread, current: Connection, alive: AbortSignal): Promise<void> {
    const deadline = startDeadline(clock, CONNECT_TIMEOUT_MS, alive);
    try {
      const take = await untilAborted(read(current, deadline.signal), deadline.signal);
      if (connection === current) take();
    } catch (error) {
      if (connection !== current || alive.aborted) return;
      const why = visibleLine(messageOf(error).slice(0, MAX_REASON_CHARS));
      parts.log("warn", `${server.name}: its ${name} could not be read: ${why}`);
    } finally {
      deadline.clear();
    }
  }

  const readAgain = {
    tools: {
      name: "changed tools",
      async read(current: Connection, signal: AbortSignal) {
        const listed = await current.listTools(signal);
        return () => publish(approved.update(listed));
      },
    },
    prompts: {
      name: "prompts",
      async read(current: Connection, signal: AbortSignal) {
        const listed = await current.listPrompts(signal);
        return () => publishBesides(hasResources, listed);
      },
    },
  } satisfies Readonly<Record<string, Reread>>;

  async function end(): Promise<void> {
    life.abort();
    const ended = connection;
    connection = undefined;
    await ended?.close();
    await attempting;
  }

  function unavailable(): EffectError {
    const waitMs = nextTryMs === undefined ? undefined : Math.max(0, nextTryMs - clock.monotonicMs());
    const when = waitMs === undefined ? "" : ` Harness starts it again in ${Math.ceil(waitMs / 1_000)} s.`;
    const why = lastError ?? (state === "stopped" ? "it is not running" : "it is starting");
    return new EffectError("ServerUnavailable", `the MCP server '${server.name}' is not available: ${why}.${when}`);
  }

  return {
    server,
    offer: () => ({ tools, hasResources, ...defined({ prompts }) }),
    waiting: () => waiting,
    isKnown: () => approved.known !== undefined,
    check,
    lookAgain() {
      if (waiting.length > 0) publish(approved.again());
    },
    state: () => ({
      name: server.name,
      state,
      tools: tools.length,
      waiting: waiting.length,
      ...(era !== undefined && { era }),
      ...(protocolVersion !== undefined && { protocolVersion }),
      restarts,
      ...(lastError !== undefined && { lastError }),
      ...(refusal !== undefined && { reason: refusal }),
    }),
    start,
    async connected(signal) {
      if (state === "idle") await untilAborted(start(), signal);
      if (state === "starting") await untilAborted(attempting, signal);
      if (connection === undefined) throw unavailable();
      return connection;
    },
    async writing(signal) {
      await this.connected(signal);
      return openWriting({ ...parts, era }, signal);
    },
    restart() {
      // Sessions that share it may ask at the same time.
      restarting ??= serial(async () => {
        await end();
        life = new AbortController();
        failures = 0;
        recent = [];
        restarts += 1;
        await attempt();
      }).finally(() => {
        restarting = undefined;
      });
      return restarting;
    },
    stop: () =>
      serial(async () => {
        await end();
        state = "stopped";
        nextTryMs = undefined;
      }),
  };
}
