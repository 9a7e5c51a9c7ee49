/**
 * Where tokens stand in their time, judged by one server on clocks that may disagree: the wall clock steps when it is corrected or the
 * machine wakes up, the monotonic clock only goes on. Tokens end by the wall clock. Four rules keep a step from locking anybody out:
 *
 * - A step within the leeway does not count.
 * - A token that was made on this machine, or was in force here before, does not become early again.
 * - A token that the server made for its own run lasts for its duration on the monotonic clock, whatever the wall clock says.
 * - No token outlasts its duration on the monotonic clock, counted from when this server first saw it in force: a wall clock that was
 *   set back does not prolong it.
 */
import { type Clock, messageOf } from "#base";
import { CLOCK_LEEWAY_SECONDS, type Claims, invalid, phaseOf, type TokenPhase } from "./claims.ts";
import type { TokenRecords } from "./token-records.ts";

/** Tokens that are remembered as in force; one that is forgotten is judged as if it were new. */
const REMEMBERED_MAX = 4096;

type Times = Pick<Claims, "jti" | "nbf" | "exp">;

export interface TokenTimes {
  /** Throws TokenInvalid when the records cannot be read. */
  phase(claims: Times): TokenPhase;
  /** This process has just made the token for itself. */
  ownRun(claims: Times): void;
  /** An own token has ended for good. */
  forgetRun(jti: Claims["jti"]): void;
}

export function createTokenTimes(options: {
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
  readonly records: Pick<TokenRecords, "has">;
}): TokenTimes {
  const { clock, records } = options;
  const startWallMs = clock.now();
  const startMs = clock.monotonicMs();
  /** When each was made, on the monotonic clock. */
  const ownRuns = new Map<Claims["jti"], number>();
  /** When each was first seen in force, on the monotonic clock; the one not seen for longest comes first. */
  const inForce = new Map<Claims["jti"], number>();

  /** The wall clock without its small steps. */
  function steadyMs(): number {
    const leewayMs = CLOCK_LEEWAY_SECONDS * 1000;
    const wallMs = clock.now();
    const expectedMs = startWallMs + clock.monotonicMs() - startMs;
    return Math.min(wallMs + leewayMs, Math.max(wallMs - leewayMs, expectedMs));
  }

  function isMadeHere({ jti }: Times): boolean {
    try {
      return inForce.has(jti) || records.has(jti);
    } catch (error) {
      throw invalid(`Harness cannot tell whether it was made here: ${messageOf(error)}`);
    }
  }

  function remember(jti: Claims["jti"], sinceMs: number): void {
    inForce.delete(jti);
    inForce.set(jti, sinceMs);
    const [oldest] = inForce.keys();
    if (inForce.size > REMEMBERED_MAX && oldest !== undefined) inForce.delete(oldest);
  }

  function wallPhase(claims: Times): TokenPhase {
    const phase = phaseOf(claims, steadyMs());
    // Its clock was ahead of ours when it was made: now is the beginning of its time at the earliest.
    return phase === "early" && isMadeHere(claims) ? phaseOf(claims, claims.nbf * 1000) : phase;
  }

  /** As if the token had begun `sinceMs` on the monotonic clock. */
  function agePhase(claims: Times, sinceMs: number): TokenPhase {
    return phaseOf(claims, claims.nbf * 1000 + clock.monotonicMs() - sinceMs);
  }

  return {
    phase(claims) {
      const madeMs = ownRuns.get(claims.jti);
      if (madeMs !== undefined) return agePhase(claims, madeMs);
      const phase = wallPhase(claims);
      if (phase !== "valid" && phase !== "expiring") return phase;
      const sinceMs = inForce.get(claims.jti) ?? clock.monotonicMs();
      remember(claims.jti, sinceMs);
      return LATER.indexOf(agePhase(claims, sinceMs)) > LATER.indexOf(phase) ? agePhase(claims, sinceMs) : phase;
    },
    ownRun: ({ jti }) => void ownRuns.set(jti, clock.monotonicMs()),
    forgetRun: (jti) => void ownRuns.delete(jti),
  };
}

/** In the order in which a token passes through them. */
const LATER: readonly TokenPhase[] = ["early", "valid", "expiring", "draining", "expired"];
