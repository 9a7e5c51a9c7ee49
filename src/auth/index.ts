/** Capability tokens: what they say, how they are made, confirmed, checked and revoked; and where a request may come from. */
export { type Authenticator, createAuthenticator } from "./authenticator.ts";
export {
  CLOCK_LEEWAY_SECONDS,
  type Claims,
  checkScope,
  checkSession,
  coversClaims,
  DRAIN_SECONDS,
  EXPIRING_SECONDS,
  phaseOf,
  type TokenPhase,
} from "./claims.ts";
export { createFailureLimit } from "./failure-limit.ts";
export { type ConfirmationChannel, createIssuance } from "./issuance.ts";
export { DEFAULT_COMMANDS, mintClaims, type TokenRequest } from "./mint.ts";
export {
  checkOrigin,
  hostHeader,
  loopbackHosts,
  type OriginRules,
  preflightAnswer,
  presentedToken,
  UNIX_HOSTS,
} from "./request-origin.ts";
export { readToken, signToken, TOKEN_KEY_PURPOSE } from "./token.ts";
export { createTokenDesk, type MintedToken, type TokenDesk } from "./token-desk.ts";
export { readTokenFile, TOKEN_FILE_MODE, TOKEN_FILE_NAME, tokenFileText } from "./token-file.ts";
export { createTokenRecords, type TokenRecord, type TokenRecords, type TokenRun } from "./token-records.ts";
export { createTokenTimes, type TokenTimes } from "./token-times.ts";
export { tokenValidity } from "./token-validity.ts";
