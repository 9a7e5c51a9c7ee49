/**
 * An authorization server and an MCP server that wants its tokens, on loopback. Each answer can be replaced, so that it can lie, hang
 * or flood; everything that it was sent is kept.
 */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { answerWith, serveOnLoopback } from "./http-mcp-server.ts";
import { modernHandler } from "./modern-mcp-server.ts";

export interface Sent {
  readonly path: string;
  readonly params: URLSearchParams;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

export interface OAuthServer {
  readonly origin: string;
  readonly issuer: string;
  readonly url: string;
  /** What was sent to the authorization server. */
  readonly sent: Sent[];
  /** Access tokens that the MCP server accepts, with their scopes. */
  readonly accepted: Map<string, string>;
  readonly refreshTokens: Set<string>;
  /** Every secret that it ever made. */
  readonly secrets: string[];
  /** Answers in its place; `false`: it did not. */
  override: (sent: Sent, response: ServerResponse) => unknown;
  /** Fields of a token answer that are sent instead of the usual ones. */
  tokenFields: Record<string, unknown>;
  metadataFields: Record<string, unknown>;
  /** Wanted for a call of a tool. */
  scopeForCalls: string | undefined;
  /** Awaited before the MCP server answers a request with a token. */
  holdAnswers: () => Promise<unknown> | undefined;
  /** Awaited before a request for tokens is looked at. */
  beforeTokens: () => Promise<unknown> | undefined;
  calls: number;
  to(path: string): Sent[];
}

export async function startOAuthServer(): Promise<OAuthServer> {
  const codes = new Map<string, { challenge: string; scope: string }>();
  const handle = modernHandler();
  const secret = (kind: string): string => {
    const made = `${kind}-${randomBytes(18).toString("hex")}`;
    server.secrets.push(made);
    return made;
  };
  const as = await serveOnLoopback(async (request, response) => {
    const at = new URL(request.url ?? "/", "http://x");
    const body = await textOf(request);
    const sent: Sent = { path: at.pathname, params: at.searchParams, body, headers: request.headers };
    server.sent.push(sent);
    if (sent.path === "/token") await server.beforeTokens();
    if (server.override(sent, response) !== false) return undefined;
    return authorizationAnswer(sent, response);
  });
  const resource = await serveOnLoopback(async (request, response) => {
    if (request.url === "/.well-known/oauth-protected-resource/mcp") {
      return json(response, 200, {
        resource: server.url,
        authorization_servers: [as.origin],
        scopes_supported: ["read"],
      });
    }
    const scope = server.accepted.get(String(request.headers.authorization).replace(/^Bearer /, ""));
    if (scope === undefined) return challenge(response, 401, 'scope="read"');
    server.calls += 1;
    await server.holdAnswers();
    const wanted = server.scopeForCalls;
    if (wanted !== undefined && request.headers["mcp-method"] === "tools/call" && !scope.split(" ").includes(wanted)) {
      return challenge(response, 403, `error="insufficient_scope", scope="${wanted}"`);
    }
    response.setHeader("x-echo", String(request.headers.authorization));
    return answerWith(handle, request, response);
  });
  const server: OAuthServer = {
    origin: resource.origin,
    issuer: as.origin,
    url: `${resource.origin}/mcp`,
    sent: [],
    accepted: new Map(),
    refreshTokens: new Set(),
    secrets: [],
    override: () => false,
    tokenFields: {},
    metadataFields: {},
    scopeForCalls: undefined,
    holdAnswers: () => undefined,
    beforeTokens: () => undefined,
    calls: 0,
    to: (path) => server.sent.filter((one) => one.path === path),
  };

  function challenge(response: ServerResponse, status: number, more: string): void {
    const metadata = `${server.origin}/.well-known/oauth-protected-resource/mcp`;
    response.writeHead(status, { "www-authenticate": `Bearer resource_metadata="${metadata}", ${more}` }).end();
  }

  function authorizationAnswer({ path, params, body }: Sent, response: ServerResponse): unknown {
    if (path === "/.well-known/oauth-authorization-server") {
      return json(response, 200, {
        issuer: as.origin,
        authorization_endpoint: `${as.origin}/authorize`,
        token_endpoint: `${as.origin}/token`,
        registration_endpoint: `${as.origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true,
        token_endpoint_auth_methods_supported: ["client_secret_post"],
        ...server.metadataFields,
      });
    }
    if (path === "/register") {
      const wish = JSON.parse(body) as Record<string, unknown>;
      const method = { token_endpoint_auth_method: "client_secret_post" };
      return json(response, 201, { ...wish, ...method, client_id: "client-1", client_secret: secret("client-secret") });
    }
    if (path === "/authorize") {
      const code = secret("code");
      codes.set(code, { challenge: params.get("code_challenge") ?? "", scope: params.get("scope") ?? "" });
      const back = new URL(params.get("redirect_uri") ?? "");
      back.search = String(new URLSearchParams({ code, state: params.get("state") ?? "", iss: as.origin }));
      return response.writeHead(302, { location: back.href }).end();
    }
    if (path !== "/token") return response.writeHead(404).end();
    const form = new URLSearchParams(body);
    const granted = form.get("grant_type") === "refresh_token" ? refreshed(form) : exchanged(form);
    if (granted === undefined) return json(response, 400, { error: "invalid_grant" });
    const access = secret("access");
    const refresh = secret("refresh");
    server.accepted.set(access, granted);
    server.refreshTokens.add(refresh);
    const tokens = { access_token: access, token_type: "Bearer", refresh_token: refresh, scope: granted };
    return json(response, 200, { ...tokens, expires_in: 3600, ...server.tokenFields });
  }

  function exchanged(form: URLSearchParams): string | undefined {
    const known = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    return known !== undefined && known.challenge === proof ? known.scope : undefined;
  }

  function refreshed(form: URLSearchParams): string | undefined {
    return server.refreshTokens.delete(form.get("refresh_token") ?? "") ? "read" : undefined;
  }
  return server;
}

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
