/** The keychain as the credential helper asks it. Loaded only for a credential that is there. */
import { createProcesses } from "#world";
import { type CredentialEntry, CredentialFileError } from "./credential-file.ts";
import { createKeychain } from "./keychain.ts";

export async function lookUpInKeychain(entry: CredentialEntry): Promise<Buffer> {
  const keychain = createKeychain({
    platform: process.platform,
    env: process.env,
    processes: createProcesses({ root: "/", env: process.env }),
  });
  const found = keychain === undefined ? "there is no keychain on this system" : await keychain.lookup(entry);
  if (typeof found !== "string") return found;
  throw new CredentialFileError("unreadable", `${entry.provider}/${entry.name} is not in the keychain: ${found}`);
}
