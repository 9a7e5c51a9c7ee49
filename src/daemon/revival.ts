/**
 * Brings the daemon of this user back when it was killed under a terminal that is attached to it, as it had been started. One that was
 * stopped in order stays stopped, and one that hangs is left to whoever starts the next.
 */
import { existsSync } from "node:fs";
import type { ProgramPorts } from "#program";
import { ReasonError } from "#protocol";
import { type DaemonClaim, type DaemonFacts, findClaim } from "./claim.ts";
import { ensureDaemon, type StartOptions } from "./ensure.ts";
import { type DaemonPorts, daemonPlaces, lookForDaemon } from "./state.ts";

/** Somebody, or a supervisor, started it in the foreground and may do so again. */
const FOREGROUND_PATIENCE_MS = 5_000;
/** One that is killed as often as this is killed by something that the next would not survive either. */
const MAX_REVIVALS = 8;
const REVIVALS_WITHIN_MS = 60_000;

export interface DaemonRevival {
  /** Before each try to reach it again. Rejects with DaemonFailed when it cannot be started, or was too often. */
  beforeRetry(): Promise<void>;
  /**
   * Which process is the daemon, or was the last: another one cannot begin what the one before was asked for. Undefined when none was
   * ever known.
   */
  process(): string | undefined;
}

export function createDaemonRevival(ports: DaemonPorts & Pick<ProgramPorts, "terminal">): DaemonRevival {
  const { clock, terminal } = ports;
  const places = daemonPlaces(ports.env);
  let known: DaemonFacts | undefined;
  let goneSinceMs: number | undefined;
  /** Events and commands wait for the same one. */
  let reviving: Promise<void> | undefined;
  let last: string | undefined;
  let revivedMs: readonly number[] = [];
  remember(findClaim(places.claims));

  function remember(claim: DaemonClaim | undefined): void {
    known = claim?.facts ?? known;
    if (claim !== undefined) last = `${claim.pid}.${claim.mark}`;
  }

  async function revive(): Promise<void> {
    const state = await lookForDaemon(ports);
    if (state.kind === "running") remember(state.claim);
    // The file with its token goes with a daemon that was told to stop.
    const before = state.kind === "none" && known && existsSync(known.tokenFile) ? startAgain(known) : undefined;
    if (before === undefined) {
      if (state.kind !== "none") goneSinceMs = undefined;
      return;
    }
    goneSinceMs ??= clock.monotonicMs();
    if (known?.background !== true && clock.monotonicMs() - goneSinceMs < FOREGROUND_PATIENCE_MS) return;
    const nowMs = clock.monotonicMs();
    revivedMs = [...revivedMs.filter((ms) => nowMs - ms < REVIVALS_WITHIN_MS), nowMs];
    if (revivedMs.length > MAX_REVIVALS) {
      const detail = `it was killed ${MAX_REVIVALS} times within a minute, so it is not restarted. ${places.output} may say why`;
      throw new ReasonError("DaemonFailed", detail);
    }
    terminal.err("The daemon was killed; restarting it.\n");
    await ensureDaemon(ports, undefined, before);
    goneSinceMs = undefined;
  }

  /** Undefined when it cannot be told how, or whether it was stopped: a token that was brought stays where it is. */
  function startAgain({ background, args, cwd }: DaemonFacts): StartOptions | undefined {
    if (args.some((arg) => arg.startsWith("--auth-token-file"))) return undefined;
    if (background) return { args, cwd };
    const [first, second, ...flags] = args;
    return first === "daemon" && second === "run" ? { args: withoutListen(flags, places.socket), cwd } : undefined;
  }

  return {
    beforeRetry() {
      reviving ??= revive().finally(() => {
        reviving = undefined;
      });
      return reviving;
    },
    process() {
      remember(findClaim(places.claims));
      return last;
    },
  };
}

/** One in the background listens on the usual socket anyway. */
function withoutListen(flags: readonly string[], socket: string): readonly string[] {
  const usual = `unix:${socket}`;
  return flags.filter(
    (flag, at) =>
      flag !== `--listen=${usual}` &&
      !(flag === "--listen" && flags[at + 1] === usual) &&
      !(flag === usual && flags[at - 1] === "--listen"),
  );
}
