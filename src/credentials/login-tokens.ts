/**
 * The tokens of MCP servers while they are used: read from the credential file, refreshed when they have run out, by one process at a
 * time. Only in the credential helper.
 */
import { createSerial, EffectError, messageOf } from "#base";
import { type LoginRecord, secretsOf } from "./login-record.ts";
import type { LoginStore, StoredLogin } from "./login-store.ts";
import { isLoginOver, oauthFailure } from "./oauth-failure.ts";
import { createOAuthFetch } from "./oauth-fetch.ts";
import { loadOAuth } from "./oauth-sdk.ts";

/** A token that ends this soon is refreshed before it is sent. */
const EARLY_MS = 10_000;
const REFRESH_MS = 20_000;
const MAX_EXPIRY_S = 10 * 365 * 24 * 60 * 60;
const TOKEN = /^[\x21-\x7e]{1,16384}$/;

/** A server, and which login at it is meant. */
export interface LoggedIn {
  readonly name: string;
  readonly url: string;
  readonly mayBePrivate: boolean;
  readonly login: string;
}

export interface LoginTokens {
  /** One that has not run out, as far as is known. Rejects with `LoginRequired` or with what kept it from being refreshed. */
  current(server: LoggedIn): Promise<LoginRecord>;
  /** Another one than `refused`, which the server did not accept. */
  refreshed(server: LoggedIn, refused: string): Promise<LoginRecord>;
  /** Notes what the server wants besides what was granted, for the next login. */
  wantsMore(server: LoggedIn, scope: string | undefined): Promise<void>;
}

export function loginRequired(name: string, why: string): EffectError {
  return new EffectError("LoginRequired", `the MCP server '${name}' ${why}. Run: harness mcp login ${name}`);
}

export function createLoginTokens(store: LoginStore, tell: (secret: Buffer) => void): LoginTokens {
  const known = new Map<string, StoredLogin>();
  const serials = new Map<string, ReturnType<typeof createSerial>>();
  const serialOf = (name: string): ReturnType<typeof createSerial> => {
    const serial = serials.get(name) ?? createSerial();
    serials.set(name, serial);
    return serial;
  };

  /** From the file, with the same login as before; every secret in it is known before it is used. */
  function stored({ name, url, login }: LoggedIn): StoredLogin {
    const found = store.read(name);
    if (found === undefined || found.created !== login || found.record.url !== url) {
      throw loginRequired(name, "needs a login for its present address");
    }
    return keep(name, found);
  }

  function keep(name: string, login: StoredLogin): StoredLogin {
    known.set(name, login);
    for (const secret of secretsOf(login.record)) tell(secret);
    return login;
  }

  function refresh(server: LoggedIn, refused: string): Promise<LoginRecord> {
    const { name } = server;
    return serialOf(name)(() =>
      store.alone(name, async () => {
        const before = stored(server);
        // Somebody else was first.
        if (before.record.accessToken !== refused) return before.record;
        const after = await exchanged(server, before.record);
        const next = { ...before, record: after.record };
        if (!(await store.update(name, next))) throw loginRequired(name, "was logged out");
        keep(name, next);
        if (after.isOver) throw loginRequired(name, "no longer accepts its login");
        return next.record;
      }),
    );
  }

  return {
    async current(server) {
      const cached = known.get(server.name);
      const isSame = cached?.created === server.login && cached.record.url === server.url;
      const { record } = isSame ? cached : stored(server);
      const { expiresAtMs = Number.POSITIVE_INFINITY, accessToken, refreshToken } = record;
      if (expiresAtMs - Date.now() > EARLY_MS || refreshToken === undefined) return record;
      return refresh(server, accessToken);
    },
    refreshed: refresh,
    async wantsMore(server, scope) {
      await serialOf(server.name)(() =>
        store.alone(server.name, async () => {
          const { created, record } = stored(server);
          const { computeScopeUnion } = await loadOAuth();
          const wantedScope = computeScopeUnion(record.scope, record.wantedScope, scope);
          if (wantedScope === undefined || wantedScope === record.wantedScope) return;
          await store.update(server.name, { created, record: { ...record, wantedScope } });
        }),
      );
    },
  };
}

interface Exchanged {
  readonly record: LoginRecord;
  /** The refresh token is worth nothing any more; the record has none. */
  readonly isOver: boolean;
}

async function exchanged({ name, url, mayBePrivate }: LoggedIn, record: LoginRecord): Promise<Exchanged> {
  const { refreshToken, ...withoutRefresh } = record;
  if (refreshToken === undefined) throw loginRequired(name, "no longer accepts its login");
  const sdk = await loadOAuth();
  const way = createOAuthFetch({ url, mayBePrivate, signal: AbortSignal.timeout(REFRESH_MS) });
  try {
    const tokens = await sdk.refreshAuthorization(record.issuer, {
      metadata: {
        issuer: record.issuer,
        token_endpoint: record.tokenEndpoint,
        authorization_endpoint: record.tokenEndpoint, // not used for a refresh
        response_types_supported: ["code"],
        token_endpoint_auth_methods_supported: [...record.authMethods],
      },
      clientInformation: record.client,
      refreshToken,
      ...(record.resource !== undefined && { resource: record.resource }),
      fetchFn: way.fetch,
    });
    return { record: withTokens(record, tokens, Date.now()), isOver: false };
  } catch (error) {
    if (isLoginOver(error, sdk)) return { record: withoutRefresh, isOver: true };
    const secrets = secretsOf(record).map((secret) => secret.toString());
    const why = messageOf(way.fault() ?? oauthFailure(error, sdk, secrets));
    throw new EffectError("ServerUnavailable", `the login of the MCP server '${name}' could not be refreshed: ${why}`);
  }
}

/** Throws for tokens that cannot be sent as they are. */
export function withTokens<Known extends Omit<LoginRecord, "accessToken">>(
  known: Known,
  tokens: {
    readonly access_token: string;
    readonly token_type: string;
    readonly refresh_token?: string | undefined;
    readonly expires_in?: number | undefined;
    readonly scope?: string | undefined;
  },
  nowMs: number,
): Known & LoginRecord {
  const {
    access_token: accessToken,
    token_type: type,
    refresh_token: refreshToken,
    expires_in: seconds,
    scope,
  } = tokens;
  if (type.toLowerCase() !== "bearer" || !TOKEN.test(accessToken)) {
    throw new EffectError("AccessDenied", "the authorization server issued a token that is not a bearer token");
  }
  const { expiresAtMs: _, ...rest } = known;
  return {
    ...(rest as Known), // the field that is left out is optional
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(seconds !== undefined && { expiresAtMs: nowMs + Math.min(Math.max(seconds, 0), MAX_EXPIRY_S) * 1000 }),
    ...(scope !== undefined && { scope }),
  };
}
