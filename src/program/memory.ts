/** The memories of the user and of the workspaces of a program. Nothing is loaded where there are none. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadMemoryFormat } from "#artifacts";
import { type MemoryStore, once } from "#base";
import type { Redaction } from "#engine";
import type { OwnMemoryStore } from "#memory";
import type { SessionDependencies } from "#session";
import { harnessPaths } from "#stores/keys";
import { realPath } from "#world";
import type { HarnessOptions } from "./options.ts";

type Options = Pick<HarnessOptions, "env" | "clock" | "ownMemories">;

export function memoryStores(options: Options, redaction: Promise<Redaction>): SessionDependencies["memoryOf"] {
  /** By folder, so that a further session there need not read the files again. */
  const known = new Map<string, MemoryStore>();
  return (root) => {
    const store = known.get(root) ?? memoryStore(options, root, async () => holdsSecret(await redaction));
    known.set(root, store);
    return store;
  };
}

function holdsSecret(redaction: Pick<Redaction, "output">): (text: string) => boolean {
  return (text) => {
    const content = [{ type: "text" as const, text }];
    // The same object: there was nothing to redact.
    return redaction.output(content) !== content;
  };
}

/** With what only a person does; the root is that of a workspace. */
export async function openMemories(
  { env, clock }: Options,
  root: string,
  isSecret: (text: string) => boolean,
): Promise<OwnMemoryStore> {
  const { createMemoryStore, memoryFolders } = await import("#memory");
  const folders = memoryFolders(harnessPaths(env).dataDir, realPath(root));
  return createMemoryStore({ folders, clock, format: loadMemoryFormat, holdsSecret: async (text) => isSecret(text) });
}

function memoryStore(options: Options, root: string, isSecret: () => Promise<(text: string) => boolean>): MemoryStore {
  const open = once(async () => openMemories(options, root, await isSecret()));
  return {
    isThere: () => options.ownMemories !== false && hasMemories(options.env),
    load: async () => (await open()).load(),
    write: async (draft, origin) => (await open()).write(draft, origin),
    forget: async (scope, name) => (await open()).forget(scope, name),
  };
}

/** A cheap look, so that whoever has none pays nothing. */
function hasMemories(env: Options["env"]): boolean {
  try {
    return existsSync(join(harnessPaths(env).dataDir, "memory"));
  } catch {
    return false; // without HOME there is no place for any
  }
}
