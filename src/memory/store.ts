/**
 * Memories on disk: `TIER/NAME.md` in the folder of the user and in that of one project, with a flat `MEMORY.md` for people. One
 * process writes at a time. A file that cannot be read is left out with a reason; it never hides the others.
 */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { MemoryFormat } from "#artifacts";
import {
  type Clock,
  EffectError,
  fileError,
  ifThere,
  type Memory,
  type MemoryDraft,
  type MemoryShelf,
  type MemoryStore,
  type MemoryTier,
  memoryScopes,
  memoryTiers,
  messageOf,
  type OwnScope,
  ownScopes,
  visibleLine,
} from "#base";
import {
  makePrivateDirectory,
  readOwnedFile,
  removeDrafts,
  removePrivateFile,
  withFileLock,
  writePrivateFile,
} from "#world";
import { createChangeRecords, type MemoryChange } from "./change-records.ts";
import { indexText } from "./memory-list.ts";

/** In one scope. */
export const MAX_MEMORIES = 2_000;
/** All files of one scope together. */
export const MAX_SCOPE_BYTES = 8 * 1024 * 1024;
const MAX_FILE_BYTES = 64 * 1024;
/** Named one by one. */
const MAX_PROBLEMS = 20;
const INDEX = "MEMORY.md";
const MEMORY_NAMES = "use lower-case letters, digits and hyphens, at most 64";

export interface MemoryStoreOptions {
  readonly folders: Readonly<Record<OwnScope, string>>;
  readonly clock: Clock;
  readonly format: () => Promise<MemoryFormat>;
  /** Whether the text holds a secret. What it rejects with keeps the memory from being written. */
  readonly holdsSecret: (text: string) => Promise<boolean>;
}

/** With what only a person does. */
export interface OwnMemoryStore extends MemoryStore {
  /** Takes the last change of a scope back. Undefined when there is none. */
  undo(scope: OwnScope): Promise<MemoryChange | undefined>;
  /** Removes a memory with the records of its earlier versions. False when there is neither. */
  erase(scope: OwnScope, name: string): Promise<boolean>;
}

interface KeptFile {
  readonly stamp: string;
  readonly bytes: number;
  readonly memory?: Memory;
  readonly problem?: string;
}

