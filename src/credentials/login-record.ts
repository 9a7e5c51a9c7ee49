/**
 * What a login at an MCP server has left, as the credential file seals it: tokens, the client that they were issued to, and where they
 * may go. Loaded by the credential helper at its start, so it stays small.
 */

/** The `provider` of such entries in the credential file; no model has a provider of this name. */
export const LOGIN_PROVIDER = "mcp-login";
export const MAX_RECORD_BYTES = 64 * 1024;

export interface LoginRecord {
  /** The address of the server, exactly as the user's entry has it: another address needs another login. */
  readonly url: string;
  /** The resource that the tokens were issued for, in the words of the server. */
  readonly resource?: string;
  /** Refresh token and client secret are sent to this issuer's token endpoint and nowhere else. */
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly authMethods: readonly string[];
  readonly client: {
    readonly client_id: string;
    readonly client_secret?: string;
    readonly token_endpoint_auth_method?: string;
  };
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Unix time; absent when the server did not say. */
  readonly expiresAtMs?: number;
  /** What the tokens are good for, as far as it is known. */
  readonly scope?: string;
  /** What the next login asks for: the server wanted more than was granted. */
  readonly wantedScope?: string;
}

/** Undefined for bytes that this program did not seal. */
export function parseLoginRecord(sealed: Buffer): LoginRecord | undefined {
  try {
    const record = JSON.parse(sealed.toString("utf8")) as LoginRecord; // sealed by us
    return typeof record.url === "string" && typeof record.accessToken === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}

/** All that nobody but the helper may see. */
export function secretsOf({ accessToken, refreshToken, client }: LoginRecord): readonly Buffer[] {
  return [accessToken, refreshToken, client.client_secret].flatMap((secret) =>
    secret === undefined ? [] : [Buffer.from(secret)],
  );
}
