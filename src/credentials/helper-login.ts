/**
 * A login at an MCP server, run in the credential helper: finds the authorization server, sends a person's browser there, takes the
 * answer and stores the tokens. Whoever asked gets the address for the browser and how it ended, and never a token.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/client";
import { EffectError, type EffectReason, messageOf } from "#base";
import { isPrivateByName, sendToAddress } from "#world/remote-request";
import type { HelperCommand } from "./helper-frames.ts";
import { openLoginCallback } from "./login-callback.ts";
import { type LoginRecord, secretsOf } from "./login-record.ts";
import type { LoginStore } from "./login-store.ts";
import { withTokens } from "./login-tokens.ts";
import { callbackError, oauthFailure } from "./oauth-failure.ts";
import { checkOAuthAddress, createOAuthFetch } from "./oauth-fetch.ts";
import { loadOAuth, type OAuthSdk } from "./oauth-sdk.ts";

type Login = Extract<HelperCommand, { type: "login" }>;

/** What goes back to the engine, a line each. */
export type LoginLine =
  | { readonly type: "authorize"; readonly url: string }
  | { readonly type: "done"; readonly issuer: string; readonly scope?: string }
  | { readonly type: "failed"; readonly reason: EffectReason; readonly detail: string };

const LOGIN_MS = 5 * 60_000;
/** A server that wants more each time would have a person log in for ever. */
const MAX_TRIES = 3;
const PROBE_MS = 15_000;
/** Some servers let anybody begin, and ask for a login later. */
const PROBES = ["initialize", "server/discover", "tools/list"] as const;
type Probe = (typeof PROBES)[number];

const PROBE_PARAMS = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "harness", version: "1" },
};

export interface LoginParts {
  readonly command: Login;
  readonly store: () => Promise<LoginStore>;
  /** Of a client that the user registered. */
  readonly clientSecret: string | undefined;
  readonly tell: (secret: Buffer) => void;
  readonly limitMs?: number;
}

/** Answers with lines of JSON. It is over when whoever asked goes away, and nothing is stored then. */
export async function answerLogin(
  request: IncomingMessage,
  response: ServerResponse,
  parts: LoginParts,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort(new EffectError("Cancelled", "the login was cancelled")));
  request.resume();
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  response.flushHeaders();
  const say = (line: LoginLine): void => void response.write(`${JSON.stringify(line)}\n`);
  const late = new AbortController();
  const { limitMs = LOGIN_MS } = parts;
  const why = `nobody finished the login within ${limitMs / 1000} seconds`;
  const timer = setTimeout(() => late.abort(new EffectError("Timeout", why)), limitMs);
  const signal = AbortSignal.any([gone.signal, late.signal]);
  try {
    const { issuer, scope } = await login(parts, say, signal);
    say({ type: "done", issuer, ...(scope !== undefined && { scope }) });
  } catch (thrown) {
    const error: unknown = signal.aborted ? signal.reason : thrown;
    say({
      type: "failed",
      reason: error instanceof EffectError ? error.reason : "NetworkFailed",
      detail: messageOf(error),
    });
  } finally {
    clearTimeout(timer);
    response.end();
  }
}

async function login(parts: LoginParts, say: (line: LoginLine) => void, signal: AbortSignal): Promise<LoginRecord> {
  const { command } = parts;
  const store = await parts.store();
  const sdk = await loadOAuth();
  const before = store.read(command.name)?.record;
  const wanted = before?.url === command.url ? before.wantedScope : undefined;
  const first = await firstChallenge(command, sdk, signal);
  let scope = sdk.computeScopeUnion(command.scopes?.join(" "), wanted, first.scope);
  for (let at = 1; ; at++) {
    const record = await authorize(parts, sdk, { ...first, scope }, say, signal);
    const { status, scope: more } = await probe(command, first.method, sdk, signal, record.accessToken);
    const union = sdk.computeScopeUnion(scope, record.scope, more);
    const wantsMore = status === 403 && sdk.isStrictScopeSuperset(union, scope);
    if (!wantsMore && (status === 401 || status === 403)) {
      throw new EffectError(
        "AccessDenied",
        `the MCP server refused the token that it had just been given (HTTP ${status})`,
      );
    }
    if (!wantsMore) {
      signal.throwIfAborted();
      for (const secret of secretsOf(record)) parts.tell(secret);
      await store.save(command.name, record);
      return record;
    }
    if (at === MAX_TRIES) throw new EffectError("AccessDenied", `the MCP server wants more rights after ${at} logins`);
    scope = union;
  }
}

