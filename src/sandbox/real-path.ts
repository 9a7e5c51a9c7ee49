import { realpathSync } from "node:fs";

/** Undefined when it leads nowhere, or where nobody may look. */
export function realpathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
