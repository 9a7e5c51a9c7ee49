/**
 * The engine's side of the credential helper: starts it, notices when it died or hangs, starts it again once, and gives up
 * when that does not help. While there is no helper, no request with a key is sent.
 */

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { type Clock, defined, diskTrouble, messageOf, type SecretFingerprint } from "#base";
import { createLineSplitter } from "#wire";
import { type OwnProcess, proxyVariables, startMark, startOwnProcess } from "#world";
import { encodeFrame, HEARTBEAT, HEARTBEAT_MS, type HelperAnswer, type HelperCommand } from "./helper-frames.ts";

/** Three heartbeats that did not come. */
const HEARTBEAT_LOST_MS = 3 * HEARTBEAT_MS;
/** This many crashes within the window are no accident. */
const MAX_CRASHES = 2;
const CRASH_WINDOW_MS = 60_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const PASS_BYTES = 32;

export type HelperState = "not started" | "starting" | "running" | "failed" | "closed";

export interface HelperStatus {
  readonly state: HelperState;
  /** Absent while there is none. */
  readonly pid?: number;
  /** How often it died since the program began. */
  readonly crashes: number;
  /** What it said last before it died. */
  readonly detail?: string;
}

export type Bind = Extract<HelperCommand, { type: "bind" | "remote" | "login" }>;

/** How a request reaches the helper, or why it does not. */
export type HelperRoute =
  | { readonly type: "ready"; readonly socketPath: string; readonly pass: string }
  | { readonly type: "refused"; readonly problem: string; readonly detail: string }
  | { readonly type: "failed"; readonly detail: string };

export interface HelperSupervisor {
  /** Begins to start it, if it was not; returns at once. */
  start(): void;
  /** Hands a secret over and wipes it here. Only after `start`. */
  give(id: string, secret: Buffer): void;
  /** For this helper and every one after it. */
  bind(command: Bind): void;
  /** Has the helper open the file of stored credentials, so that it can tell what is in it. Only after `start`. */
  openStore(): void;
  /** Resolves when everybody was told of all that the helper was given so far and of what `ids` are bound to, or cannot be told. */
  told(ids: readonly string[]): Promise<void>;
  /** Why stored keys could not be told; undefined when they were, or there are none. */
  untold(): string | undefined;
  /** Without a name: only whether the helper is there. */
  route(id: string | undefined): Promise<HelperRoute>;
  status(): HelperStatus;
  close(): void;
}

export interface SupervisorOptions {
  /** The helper's entry. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Asked when a stored credential is bound: the file and the key that opens it. */
  readonly store: () => { readonly path: string; readonly key: Uint8Array };
  /** Told of each key that the helper has begun to use. */
  readonly onSecret?: (fingerprint: SecretFingerprint) => void;
  /** The helper died; its status says what follows. */
  readonly onCrash?: (status: HelperStatus) => void;
  /** Calls `run` every so often, without keeping the program alive; returns how to stop. */
  readonly every?: (ms: number, run: () => void) => () => void;
}

interface Generation {
  readonly process: OwnProcess;
  readonly ready: Deferred<string>;
  readonly bound: Map<string, Deferred<HelperAnswer>>;
  /** Asked for and not answered, in order. */
  readonly syncs: Deferred<true>[];
  /** That it has told what it was given; absent when it was given more since. */
  told: Promise<true | undefined> | undefined;
  /** Resolves when its death was noticed. */
  readonly ended: PromiseWithResolvers<void>;
  lastBeatMs: number;
}