interface Challenge {
  /** It answered, although nobody is logged in. */
  readonly isOpen: boolean;
  readonly resourceMetadataUrl?: URL | undefined;
  readonly scope?: string | undefined;
}

/** One trip of the browser, and the tokens that come of it. */
async function authorize(
  { command, clientSecret }: LoginParts,
  sdk: OAuthSdk,
  { resourceMetadataUrl, scope, isOpen }: Challenge,
  say: (line: LoginLine) => void,
  signal: AbortSignal,
): Promise<LoginRecord> {
  const state = process.getBuiltinModule("node:crypto").randomBytes(32).toString("base64url");
  const callback = await openLoginCallback(state, command.callbackPort);
  const way = createOAuthFetch({ ...command, signal });
  const flow = createFlow(command, callback.redirectUrl, state, clientSecret);
  const options = {
    serverUrl: command.url,
    fetchFn: way.fetch,
    ...(scope !== undefined && { scope }),
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
  };
  try {
    await sdk.auth(flow.provider, options);
    const { resourceMetadata, authorizationServerMetadata } = flow.discovery() ?? {};
    if (isOpen && resourceMetadata === undefined && authorizationServerMetadata === undefined) {
      throw new EffectError(
        "AccessDenied",
        `the MCP server '${command.name}' answers without a login and names no place for one`,
      );
    }
    checkFault(way.fault());
    say({ type: "authorize", url: flow.authorizationUrl() });
    const { code, iss, error } = await callback.answer(signal);
    const metadata = flow.discovery()?.authorizationServerMetadata;
    sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
    if (code === undefined) throw callbackError(error ?? "");
    flow.secrets.push(code);
    await sdk.auth(flow.provider, { ...options, authorizationCode: code, ...(iss !== undefined && { iss }) });
    checkFault(way.fault());
    return flow.record();
  } catch (error) {
    throw signal.aborted ? signal.reason : (way.fault() ?? oauthFailure(error, sdk, flow.secrets));
  } finally {
    callback.close();
  }
}

function checkFault(fault: EffectError | undefined): void {
  if (fault !== undefined) throw fault;
}

