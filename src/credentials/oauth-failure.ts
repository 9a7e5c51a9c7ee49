/** Why a login or a refresh failed, in our own words: what an authorization server sent may hold a token, so little of it is repeated. */
import { EffectError, visibleLine } from "#base";
import type { OAuthSdk } from "./oauth-sdk.ts";

const MAX_CHARS = 300;
const ERROR_CODE = /^[a-z_]{1,64}$/;

/** Whether the server says that this login is over, as opposed to a failure that may pass. */
export function isLoginOver(error: unknown, { OAuthError, OAuthErrorCode }: OAuthSdk): boolean {
  const codes: string[] = [
    OAuthErrorCode.InvalidGrant,
    OAuthErrorCode.InvalidClient,
    OAuthErrorCode.UnauthorizedClient,
  ];
  return error instanceof OAuthError && codes.includes(error.code);
}

/** `secrets` are taken out of the text, whoever put them there. */
export function oauthFailure(error: unknown, sdk: OAuthSdk, secrets: readonly string[]): EffectError {
  if (error instanceof EffectError) return error;
  const text = secrets.reduce(
    (clean, secret) => (secret === "" ? clean : clean.replaceAll(secret, "«redacted:key»")),
    visibleLine(textOf(error, sdk)).slice(0, MAX_CHARS),
  );
  return new EffectError("AccessDenied", text);
}

function textOf(error: unknown, sdk: OAuthSdk): string {
  if (error instanceof sdk.IssuerMismatchError) {
    const where = error.kind === "metadata" ? "metadata" : "answer";
    return `the ${where} of the authorization server names another issuer than ${error.expected}`;
  }
  if (error instanceof sdk.AuthorizationServerMismatchError) return "the authorization server changed during the login";
  if (error instanceof sdk.InsecureTokenEndpointError)
    return "the token endpoint of the authorization server is not https";
  if (error instanceof sdk.RegistrationRejectedError) {
    return `the authorization server refused to register this program (HTTP ${error.status}). Set oauth_client_id to a client that you registered there`;
  }
  if (error instanceof sdk.OAuthError) {
    const isTheirs = error.code !== sdk.OAuthErrorCode.ServerError && ERROR_CODE.test(error.code);
    return `the authorization server refused${isTheirs ? `: ${error.code}` : ", without a reason that can be read"}`;
  }
  if (error instanceof SyntaxError || (error instanceof Error && error.name === "ZodError")) {
    return "an answer of the authorization server is not what OAuth asks for";
  }
  return error instanceof Error ? error.message : String(error);
}

/** The `error` of a callback, which anybody could have written. */
export function callbackError(code: string): EffectError {
  const shown = ERROR_CODE.test(code) ? `: ${code}` : "";
  return new EffectError("AccessDenied", `the authorization server refused the login${shown}`);
}
