/** Routes of tokens: asked for and confirmed on the Unix socket, passed on and taken back anywhere. */

import { DEFAULT_COMMANDS, type TokenDesk, type TokenRequest } from "#auth";
import { defined } from "#base";
import { ReasonError, SessionId } from "#protocol";
import type { Route, RouteCall } from "./route.ts";

const CLAIMS_BODY = {
  type: "object",
  properties: {
    sessions: { type: "array", items: { type: "string" }, description: "Sessions that it may be used in." },
    commands: { type: "array", items: { type: "string" }, description: `Default: ${DEFAULT_COMMANDS.join(", ")}.` },
    identity_class: { type: "string", enum: ["human", "agent"], description: "human or agent; default: agent." },
    ttl_seconds: { type: "integer", description: "How long it lasts; default 24 hours, at most 90 days." },
    can_mint: { type: "boolean", description: "Whether it may mint further tokens; default: false." },
  },
  required: ["sessions"],
} as const;

export const authRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/auth/token",
    summary: "Request a token; Harness shows a person a code. Only on the Unix socket, without a token",
    handshake: false,
    isOpen: true,
    query: {
      session: "A session that it may be used in; repeatable.",
      all_sessions: "true: all sessions, also later ones.",
      commands: `Names, separated by commas; default: ${DEFAULT_COMMANDS.join(", ")}.`,
      identity_class: "human or agent; default: agent.",
      ttl_seconds: "How long it lasts; default 24 hours, at most 90 days.",
      can_mint: "true: it may mint further tokens.",
    },
    answers: { 202: "{ request, channel, confirm_by, claims }: channel says where the code is shown." },
    async handle(call) {
      const { claims, channel, expiresAtMs } = await deskOf(call).request(fromQuery(call.query));
      const confirm_by = new Date(expiresAtMs).toISOString();
      return { status: 202, body: { request: claims.jti, channel, confirm_by, claims } };
    },
  },
  {
    method: "POST",
    path: "/v1/auth/token",
    summary: "Confirm the request with the code. Only on the Unix socket, without a token",
    handshake: false,
    isOpen: true,
    body: {
      type: "object",
      properties: {
        request: { type: "string", description: "The id from the answer to the request." },
        code: { type: "string", description: "Six digits." },
      },
      required: ["request", "code"],
    },
    answers: { 201: "{ token, claims }" },
    async handle(call) {
      const { request, code } = call.body;
      if (typeof request !== "string" || typeof code !== "string") throw invalid("request and code must be strings");
      return { status: 201, body: deskOf(call).confirm(request, code, call.source) };
    },
  },
  {
    method: "POST",
    path: "/v1/auth/tokens",
    summary: "Mint a token with a token that has can_mint; the new one gets at most the same rights",
    handshake: false,
    body: CLAIMS_BODY,
    answers: { 201: "{ token, claims }" },
    async handle(call) {
      return { status: 201, body: deskOf(call).mint(fromBody(call.body), call.principal.claims) };
    },
  },
  {
    method: "DELETE",
    path: "/v1/auth/tokens/{jti}",
    summary: "Revoke a token and all tokens minted with it; its streams end",
    handshake: false,
    answers: { 200: "{ jti, revoked, new }" },
    async handle(call) {
      const { jti = "" } = call.params;
      const isNew = deskOf(call).revoke(jti, call.principal.claims);
      await call.recheckStreams();
      return { status: 200, body: { jti, revoked: true, new: isNew } };
    },
  },
];

function deskOf({ desk }: RouteCall): TokenDesk {
  if (desk === undefined) throw new ReasonError("NotAllowed", "This server does not mint tokens.");
  return desk;
}

function fromQuery(query: URLSearchParams): TokenRequest {
  const all = flag(query, "all_sessions");
  const named = query.getAll("session");
  if (all === named.length > 0) throw invalid("name sessions with session=…, or use all_sessions=true");
  const ttl = query.get("ttl_seconds");
  return {
    sessions: all ? "all" : named.map(sessionOf),
    commands: query.has("commands") ? query.getAll("commands").flatMap((list) => list.split(",")) : DEFAULT_COMMANDS,
    identityClass: classOf(query.get("identity_class") ?? undefined),
    ...(ttl === null ? {} : { ttlSeconds: Number(ttl) }),
    canMint: flag(query, "can_mint"),
  };
}

function fromBody(body: RouteCall["body"]): TokenRequest {
  const { sessions, commands = DEFAULT_COMMANDS, identity_class, ttl_seconds, can_mint = false } = body;
  if (!isTexts(sessions) || !isTexts(commands)) throw invalid("sessions and commands must be lists of strings");
  if (ttl_seconds !== undefined && typeof ttl_seconds !== "number") throw invalid("ttl_seconds must be a number");
  if (typeof can_mint !== "boolean") throw invalid("can_mint must be true or false");
  return {
    sessions: sessions.map(sessionOf),
    commands,
    identityClass: classOf(identity_class),
    ...defined({ ttlSeconds: ttl_seconds }),
    canMint: can_mint,
  };
}

function flag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) ?? "false";
  if (text !== "true" && text !== "false") throw invalid(`${name} must be true or false`);
  return text === "true";
}

function classOf(value: unknown): "human" | "agent" {
  if (value === undefined) return "agent";
  if (value !== "human" && value !== "agent") throw invalid("identity_class must be human or agent");
  return value;
}

function sessionOf(text: string): SessionId {
  if (!SessionId.is(text)) throw invalid("a session must be an id of the form sess_<ULID>");
  return text;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

function invalid(detail: string): ReasonError {
  return new ReasonError("InvalidCommand", detail);
}
