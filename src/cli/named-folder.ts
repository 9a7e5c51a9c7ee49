/** A folder that a person named on the command line. */
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ReasonError } from "#protocol";

/** By its real path; `cwd` itself where none was named. Throws UsageInvalid when there is none. */
export function namedFolder(cwd: string, named: string | undefined): string {
  const path = resolve(cwd, named ?? ".");
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ReasonError("UsageInvalid", `there is no folder ${path}`);
  }
  return realpathSync(path);
}
