/** The home folders of the person who runs this program. */
import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";

/** Absolute, the one that programs are told of first. A changed `HOME` does not make the real home folder an ordinary one. */
export function homeFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  const named = [env.HOME, homedir(), passwdHome()].filter((path) => path !== undefined && isAbsolute(path));
  return [...new Set(named as string[])]; // undefined was filtered out
}

function passwdHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    // A user without an entry in the password file has no home there.
    return undefined;
  }
}