export function createHelperSupervisor(options: SupervisorOptions): HelperSupervisor {
  const { clock } = options;
  const binds = new Map<string, Bind>();
  const pass = randomBytes(PASS_BYTES).toString("hex");
  const recoveryKey = randomBytes(32);
  let state: HelperState = "not started";
  let folder = "";
  let current: Generation | undefined;
  let crashedMs: number[] = [];
  let crashes = 0;
  let detail: string | undefined;
  let usesStore = false;
  let untold: string | undefined;
  let stopWatching = (): void => undefined;
  const decoder = new TextDecoder();
  const removeFolder = (): void => {
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
  };

  const send = (generation: Generation, command: HelperCommand, body?: Uint8Array): void => {
    const frame = encodeFrame(command, body);
    generation.process.stdin.write(frame, () => frame.fill(0));
  };

  function launch(): void {
    state = "starting";
    const generation: Generation = {
      process: startOwnProcess(
        { file: options.file, nodeFlags: ["--disable-sigusr1"], env: helperEnvironment(options.env) },
        () => died(generation),
      ),
      ready: createDeferred(),
      bound: new Map(),
      syncs: [],
      told: undefined,
      ended: Promise.withResolvers(),
      lastBeatMs: clock.monotonicMs(),
    };
    current = generation;
    readAnswers(generation);
    send(generation, { type: "hello", pass, folder, proxy: proxyVariables(options.env) });
    send(generation, { type: "recovery" }, recoveryKey);
    if (usesStore) untold = sendStore(generation);
    for (const bind of binds.values()) sendBind(generation, bind);
  }

  /** A key that cannot be worked out is told to whoever needs it. */
  function sendStore(generation: Generation): string | undefined {
    try {
      const { path, key } = options.store();
      send(generation, { type: "store", path }, key);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  function sendBind(generation: Generation, bind: Bind): void {
    const answer = createDeferred<HelperAnswer>();
    generation.bound.set(bind.id, answer);
    const problem = usesStoredSecret(bind) ? sendStore(generation) : undefined;
    if (problem === undefined) send(generation, bind);
    else answer.resolve({ type: "refused", id: bind.id, problem: "wrong-key", detail: problem });
  }

  function readAnswers(generation: Generation): void {
    const lines = createLineSplitter(MAX_ANSWER_BYTES);
    generation.process.stdout.on("data", (chunk: Buffer) => {
      generation.lastBeatMs = clock.monotonicMs();
      for (const line of lines.push(chunk.filter((byte) => byte !== HEARTBEAT))) {
        if ("tooLong" in line) return generation.process.kill();
        take(generation, JSON.parse(decoder.decode(line.bytes)) as HelperAnswer); // written by our own helper
      }
    });
  }

  function take(generation: Generation, answer: HelperAnswer): void {
    switch (answer.type) {
      case "ready":
        if (generation === current && state === "starting") state = "running";
        generation.ready.resolve(answer.socket);
        break;
      case "bound":
      case "refused":
        generation.bound.get(answer.id)?.resolve(answer);
        break;
      case "synced":
        generation.syncs.shift()?.resolve(true);
        break;
      case "known":
        options.onSecret?.(answer.fingerprint);
        break;
      case "untold":
        if (generation === current) untold ??= answer.detail;
        break;
      case "failed":
        detail = answer.detail;
        generation.process.kill();
        break;
    }
  }

  function died(generation: Generation): void {
    generation.ready.resolve(undefined);
    for (const answer of generation.bound.values()) answer.resolve(undefined);
    for (const sync of generation.syncs) sync.resolve(undefined);
    if (generation !== current || state === "closed") return;
    current = undefined;
    const said = generation.process.errors().trim();
    if (said !== "") detail = said.split("\n").slice(-1)[0];
    crashes += 1;
    const nowMs = clock.monotonicMs();
    crashedMs = [...crashedMs.filter((ms) => nowMs - ms < CRASH_WINDOW_MS), nowMs];
    if (crashedMs.length < MAX_CRASHES) launch();
    else {
      state = "failed";
      detail ??= `it ended ${MAX_CRASHES} times within a minute and is not restarted: restart harness`;
      stopWatching();
      removeFolder();
    }
    generation.ended.resolve();
    options.onCrash?.(status());
  }

  const status = (): HelperStatus => ({
    state,
    crashes,
    ...defined({ pid: current?.process.pid, detail }),
  });

  /** A helper that hangs is one that died, only that nobody has told us. */
  function watch(): void {
    // What came while this process was busy is read first.
    setImmediate(() => {
      if (current !== undefined && clock.monotonicMs() - current.lastBeatMs > HEARTBEAT_LOST_MS) {
        detail = "it stopped answering";
        current.process.kill();
      }
    });
  }

  /** Resolves when the helper has done all that it was told before, to nothing when it is dead. */
  async function sync(generation: Generation): Promise<true | undefined> {
    if (generation !== current) return undefined;
    const answer = createDeferred<true>();
    generation.syncs.push(answer);
    send(generation, { type: "sync" });
    return answer.promise;
  }

  async function reach(id: string | undefined): Promise<HelperRoute> {
    while (current !== undefined) {
      const generation = current;
      const answered = generation.process.awaitAnswer();
      try {
        const socketPath = await generation.ready.promise;
        if (socketPath === undefined) continue; // it died: the next one, if there is one
        const bound = id === undefined ? undefined : generation.bound.get(id);
        if (bound === undefined && id !== undefined) return { type: "failed", detail: "it does not know this key" };
        const answer = await bound?.promise;
        if (bound !== undefined && answer === undefined) continue;
        if (answer?.type === "refused") return answer;
        // A connection can break before we are told that the process has ended: whoever asks again then gets the next one.
        if (generation.process.stdout.readableEnded || isOver(generation.process.pid)) {
          await generation.ended.promise;
          continue;
        }
        // One that was killed is gone before the system says so; whoever came meanwhile would knock at a dead socket.
        if ((await sync(generation)) === undefined) continue;
        return { type: "ready", socketPath, pass };
      } finally {
        answered();
      }
    }
    return { type: "failed", detail: detail ?? (state === "closed" ? "it was closed" : "it could not be started") };
  }

  return {
    start() {
      if (state !== "not started") return;
      try {
        folder = makeSocketFolder(options.env);
      } catch (error) {
        // Whoever needs a key is told; everybody else goes on without.
        state = "failed";
        detail = `it has no place for its socket: ${messageOf(error)}`;
        return;
      }
      process.on("exit", removeFolder);
      launch();
      stopWatching = (options.every ?? unreferencedInterval)(HEARTBEAT_MS, watch);
    },
    give(id, secret) {
      if (current !== undefined) {
        send(current, { type: "secret", id }, secret);
        current.told = undefined;
      }
      secret.fill(0);
    },
    bind(command) {
      if (binds.has(command.id)) return;
      binds.set(command.id, command);
      if (current !== undefined) sendBind(current, command);
    },
    openStore() {
      if (!usesStore && current !== undefined) {
        untold = sendStore(current);
        current.told = undefined;
      }
      usesStore = true;
    },
    async told(ids) {
      while (current !== undefined) {
        const generation = current;
        const answered = generation.process.awaitAnswer();
        try {
          generation.told ??= sync(generation);
          const bound = ids.flatMap((id) => generation.bound.get(id)?.promise ?? []);
          // The one that died took its answers with it: the next is asked, if there is one.
          if (!(await Promise.all([generation.told, ...bound])).includes(undefined)) return;
        } finally {
          answered();
        }
      }
    },
    untold: () => untold,
    route: reach,
    status,
    close() {
      if (state === "not started" || state === "closed") return;
      state = "closed";
      stopWatching();
      process.off("exit", removeFolder);
      // It ends when its input does, and takes its folder away.
      current?.process.stdin.end();
      current = undefined;
      removeFolder();
    },
  };
}

function usesStoredSecret(bind: Bind): boolean {
  if (bind.type === "bind") return "provider" in bind.from;
  return bind.type === "login" || bind.login !== undefined;
}

/** False where the system does not tell. */
function isOver(pid: number | undefined): boolean {
  return process.platform === "linux" && pid !== undefined && startMark(pid) === undefined;
}

/** In the folder for such things, or where that has no room in the one for temporary files. */
function makeSocketFolder(env: SupervisorOptions["env"]): string {
  const wanted = runtimeFolder(env);
  try {
    return mkdtempSync(join(wanted, "harness-"));
  } catch (error) {
    if (diskTrouble(error) === undefined || wanted === tmpdir()) throw error;
    return mkdtempSync(join(tmpdir(), "harness-"));
  }
}

/**
 * Private to the user where the system has such a place. A variable that was left over from another user, or names a folder that
 * others can write to, does not count: whoever can rename our folder could put a socket of theirs in its place.
 */
function runtimeFolder(env: SupervisorOptions["env"]): string {
  const given = env.XDG_RUNTIME_DIR;
  if (given === undefined || !isAbsolute(given) || given.length >= MAX_RUNTIME_CHARS) return tmpdir();
  const info = statSync(given, { throwIfNoEntry: false });
  const isOurs = info?.isDirectory() === true && info.uid === process.getuid?.() && (info.mode & OTHERS_WRITE) === 0;
  return isOurs ? given : tmpdir();
}

const OTHERS_WRITE = 0o022;
/** The name of a socket has about a hundred characters, all folders included. */
const MAX_RUNTIME_CHARS = 60;

/** What the helper's own start and TLS need, and what leads to the keychain of the user. No key is among it. */
const PASSED_ON = (
  "DBUS_SESSION_BUS_ADDRESS DISPLAY HOME LANG NODE_COMPILE_CACHE NODE_EXTRA_CA_CERTS PATH SSL_CERT_DIR " +
  "SSL_CERT_FILE WAYLAND_DISPLAY XDG_RUNTIME_DIR"
).split(" ");

function helperEnvironment(env: SupervisorOptions["env"]): Record<string, string> {
  return Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

function unreferencedInterval(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  timer.unref();
  return () => clearInterval(timer);
}

/** Resolves with undefined when the helper died before it answered. */
interface Deferred<Value> {
  readonly promise: Promise<Value | undefined>;
  resolve(value: Value | undefined): void;
}

function createDeferred<Value>(): Deferred<Value> {
  const { promise, resolve } = Promise.withResolvers<Value | undefined>();
  return { promise, resolve };
}
