/**
 * The open event streams of a server, of both wires: how many there may be, their heartbeat, and the end of those that take
 * nothing or whose token does not hold any more. A token that ends soon is told on its streams, and what is open goes on for the
 * time that it drains.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Claims, type ConfirmationChannel, coversClaims, DRAIN_SECONDS, type TokenPhase } from "#auth";
import type { Clock } from "#base";
import { type EventPayload, ReasonError } from "#protocol";
import { type Authenticate, type PresentedToken, refusalOf } from "./access.ts";
import type { HttpLimits } from "./limits.ts";
import type { HttpObserver } from "./observer.ts";

/** Tokens that are looked at before others get their turn. */
const RECHECK_BATCH = 50;

/** What is told to one client about itself, and is in no log. */
export type StreamNotice =
  | { readonly kind: "TokenExpiring"; readonly payload: EventPayload<"TokenExpiring"> }
  | { readonly kind: "TokenRequested"; readonly payload: EventPayload<"TokenRequested"> };

export interface OpenStream {
  readonly presented: PresentedToken;
  readonly claims: Claims;
  /** Sends a sign of life. False when the one before has not gone out yet. */
  beat(): boolean;
  /** False when it cannot be told now: the client is attached to nothing, does not read, or its wire has no such event. */
  tell(notice: StreamNotice): boolean;
  /** Ends it with a reason that the client is told if it still listens. */
  end(error: ReasonError): void;
  /** Ends it without a word: nobody takes anything. */
  cut(): void;
}

export interface Streams {
  /** Throws TooManyStreams. The returned function takes it off the list. */
  add(stream: OpenStream): () => void;
  /** Looks at the tokens of all streams now, and not only at the next turn. */
  recheck(): Promise<void>;
  /** The people who are attached, as a way to ask for a confirmation. */
  readonly clients: ConfirmationChannel;
  endAll(error: ReasonError): void;
  close(): void;
  readonly size: number;
}

interface StreamState {
  stalled: number;
  isToldOfEnd: boolean;
  /** When its token was last seen in force, on the monotonic clock. */
  inForceMs: number;
  /** On the same clock, once the token has ended. */
  drainsUntilMs?: number | undefined;
}

/** Where a token stands in its time. */
export type TokenPhaseOf = (claims: Claims) => TokenPhase;

export function createStreams(
  clock: Clock,
  limits: HttpLimits,
  { authenticate, phaseOf }: { readonly authenticate: Authenticate; readonly phaseOf: TokenPhaseOf },
  observer?: HttpObserver,
): Streams {
  const open = new Map<OpenStream, StreamState>();
  const closed = new AbortController();

  async function every(ms: number, act: () => Promise<void> | void): Promise<void> {
    for (;;) {
      await clock.sleep(ms, closed.signal);
      if (closed.signal.aborted) return;
      await act();
    }
  }

  function beat(): void {
    for (const [stream, state] of [...open]) {
      state.stalled = stream.beat() ? 0 : state.stalled + 1;
      if (state.stalled > limits.stalledBeats) stream.cut();
    }
  }

  async function recheck(): Promise<void> {
    /** Each token once, however many streams it has. */
    const asked = new Map<string, Promise<ReasonError | undefined>>();
    for (const [stream, state] of [...open]) {
      const { token, channel } = stream.presented;
      const key = `${channel} ${token}`;
      const known = asked.get(key);
      const answer = known ?? refusalOf(authenticate, stream.presented);
      asked.set(key, answer);
      if (known === undefined && asked.size % RECHECK_BATCH === 0) await nextTurn();
      const refusal = await answer;
      if (open.has(stream)) judge(stream, state, refusal);
    }
  }

  function judge(stream: OpenStream, state: StreamState, refusal: ReasonError | undefined): void {
    if (refusal === undefined) {
      state.inForceMs = clock.monotonicMs();
      state.drainsUntilMs = undefined;
    }
    if (refusal !== undefined && !drains(stream, state, refusal)) stream.end(refusal);
    else if (refusal === undefined && phaseOf(stream.claims) === "valid") {
      // The clock may have been ahead when it was told.
      state.isToldOfEnd = false;
    } else if (!state.isToldOfEnd) {
      const { jti, exp } = stream.claims;
      const expires_at = new Date(exp * 1000).toISOString();
      state.isToldOfEnd = stream.tell({ kind: "TokenExpiring", payload: { token: jti, expires_at } });
    }
  }

  /** A clock that steps far past the end takes nothing of the time away: it was in force when it was last looked at. */
  function drains({ claims }: OpenStream, state: StreamState, { reason }: ReasonError): boolean {
    if (reason !== "TokenExpired") return false;
    const nowMs = clock.monotonicMs();
    const overForMs = Math.min(nowMs - state.inForceMs, Math.max(0, clock.now() - claims.exp * 1000));
    state.drainsUntilMs ??= nowMs - overForMs + DRAIN_SECONDS * 1000;
    return nowMs < state.drainsUntilMs;
  }

  void every(limits.heartbeatMs, beat);
  void every(limits.recheckMs, recheck);
  return {
    add(stream) {
      if (open.size >= limits.streams) throw new ReasonError("TooManyStreams", { limit: limits.streams });
      open.set(stream, { stalled: 0, isToldOfEnd: false, inForceMs: clock.monotonicMs() });
      observer?.streamOpened(open.size);
      return () => {
        if (open.delete(stream)) observer?.streamClosed(open.size);
      };
    },
    recheck,
    clients: {
      kind: "client",
      isThere: () => open.size > 0,
      async show(code, asked, confirmByMs) {
        const payload = requestedPayload(code, asked, confirmByMs);
        // To nobody who would learn from it how to get more than they have.
        const trusted = [...open.keys()].filter(
          ({ claims, presented }) =>
            claims.identity_class === "human" && presented.channel !== "lan" && coversClaims(claims, asked),
        );
        return trusted.filter((stream) => stream.tell({ kind: "TokenRequested", payload })).length > 0;
      },
    },
    endAll(error) {
      for (const stream of [...open.keys()]) stream.end(error);
    },
    close: () => closed.abort(),
    get size() {
      return open.size;
    },
  };
}

function requestedPayload(code: string, asked: Claims, confirmByMs: number): EventPayload<"TokenRequested"> {
  const { jti, sessions, commands, identity_class, can_mint, exp } = asked;
  return {
    token: jti,
    code,
    ...(sessions === undefined ? {} : { sessions: [...sessions] }),
    commands: [...commands],
    identity_class,
    can_mint,
    expires_at: new Date(exp * 1000).toISOString(),
    confirm_by: new Date(confirmByMs).toISOString(),
  };
}
