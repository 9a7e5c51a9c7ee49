/** A harness behind a real HTTP server that checks real tokens, on a clock that a test moves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type Claims,
  type ConfirmationChannel,
  createTokenRecords,
  signToken,
  type TokenRecords,
  type TokenTimes,
} from "#auth";
import { createHttpRig, type HttpRig, type HttpRigOptions, type ReadStream, type SocketClient } from "./http-rig.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import type { MockReply } from "./mock-reply.ts";
import { tokenId, wholeClaims } from "./token-claims.ts";
import { createTokenService, TOKEN_KEY } from "./token-service.ts";

export interface AuthRig extends HttpRig {
  readonly clock: ManualClock;
  /** Of a process beside the server. */
  readonly elsewhere: TokenRecords;
  readonly times: TokenTimes;
  /** A token with everything for a day, but for what is said. Each has an id of its own. */
  token(change?: Partial<Claims>): string;
  claimsOf(token: string): Claims;
  /** What the terminal of the program has shown. */
  readonly shown: { readonly code: string; readonly claims: Claims }[];
  /** Whether the program has one. */
  terminal: { isThere: boolean };
}

const DAY_SECONDS = 86_400;

export async function createAuthRig(
  replies: readonly MockReply[] = [],
  options: HttpRigOptions = {},
): Promise<AuthRig> {
  const clock = createManualClock();
  const state = mkdtempSync(join(tmpdir(), "harness-auth-rig-"));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const shown: AuthRig["shown"] = [];
  const terminal = { isThere: true };
  const terminalChannel: ConfirmationChannel = {
    kind: "terminal",
    isThere: () => terminal.isThere,
    async show(code, claims) {
      shown.push({ code, claims });
      return true;
    },
  };
  let ids = 0;
  const newId = () => tokenId(++ids);
  const tokens = createTokenService(state, clock, newId);
  const known = new Map<string, Claims>();
  const rig = await createHttpRig(replies, {
    ...options,
    serverClock: clock,
    checkToken: tokens.checkToken,
    authenticate: tokens.authenticate,
    phaseOf: (claims) => tokens.times.phase(claims),
    desk: (clients) => tokens.desk(clients, terminalChannel),
  });
  return {
    ...rig,
    clock,
    elsewhere: createTokenRecords(state),
    times: tokens.times,
    token(change = {}) {
      const nbf = clock.now() / 1000;
      const claims = { ...wholeClaims({ jti: "", nbf, exp: nbf + DAY_SECONDS }), jti: newId(), ...change };
      const token = signToken(claims, TOKEN_KEY);
      known.set(token, claims);
      return token;
    },
    claimsOf(token) {
      const claims = known.get(token);
      if (claims === undefined) throw new Error("not a token of this rig");
      return claims;
    },
    shown,
    terminal,
  };
}

/** An event stream and a web socket of one token, both attached. */
export async function openBoth(
  rig: AuthRig,
  token: string,
): Promise<{ readonly stream: ReadStream; readonly socket: SocketClient }> {
  await rig.shakeHands(token);
  const stream = await rig.read(rig.path("/events"), { token });
  const socket = await rig.openSocket(`/v1/ws?session=${rig.session}`, { token });
  socket.send({ frame: "handshake", body: {} });
  await socket.until(({ frame }) => frame === "handshake");
  // A command is answered after what came before it: the socket is attached.
  socket.send({ frame: "command", id: "ready", body: { kind: "AttachSession", session: rig.session } });
  await socket.until(({ id }) => id === "ready");
  return { stream, socket };
}
