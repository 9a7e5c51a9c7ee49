/**
 * The token of one run of the daemon, in a file that only its owner can read, so that clients of this machine find it. It is renewed
 * while the daemon runs and revoked when it stops; one of a daemon that was killed is revoked by the next that starts. The daemon judges
 * its own tokens on the monotonic clock, so that no step of the wall clock locks its owner out; a step also renews the token, so that
 * its claims fit the clock again.
 */

import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { CLOCK_LEEWAY_SECONDS, type MintedToken, type TokenRecords, type TokenRun, type TokenTimes } from "#auth";
import { type Clock, defined, messageOf } from "#base";
import { ReasonError, storeFailure, type TokenId } from "#protocol";
import {
  isSameProcess,
  makePrivateDirectory,
  processPlace,
  readPrivateFile,
  rewritePrivateFile,
  startMark,
  writePrivateFile,
} from "#world";

export const RUN_TTL_SECONDS = 24 * 60 * 60;
/** Long before the end of the one that is there, so that whoever reads the file has hours left. */
export const RENEW_MS = 12 * 60 * 60 * 1000;
/** Between two looks whether the clock has stepped; also the pause after a token that could not be written. */
export const LOOK_MS = 60_000;

export interface RunTokenOptions {
  readonly path: string;
  readonly mint: () => MintedToken;
  readonly records: Pick<TokenRecords, "endRun">;
  readonly times: Pick<TokenTimes, "ownRun" | "forgetRun">;
  readonly clock: Clock;
  /** One line for a person. */
  readonly log: (line: string) => void;
}

export interface RunToken {
  /** The file goes, unless another daemon has put its own there, and so do the tokens. */
  end(): void;
}

interface RunMint extends MintedToken {
  readonly madeMs: number;
  readonly madeWallMs: number;
}

/** The file is there when it returns. Throws UsageInvalid when it cannot be written. */
export function beginRunToken({ path, mint, records, times, clock, log }: RunTokenOptions): RunToken {
  const ended = new AbortController();
  let minted: readonly RunMint[] = [];
  /** The one in the file. */
  let current: RunMint | undefined;

  function renewFile(): void {
    const made: RunMint = { ...mint(), madeMs: clock.monotonicMs(), madeWallMs: clock.now() };
    times.ownRun(made.claims);
    minted = [...minted.filter(isKept), made];
    const text = `${made.token}\n`;
    // The one that is renewed keeps its identity: commands that run have it hidden.
    if (current === undefined || !rewritePrivateFile(path, text)) {
      makePrivateDirectory(dirname(path));
      writePrivateFile(path, text, { durable: false });
    }
    current = made;
  }

  /** A token that has been over for long is taken off the list, and ended for those who would judge it by their wall clock. */
  function isKept({ claims: { jti }, madeMs }: RunMint): boolean {
    if (clock.monotonicMs() - madeMs <= RUN_TTL_SECONDS * 1000 + RENEW_MS) return true;
    records.endRun(jti, clock.now());
    times.forgetRun(jti);
    return false;
  }

  /** How long the token in the file is still the right one; 0 when it is not. */
  function goodForMs(): number {
    if (current === undefined) return 0;
    const ageMs = clock.monotonicMs() - current.madeMs;
    const stepMs = clock.now() - current.madeWallMs - ageMs;
    return Math.abs(stepMs) > CLOCK_LEEWAY_SECONDS * 1000 ? 0 : Math.max(0, RENEW_MS - ageMs);
  }

  async function renew(): Promise<void> {
    for (;;) {
      // What is due now could not be written: it is tried again after a pause.
      await clock.sleep(Math.min(LOOK_MS, goodForMs() || LOOK_MS), ended.signal);
      if (ended.signal.aborted) return;
      if (goodForMs() > 0) continue;
      try {
        renewFile();
      } catch (error) {
        log(`the token of this run could not be renewed: ${messageOf(error)}`);
      }
    }
  }

  try {
    renewFile();
  } catch (cause) {
    const detail = `cannot write ${path}: ${messageOf(cause)}`;
    throw storeFailure(cause) ?? new ReasonError("UsageInvalid", detail, { cause });
  }
  void renew();
  return {
    end() {
      ended.abort();
      try {
        const written = readPrivateFile(path)?.toString("utf8").trim();
        if (minted.some(({ token }) => token === written)) rmSync(path, { force: true });
        // Whatever the wall clock says now: it may be set back, and they would be good again.
        for (const { claims } of minted) records.endRun(claims.jti, clock.now());
      } catch (error) {
        // The next daemon revokes it; nobody but this one has served it.
        log(`the token of this run could not be revoked: ${messageOf(error)}`);
      }
    },
  };
}

/** This process, as tokens of its run name it. `socket`: that of the daemon of this user, for whoever listens there. */
export function ownRun(socket: string | undefined): TokenRun {
  const { pid } = process;
  return {
    process: `${processPlace()}.${pid}.${startMark(pid) ?? ""}`,
    ...defined({ socket }),
  };
}

/**
 * Tokens of runs that ended without a word: no program but a thief uses them. Those of a process of another boot or container count
 * as over when they were for the socket that is ours now. Call it when the server listens.
 */
export function revokeEndedRuns(
  records: Pick<TokenRecords, "list" | "endRun">,
  { socket }: Pick<TokenRun, "socket">,
  nowMs: number,
): readonly TokenId[] {
  const here = processPlace();
  const isOver = (run: TokenRun): boolean => {
    const [place, pid, mark = ""] = run.process.split(".");
    if (place === here) return !isSameProcess(Number(pid), mark);
    return run.socket !== undefined && run.socket === socket;
  };
  return (
    records
      .list()
      // Also those whose time is over: the clock may be ahead now.
      .filter(({ run, revokedAt }) => revokedAt === undefined && run && isOver(run))
      .map(({ claims: { jti } }) => {
        records.endRun(jti, nowMs);
        return jti;
      })
  );
}
