/** The home folders of the person who runs this program. */
import { readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";

/** Absolute, the one that programs are told of first. A changed `HOME` does not make the real home folder an ordinary one. */
export function homeFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  const named = [env.HOME, homedir(), writtenHome() ?? knownHome()].filter(
    (path) => path !== undefined && isAbsolute(path),
  );
  return [...new Set(named as string[])]; // undefined was filtered out
}

/** As the file of the machine has it: asking the system for the same connects to its name service. */
function writtenHome(): string | undefined {
  try {
    const rows = readFileSync("/etc/passwd", "latin1").split("\n");
    const uid = String(process.getuid?.());
    return rows.map((row) => row.split(":")).find((fields) => fields[2] === uid)?.[5];
  } catch {
    return undefined;
  }
}

function knownHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    // A user without an entry anywhere has no home there.
    return undefined;
  }
}
