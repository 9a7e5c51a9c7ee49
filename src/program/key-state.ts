/** Whether the key of a provider is there, in a word. */
import type { CredentialPort } from "#engine";

export function keyState(credentials: CredentialPort, provider: string, variables: readonly string[]): string {
  if (credentials.holds({ provider, variables })) return "set";
  return variables.length === 0 ? "none needed" : "not set";
}
