/**
 * The token of one run of the daemon, in a file that only its owner can read, so that clients of this machine find it. It is renewed
 * while the daemon runs and revoked when it stops; one of a daemon that was killed is revoked by the next that starts.
 */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import type { MintedToken, TokenRecords, TokenRun } from "#auth";
import {
  type Clock,
  isSameProcess,
  makePrivateDirectory,
  messageOf,
  processPlace,
  readPrivateFile,
  rewritePrivateFile,
  startMark,
  writePrivateFile,
} from "#base";
import { ReasonError, storeFailure, type TokenId } from "#protocol";

export const RUN_TTL_SECONDS = 24 * 60 * 60;
/** Long before the end of the one that is there, so that whoever reads the file has hours left. */
export const RENEW_MS = 12 * 60 * 60 * 1000;
/** When it could not be written. */
const RETRY_MS = 60_000;

export interface RunTokenOptions {
  readonly path: string;
  readonly mint: () => MintedToken;
  readonly records: Pick<TokenRecords, "endRun">;
  readonly clock: Clock;
  /** One line for a person. */
  readonly log: (line: string) => void;
}

export interface RunToken {
  /** The file goes, unless another daemon has put its own there, and so do the tokens. */
  end(): void;
}

/** The file is there when it returns. Throws UsageInvalid when it cannot be written. */
export function beginRunToken({ path, mint, records, clock, log }: RunTokenOptions): RunToken {
  const ended = new AbortController();
  const minted: MintedToken[] = [];

  function write(): void {
    const made = mint();
    minted.push(made);
    const text = `${made.token}\n`;
    // The one that is renewed keeps its identity: commands that run have it hidden.
    if (minted.length > 1 && rewritePrivateFile(path, text)) return;
    makePrivateDirectory(dirname(path));
    writePrivateFile(path, text, { durable: false });
  }

  async function renew(): Promise<void> {
    for (let waitMs = RENEW_MS; ; ) {
      await clock.sleep(waitMs, ended.signal);
      if (ended.signal.aborted) return;
      try {
        write();
        waitMs = RENEW_MS;
      } catch (error) {
        log(`the token of this run could not be renewed: ${messageOf(error)}`);
        waitMs = RETRY_MS;
      }
    }
  }

  try {
    write();
  } catch (cause) {
    const detail = `cannot write ${path}: ${messageOf(cause)}`;
    throw storeFailure(cause) ?? new ReasonError("UsageInvalid", { detail }, { cause });
  }
  void renew();
  return {
    end() {
      ended.abort();
      try {
        const written = readPrivateFile(path)?.toString("utf8").trim();
        if (minted.some(({ token }) => token === written)) rmSync(path, { force: true });
        for (const { claims } of minted) if (claims.exp * 1000 > clock.now()) records.endRun(claims.jti, clock.now());
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
    ...(socket === undefined ? {} : { socket }),
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
  return records
    .list()
    .filter(({ claims, run, revokedAt }) => revokedAt === undefined && claims.exp * 1000 > nowMs && run && isOver(run))
    .map(({ claims: { jti } }) => {
      records.endRun(jti, nowMs);
      return jti;
    });
}
