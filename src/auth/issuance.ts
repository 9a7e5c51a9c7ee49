/**
 * A first token needs a person: a code of six digits is shown where only they see it, and whoever asked has to give it back. A state
 * machine on a clock that is handed in; what a channel looks like is the business of whoever has it.
 */
import { timingSafeEqual } from "node:crypto";
import type { Clock, Random } from "#base";
import { ReasonError } from "#protocol";
import type { Claims } from "./claims.ts";

export const CODE_VALID_MS = 60_000;
export const CODE_ATTEMPTS = 3;
/** Requests that wait for their code at the same time. */
export const PENDING_MAX = 8;
/** Requests in a minute: each shows something to a person, who must not be worn down. */
export const REQUESTS_PER_MINUTE = 5;
const MINUTE_MS = 60_000;

/** In this order: the first one that is there and shows the code is used. */
export const channelKinds = ["client", "terminal", "notification"] as const;

export interface ConfirmationChannel {
  /** A human client that is attached, the terminal of the program, or a notification of the desktop. */
  readonly kind: (typeof channelKinds)[number];
  readonly isThere: () => boolean;
  /** False when it could not be shown; the next channel is tried then. `confirmByMs`: the code is of no use after it. */
  show(code: string, claims: Claims, confirmByMs: number): Promise<boolean>;
}

export interface Issuance {
  /** Throws ConfirmationUnavailable when there is no channel, TooManyFailures beyond the limits. */
  begin(claims: Claims): Promise<{ readonly channel: ConfirmationChannel["kind"]; readonly expiresAtMs: number }>;
  /** The claims that were shown with this code. Throws ConfirmationFailed. */
  confirm(jti: Claims["jti"], code: string): Claims;
}

interface Pending {
  readonly claims: Claims;
  readonly code: string;
  readonly untilMs: number;
  attemptsLeft: number;
}

export function createIssuance(options: {
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
  readonly random: Random;
  readonly channels: readonly ConfirmationChannel[];
}): Issuance {
  const { clock, random, channels } = options;
  const pending = new Map<Claims["jti"], Pending>();
  let begunMs: number[] = [];

  function forgetOld(): void {
    const now = clock.monotonicMs();
    begunMs = begunMs.filter((ms) => now - ms < MINUTE_MS);
    for (const [jti, { untilMs }] of pending) if (untilMs <= now) pending.delete(jti);
  }

  function checkLimits(): void {
    const [oldest] = begunMs;
    const isBusy = begunMs.length >= REQUESTS_PER_MINUTE || pending.size >= PENDING_MAX;
    if (!isBusy) return;
    const waitMs = oldest === undefined ? CODE_VALID_MS : oldest + MINUTE_MS - clock.monotonicMs();
    throw new ReasonError("TooManyFailures", { seconds: Math.max(1, Math.ceil(waitMs / 1000)) });
  }

  return {
    async begin(claims) {
      forgetOld();
      checkLimits();
      begunMs.push(clock.monotonicMs());
      const code = drawCode(random);
      for (const kind of channelKinds) {
        for (const channel of channels.filter((each) => each.kind === kind && each.isThere())) {
          if (!(await channel.show(code, claims, clock.now() + CODE_VALID_MS))) continue;
          // From the moment on at which somebody can see it.
          pending.set(claims.jti, {
            claims,
            code,
            untilMs: clock.monotonicMs() + CODE_VALID_MS,
            attemptsLeft: CODE_ATTEMPTS,
          });
          return { channel: kind, expiresAtMs: clock.now() + CODE_VALID_MS };
        }
      }
      throw new ReasonError("ConfirmationUnavailable");
    },
    confirm(jti, code) {
      forgetOld();
      const waiting = pending.get(jti);
      if (waiting === undefined)
        throw new ReasonError("ConfirmationFailed", "no request is waiting for this code; it may have expired");
      waiting.attemptsLeft -= 1;
      if (isSameCode(code, waiting.code)) {
        pending.delete(jti);
        return waiting.claims;
      }
      if (waiting.attemptsLeft > 0)
        throw new ReasonError("ConfirmationFailed", `the code is wrong; attempts left: ${waiting.attemptsLeft}`);
      pending.delete(jti);
      throw new ReasonError("ConfirmationFailed", "the code is wrong, and no attempts are left");
    },
  };
}

/** Every code is as likely as any other: draws that would favour low ones are thrown away. */
function drawCode(random: Random): string {
  const codes = 1_000_000;
  const fair = Math.floor(2 ** 32 / codes) * codes;
  for (;;) {
    const drawn = Buffer.from(random.bytes(4)).readUInt32BE();
    if (drawn < fair) return String(drawn % codes).padStart(6, "0");
  }
}

function isSameCode(given: string, code: string): boolean {
  const a = Buffer.from(given.padEnd(6).slice(0, 7));
  const b = Buffer.from(code);
  return a.length === b.length && timingSafeEqual(a, b);
}
