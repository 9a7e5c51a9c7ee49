/** `harness daemon run`: the engine as a service, until it is told to stop or, in the background, nobody needs it. */

import { rmSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import type { OperationLog } from "#logs";
import {
  closeProgram,
  type DaemonSeen,
  type EventWatch,
  type LogFlags,
  openProgram,
  openServiceLog,
  type ProgramPorts,
  type RunFlags,
  tellOffline,
} from "#program";
import { ReasonError, storeFailure } from "#protocol";
import { isLoopback } from "#transports/http";
import { type AccessFlags, type DaemonAccess, openDaemonAccess } from "./access.ts";
import { httpBackend } from "./backend.ts";
import { claimDaemon, type DaemonFacts, type HeldClaim } from "./claim.ts";
import { createDuties } from "./duties.ts";
import { ensureDaemon } from "./ensure.ts";
import { watchIdleness } from "./idle.ts";
import { createDaemonObserver } from "./observer.ts";
import { probeDaemon } from "./probe.ts";
import { UPDATED_TEXT } from "./program-files.ts";
import { type DaemonPlaces, daemonPlaces } from "./state.ts";
import {
  type DaemonAddress,
  daemonAddressText,
  parseDaemonAddress,
  type RunningTransports,
  startTransports,
} from "./transports.ts";

/** By how much the heap of a daemon grows over what is alive before it is collected. V8 alone lets it grow fourfold. */
const HEAP_GROWING_PERCENT = 40;
/** From the first signal to the end; half of it belongs to running turns. */
const STOP_GRACE_MS = 10_000;
const MINUTE_MS = 60_000;
/** For running turns of a daemon whose program was replaced: they have all that they need, and nobody is in a hurry. */
const REPLACED_PATIENCE_MS = 10 * MINUTE_MS;

export interface DaemonRunFlags extends RunFlags, LogFlags, AccessFlags {
  readonly listen?: readonly string[];
  readonly allowOrigin?: readonly string[];
  /** As `daemon start` runs it. */
  readonly background?: boolean;
}

/**
 * 0 when it was told to stop or nobody needs it; 1 in the foreground when its program was replaced, so that a supervisor starts it
 * again. The first signal lets running turns end and takes no new ones; the second, which follows by itself,
 * cancels them.
 */
export async function daemonRunCommand(ports: ProgramPorts, flags: DaemonRunFlags): Promise<0 | 1> {
  const { log, watch } = await openServiceLog(ports, flags);
  const places = daemonPlaces(ports.env);
  const listen = listenAddresses(places, flags.listen);
  const access = openDaemonAccess(ports, flags, listen);
  const facts: DaemonFacts = {
    version: ports.build.version,
    commit: ports.build.commit,
    builtAt: ports.build.builtAt,
    startedAt: new Date(ports.clock.now()).toISOString(),
    startedUpMs: ports.clock.uptimeMs(),
    addresses: [],
    tokenFile: access.tokenFile,
    args: flags.background === true ? givenArgs(ports.args) : ports.args,
    cwd: ports.cwd,
    background: flags.background === true,
  };
  const stage = log.of("daemon");
  stage.info("stage", { stage: "begin", version: facts.version, commit: facts.commit });
  // The daemon is who has the usual socket; others are servers of their own.
  const isDaemon = listen.some((address) => address.kind === "unix" && address.path === places.socket);
  let claim: HeldClaim | undefined;
  try {
    if (isDaemon) claim = await becomeDaemon(ports, places, facts);
    stage.info("stage", { stage: "claimed", is_daemon: isDaemon });
    return await serve({ ports, flags, log, watch, listen, access, facts, claim });
  } catch (error) {
    stage.error("could not run", { problem: await ports.outward.describe(error) });
    throw error;
  } finally {
    claim?.release();
    stage.info("stage", { stage: "ended" });
  }
}

/** Throws DaemonFailed when there is one already. A socket that nobody answers on is then nobody's. */
async function becomeDaemon(ports: ProgramPorts, places: DaemonPlaces, facts: DaemonFacts): Promise<HeldClaim> {
  const claimed = await claimDaemon(places.claims, facts, ports.clock).catch((error: unknown) => {
    throw storeFailure(error) ?? error;
  });
  if ("by" in claimed) {
    throw new ReasonError(
      "DaemonFailed",
      `another daemon already has the socket (process ${claimed.by.pid}). See harness daemon status`,
    );
  }
  if ((await probeDaemon(places.socket, undefined)).kind === "silent") rmSync(places.socket, { force: true });
  return claimed.held;
}

interface Serving {
  readonly ports: ProgramPorts;
  readonly flags: DaemonRunFlags;
  readonly log: OperationLog;
  readonly watch: EventWatch;
  readonly listen: readonly DaemonAddress[];
  readonly access: DaemonAccess;
  readonly facts: DaemonFacts;
  readonly claim: HeldClaim | undefined;
}

async function serve({ ports, flags, log, watch, listen, access, facts, claim }: Serving): Promise<0 | 1> {
  const { terminal, clock } = ports;
  const stage = log.of("daemon");
  let seen: DaemonSeen | undefined;
  const opened = await openProgram(ports, {
    flags,
    offlineAllowed: true,
    isService: true,
    isOverWire: true,
    foldersNamed: true,
    async startDaemon() {
      if (claim === undefined) await ensureDaemon(ports);
    },
    watch,
    daemonSeen: () => seen,
    projectLater: flags.background === true,
    // With these a command could answer for a person.
    ownPaths: [...listen.flatMap((address) => (address.kind === "unix" ? [address.path] : [])), ...access.secretFiles],
  });
  const { harness, settings } = opened;
  tellOffline(ports, harness);
  stage.info("stage", { stage: "opened", store: flags.store, model: harness.model, sandbox: settings.sandbox });
  ports.credentials.onCrash(({ state, crashes, detail }) =>
    log.of("credentials")[state === "failed" ? "error" : "warn"]("the helper died", { state, crashes, detail }),
  );
  const stopped = Promise.withResolvers<"signal" | "idle" | "replaced">();
  const signalled = new AbortController();
  let signals = 0;
  const stopListening = terminal.onInterrupt(() => {
    signals += 1;
    signalled.abort();
    stopped.resolve("signal");
    if (signals > 1) cancelTurns();
  });
  function cancelTurns(): void {
    for (const { id } of harness.control.sessions()) harness.control.session(id)?.cancel({ reason: "shutdown" });
  }
  /** No turn begins from now on. Those that run have time, unless somebody stops the daemon meanwhile. */
  async function endOfTurns(): Promise<void> {
    const next = facts.background ? "The next harness command starts the new one." : "Start it again.";
    stage.warn(`${UPDATED_TEXT}; it ends now`);
    terminal.err(`${UPDATED_TEXT}; it ends now. ${next}\n`);
    const over = new AbortController();
    const drained = harness.control.drain().finally(() => over.abort());
    await clock.sleep(REPLACED_PATIENCE_MS, AbortSignal.any([over.signal, signalled.signal]));
    if (!over.signal.aborted && !signalled.signal.aborted) cancelTurns();
    // Whoever stops it cancels turns in their own time.
    if (!signalled.signal.aborted) await drained;
  }
  ports.endsWhenStopped(STOP_GRACE_MS, { outlivesOutput: true });
  // It runs for days: garbage is collected before it has grown to several times of what is alive.
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const observer = createDaemonObserver(log, clock);
  const onReplaced = (): void => stopped.resolve("replaced");
  const duties = createDuties({ ports, harness, settings, log, store: flags.store, onReplaced });
  let server: RunningTransports | undefined;
  let stopWatching = (): void => undefined;
  try {
    const listeners = (): readonly string[] => server?.addresses.map(daemonAddressText) ?? [];
    seen = { watch, log, store: flags.store, retention: duties.retention, listeners };
    const backend = await httpBackend(ports, harness, settings, seen);
    server = await startTransports(
      { backend, access, clock, observer, allowedOrigins: flags.allowOrigin ?? [] },
      listen,
      harness.transports,
    );
    const revoked = access.begin();
    if (revoked.length > 0) log.of("auth").warn("tokens of runs that ended without revoking them", { revoked });
    const addresses = listeners();
    claim?.ready({ ...facts, addresses });
    stage.info("stage", { stage: "ready", addresses });
    // Where it was started is not its business any more, and may go away.
    if (facts.background) process.chdir("/");
    for (const address of server.addresses) {
      const isSecured = address.kind === "tcp" && !isLoopback(address.host);
      terminal.err(`listening on ${daemonAddressText(address)}${isSecured ? " with TLS" : ""}\n`);
    }
    terminal.err(`${harness.model} · the token is in ${access.tokenFile}\n`);
    stopWatching = watchIdleness({
      clock,
      control: harness.control,
      streams: observer.streams,
      lastAskedMs: observer.lastAskedMs,
      isAwaited: duties.isAwaited,
      isPinned: async (id) => (await harness.store.get(id))?.pinned === true,
      sessionIdleMs: settings.daemon.sessionIdleMinutes * MINUTE_MS,
      ...(flags.background === true ? { daemonIdleMs: settings.daemon.idleMinutes * MINUTE_MS } : {}),
      onIdle: () => stopped.resolve("idle"),
      onFailure: (failure, session) =>
        void ports.outward
          .describe(failure)
          .then((problem) => log.of("engine").error("the idle watch failed", { session, problem })),
    });
    duties.begin({ isDaemon: claim !== undefined });
    const why = await stopped.promise;
    duties.stop();
    if (why === "replaced") await endOfTurns();
    claim?.ending();
    stage.info("stage", { stage: "drain", why, running: harness.control.sessions().filter(({ turn }) => turn).length });
    terminal.err("stopping: waiting for running turns, refusing new ones\n");
    server.stopAccepting();
    await harness.control.drain();
    await duties.settled();
    stage.info("stage", { stage: "drained" });
    return why === "replaced" && !facts.background ? 1 : 0;
  } finally {
    duties.stop();
    stopWatching();
    try {
      await closeProgram(ports, opened, flags);
    } finally {
      // Also when the end of a session could not be stored: what still listens keeps the process.
      await server?.close();
      // Not before: streams are to end because the daemon stops, and not because their token does.
      access.end();
      stopListening();
    }
  }
}

function listenAddresses({ socket }: DaemonPlaces, given: readonly string[] | undefined): readonly DaemonAddress[] {
  return (given ?? [`unix:${socket}`]).map(parseDaemonAddress);
}

/** Of `daemon run --background --listen unix:… --cwd …` what came after, which is what somebody gave to `daemon start`. */
function givenArgs(args: readonly string[]): readonly string[] {
  return args.slice(START_ARGS);
}

const START_ARGS = ["daemon", "run", "--background", "--listen", "unix:", "--cwd", "/"].length;