export function createMemoryStore({ folders, clock, format, holdsSecret }: MemoryStoreOptions): OwnMemoryStore {
  const files = new Map<string, KeptFile>();
  let shelf: MemoryShelf = { memories: [], problems: [] };
  const fileOf = (scope: OwnScope, tier: MemoryTier, name: string): string => join(folders[scope], tier, `${name}.md`);

  /** The same object as before when no file has changed. */
  async function load(): Promise<MemoryShelf> {
    const { readKeptMemory, isMemoryName } = await format();
    const seen = new Set<string>();
    const problems: string[] = [];
    let hasChanged = false;
    for (const scope of ownScopes) {
      let left = MAX_MEMORIES;
      for (const { tier, name, file } of namesIn(folders[scope], problems)) {
        if (left === 0) {
          problems.push(
            `${folders[scope]} has more than ${MAX_MEMORIES} memories: Harness reads the first ${MAX_MEMORIES}. Forget some`,
          );
          break;
        }
        left -= 1;
        if (!isMemoryName(name)) {
          problems.push(`${file}: its name cannot be that of a memory: ${MEMORY_NAMES}`);
          continue;
        }
        seen.add(file);
        const stamp = stampOf(file);
        if (files.get(file)?.stamp === stamp) continue;
        files.set(file, { stamp, ...readOne(file, (text) => readKeptMemory({ scope, tier, name, file }, text)) });
        hasChanged = true;
      }
    }
    for (const file of files.keys()) {
      if (seen.has(file)) continue;
      files.delete(file);
      hasChanged = true;
    }
    const found = problemLines([...problems, ...[...files.values()].flatMap(({ problem }) => problem ?? [])]);
    if (hasChanged || found.join() !== shelf.problems.join()) {
      const memories = [...files.values()].flatMap(({ memory }) => memory ?? []).sort(inOrder);
      shelf = { memories, problems: found };
    }
    return shelf;
  }

  /** The name becomes a path. */
  async function locked<Result>(
    scope: OwnScope,
    name: string | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { isMemoryName } = await format();
    if (name !== undefined && !isMemoryName(name)) {
      const shown = visibleLine(name).slice(0, 100);
      throw new EffectError("AccessDenied", `'${shown}' cannot be the name of a memory: ${MEMORY_NAMES}`);
    }
    try {
      const done = await withFileLock(join(folders[scope], "write"), clock, work);
      if (done !== undefined) return done.result;
    } catch (error) {
      throw fileError(error, folders[scope]);
    }
    throw new EffectError("Timeout", "another process keeps writing memories; try again");
  }

  function textAt(scope: OwnScope, name: string): { readonly tier: MemoryTier; readonly text: string } | undefined {
    for (const tier of memoryTiers) {
      const bytes = ifThere(() => readOwnedFile(fileOf(scope, tier, name), MAX_FILE_BYTES));
      if (bytes !== undefined) return { tier, text: bytes.toString("utf8") };
    }
    return undefined;
  }

  function put(scope: OwnScope, tier: MemoryTier, name: string, text: string): void {
    const file = fileOf(scope, tier, name);
    makePrivateDirectory(join(folders[scope], tier));
    removeDrafts(file);
    writePrivateFile(file, text, { durable: true });
    for (const other of memoryTiers) if (other !== tier) removePrivateFile(fileOf(scope, other, name));
  }

  async function writeIndex(scope: OwnScope): Promise<void> {
    const { memories } = await load();
    const text = indexText(memories.filter((memory) => memory.scope === scope));
    try {
      writePrivateFile(join(folders[scope], INDEX), text, { durable: false });
    } catch (error) {
      const { reason, message } = fileError(error, INDEX);
      throw new EffectError(reason, `the change is made, but the list of memories is not up to date: ${message}`);
    }
  }

  async function refuseUnfit(draft: MemoryDraft, text: string, isNew: boolean): Promise<void> {
    // Each for itself, too: what stands around a secret may hide it.
    const parts = [draft.name, draft.description, draft.tags.join(" "), ...(draft.keywords ?? []), draft.body, text];
    for (const part of parts) {
      if (!(await holdsSecret(part))) continue;
      const detail = "a memory must not hold a secret; say where the secret is kept instead";
      throw new EffectError("AccessDenied", detail);
    }
    const { readKeptMemory } = await format();
    const { name, scope, tier } = draft;
    const { problem } = readKeptMemory({ scope, tier, name, file: name }, text);
    if (problem !== undefined) throw new EffectError("AccessDenied", problem);
    await load();
    const own = [...files].filter(([file]) => file.startsWith(join(folders[scope], "/")));
    const bytes = own.reduce((sum, [, kept]) => sum + kept.bytes, 0) + Buffer.byteLength(text);
    if ((isNew && own.length >= MAX_MEMORIES) || bytes > MAX_SCOPE_BYTES) {
      const bounds = `${MAX_MEMORIES} memories and ${MAX_SCOPE_BYTES / 1024 / 1024} MiB`;
      throw new EffectError("TooLarge", `there is no room for another memory here (${bounds}); forget some first`);
    }
  }

  const records = (scope: OwnScope) => createChangeRecords(join(folders[scope], ".changes"), clock);

  function recorded(scope: OwnScope, change: MemoryChange, make: () => void): void {
    const takeBack = records(scope).add(change);
    try {
      make();
    } catch (error) {
      takeBack();
      throw error;
    }
  }

  return {
    isThere: () => ownScopes.some((scope) => namesIn(folders[scope], []).length > 0),
    load,
    async write(draft, origin) {
      const { memoryFileText } = await format();
      const { name, scope, tier } = draft;
      const text = memoryFileText({ ...draft, ...origin, updated: new Date(clock.now()).toISOString().slice(0, 10) });
      return locked(scope, name, async () => {
        const before = textAt(scope, name);
        await refuseUnfit(draft, text, before === undefined);
        recorded(scope, { name, before }, () => put(scope, tier, name, text));
        await writeIndex(scope);
        return before === undefined ? "new" : "changed";
      });
    },
    forget: (scope, name) =>
      locked(scope, name, async () => {
        const before = textAt(scope, name);
        if (before === undefined) return false;
        recorded(scope, { name, before }, () => removePrivateFile(fileOf(scope, before.tier, name)));
        await writeIndex(scope);
        return true;
      }),
    undo: (scope) =>
      locked(scope, undefined, async () => {
        const last = records(scope).last();
        if (last === undefined) return undefined;
        const { name, before } = last.change;
        if (before === undefined) for (const tier of memoryTiers) removePrivateFile(fileOf(scope, tier, name));
        else put(scope, before.tier, name, before.text);
        last.remove();
        await writeIndex(scope);
        return last.change;
      }),
    erase: (scope, name) =>
      locked(scope, name, async () => {
        const before = textAt(scope, name);
        const erased = records(scope).erase(name);
        if (before !== undefined) removePrivateFile(fileOf(scope, before.tier, name));
        await writeIndex(scope);
        return before !== undefined || erased > 0;
      }),
  };
}

/** By tier, then by name. */
function namesIn(folder: string, problems: string[]): { tier: MemoryTier; name: string; file: string }[] {
  return memoryTiers.flatMap((tier) => {
    try {
      const names = (ifThere(() => readdirSync(join(folder, tier))) ?? []).filter((name) => name.endsWith(".md"));
      return names.toSorted().map((name) => ({ tier, name: name.slice(0, -3), file: join(folder, tier, name) }));
    } catch (error) {
      problems.push(`${join(folder, tier)}: ${messageOf(error)}`);
      return [];
    }
  });
}

/** Changes when the file does. */
function stampOf(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = lstatSync(file);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch (error) {
    return messageOf(error); // reading it says the same
  }
}

function readOne(file: string, read: (text: string) => Pick<KeptFile, "memory" | "problem">): Omit<KeptFile, "stamp"> {
  try {
    const bytes = readOwnedFile(file, MAX_FILE_BYTES);
    return bytes === undefined ? { bytes: 0 } : { bytes: bytes.length, ...read(bytes.toString("utf8")) };
  } catch (error) {
    return { bytes: 0, problem: `${file}: ${messageOf(error)}` };
  }
}

function problemLines(problems: readonly string[]): readonly string[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  return [...problems.slice(0, MAX_PROBLEMS), `and ${problems.length - MAX_PROBLEMS} more`];
}

function inOrder(a: Memory, b: Memory): number {
  const scopes = memoryScopes.indexOf(a.scope) - memoryScopes.indexOf(b.scope);
  return scopes || (a.name < b.name ? -1 : 1);
}
