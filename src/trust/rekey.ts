/** Gives every `approved.lock` the code of another machine key, so that a change of the key asks nobody again. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defined, ifThere } from "#base";
import { createApprovedLock, type TrustKeys } from "./approved-lock.ts";
import { parseLock } from "./lock-file.ts";

export interface TrustRekey {
  /** Locks that do not count with the old key either. They are left as they are. */
  readonly unreadable: number;
}

/** One that is cut off in the middle leaves locks that do not count any more: their projects ask again. */
export function rekeyTrust(options: {
  readonly directory: string;
  readonly from: TrustKeys;
  readonly to: TrustKeys;
}): TrustRekey {
  const { directory, from, to } = options;
  let unreadable = 0;
  for (const folder of foldersOf(directory)) {
    const root = rootOf(join(directory, folder, "approved.lock"));
    const old = root === undefined ? undefined : createApprovedLock({ directory, root, keys: () => from });
    const known = old?.read();
    if (root === undefined || old === undefined || known?.problem !== undefined) {
      unreadable += 1;
      continue;
    }
    const files = (known?.files ?? []).map((entry) => {
      const text = old.textOf(entry.sha256);
      return { entry, ...defined({ text }) };
    });
    const next = createApprovedLock({ directory, root, keys: () => to });
    next.change(files, []);
    next.answer(known?.servers ?? []);
  }
  return { unreadable };
}

function foldersOf(directory: string): string[] {
  return ifThere(() => readdirSync(directory)) ?? [];
}

/** Only says where to look; whether the lock counts is checked with its key. */
function rootOf(path: string): string | undefined {
  try {
    return parseLock(readFileSync(path, "utf8")).root;
  } catch {
    return undefined; // counted as one that cannot be used
  }
}
