/** The key of the file of stored credentials, derived from the machine's key. */
import { deriveKey, type MachineKey } from "#stores/keys";

export function credentialKey(key: MachineKey): Uint8Array {
  return deriveKey(key, "credentials");
}
