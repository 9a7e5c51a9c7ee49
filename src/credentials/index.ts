/** Provider keys: stored sealed, held by the credential helper alone, and bound to where they may be sent. */
export { isCredentialName, MAX_BOUND_HOSTS, MAX_SECRET_BYTES } from "./credential-file.ts";
export {
  type CredentialInfo,
  type CredentialStore,
  createCredentialStore,
  rekeyCredentials,
  whileCredentialsRest,
} from "./credential-store.ts";
export { createHelperCredentials, type HelperCredentials } from "./credentials.ts";
export { createEnvironmentKeys, type EnvironmentKeys, environmentBlock } from "./environment-keys.ts";
export { createKeychain } from "./keychain.ts";
export type { LoginResult } from "./login.ts";