/** What the SDK keeps between the two halves of a login: in memory, so that one that is not finished leaves nothing. */
function createFlow(command: Login, redirectUrl: string, state: string, clientSecret: string | undefined) {
  const { clientId, clientMetadataUrl, url } = command;
  type Client = NonNullable<Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>>;
  type Tokens = NonNullable<Awaited<ReturnType<OAuthClientProvider["tokens"]>>>;
  let client: Client | undefined;
  let tokens: Tokens | undefined;
  let verifier = "";
  let discovery: OAuthDiscoveryState | undefined;
  let authorizationUrl = "";
  let resource: string | undefined;
  const secrets = [state, ...(clientSecret === undefined ? [] : [clientSecret])];
  const given = { client_id: clientId ?? "", ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  const provider: OAuthClientProvider = {
    redirectUrl,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientMetadata: {
      client_name: "Harness",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    state: () => state,
    // A registered client is the user's own word, so that it belongs to whatever issuer the server names.
    clientInformation: (context) =>
      clientId === undefined ? client : { ...given, ...(context !== undefined && { issuer: context.issuer }) },
    saveClientInformation(made) {
      client = made;
      if (made.client_secret !== undefined) secrets.push(made.client_secret);
    },
    tokens: () => undefined,
    saveTokens(made) {
      tokens = made;
    },
    saveCodeVerifier(made) {
      verifier = made;
      secrets.push(made);
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(made) {
      checkPkce(made);
      discovery = made;
    },
    discoveryState: () => discovery,
    saveResourceUrl(made) {
      resource = made;
    },
    redirectToAuthorization(made) {
      checkOAuthAddress(made);
      authorizationUrl = made.href;
    },
  };
  return {
    provider,
    secrets,
    authorizationUrl: () => authorizationUrl,
    discovery: () => discovery,
    record(): LoginRecord {
      const used = clientId === undefined ? client : given;
      if (tokens === undefined || used === undefined || discovery === undefined)
        throw new Error("the login has no tokens");
      const { authorizationServerUrl, authorizationServerMetadata: metadata } = discovery;
      return withTokens(
        {
          url,
          ...(resource !== undefined && { resource }),
          issuer: metadata?.issuer ?? authorizationServerUrl,
          tokenEndpoint: metadata?.token_endpoint ?? new URL("/token", authorizationServerUrl).href,
          authMethods: metadata?.token_endpoint_auth_methods_supported ?? [],
          client: clientOf(used),
        },
        tokens,
        Date.now(),
      );
    },
  };
}

function clientOf(client: {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
}): LoginRecord["client"] {
  const method = "token_endpoint_auth_method" in client ? client.token_endpoint_auth_method : undefined;
  return {
    client_id: client.client_id,
    ...(client.client_secret !== undefined && { client_secret: client.client_secret }),
    ...(typeof method === "string" && { token_endpoint_auth_method: method }),
  };
}

/** The specification has clients refuse a server that does not say that it checks the proof key of a code. */
function checkPkce({ authorizationServerMetadata: metadata }: OAuthDiscoveryState): void {
  if (metadata === undefined || metadata.code_challenge_methods_supported?.includes("S256") === true) return;
  throw new EffectError("AccessDenied", "the authorization server does not support PKCE (S256)");
}

interface Probed extends Challenge {
  readonly method: Probe;
  readonly status: number;
}

async function firstChallenge(command: Login, sdk: OAuthSdk, signal: AbortSignal): Promise<Probed> {
  let first: Probed | undefined;
  for (const method of PROBES) {
    const probed = await probe(command, method, sdk, signal);
    if (probed.status === 401) return probed;
    first ??= probed;
  }
  // One of the methods was tried.
  return first as Probed;
}

/** How the server answers, without a token or with one; its challenge says where to log in and what for. */
async function probe(
  command: Login,
  method: Probe,
  sdk: OAuthSdk,
  signal: AbortSignal,
  token?: string,
): Promise<Probed> {
  const { url, kind, headers, mayBePrivate } = command;
  const isPost = kind === "http";
  const incoming = await sendToAddress(
    {
      url: new URL(url),
      method: isPost ? "POST" : "GET",
      headers: {
        ...headers,
        accept: isPost ? "application/json, text/event-stream" : "text/event-stream",
        ...(isPost && { "content-type": "application/json" }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(isPost && { body: JSON.stringify({ jsonrpc: "2.0", id: 0, method, params: PROBE_PARAMS }) }),
      signal,
      headTimeoutMs: PROBE_MS,
    },
    { mayBePrivate: () => mayBePrivate || isPrivateByName(new URL(url)) },
  );
  incoming.destroy();
  const status = incoming.statusCode ?? 502;
  const challenge = incoming.headers["www-authenticate"] ?? "";
  const response = new Response(null, { headers: { "www-authenticate": challenge } });
  const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(response);
  return { method, status, isOpen: status >= 200 && status < 300, resourceMetadataUrl, scope };
}
