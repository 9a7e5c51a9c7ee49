/** What `fs` does with files, on the port alone: the port keeps every path inside the workspace, symlinks included. */
import { EffectError, type FileInfo, type FilePort } from "#base";
import type { HookPorts } from "#engine";
import { timestamp } from "./builtins/time.ts";
import { compileNamePattern, isNamePattern } from "./name-pattern.ts";
import type { ScriptCall } from "./script-call.ts";
import { decodeText } from "./utf8-text.ts";

export const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_ENTRIES = 10_000;
const MAX_GLOB_LOOKUPS = 20_000;
const DIFF_TIMEOUT_MS = 500;
const MAX_DIFF_BYTES = 2 * 1024 * 1024;

type Reader = HookPorts["files"];

/** The port of a tool; hooks have none that writes. */
export function writableFiles(call: ScriptCall): FilePort {
  if (call.parts.writable === undefined) throw new Error("only tools may change files");
  return call.parts.writable;
}

export async function readText(files: Reader, path: string, maxBytes = MAX_FILE_BYTES): Promise<string> {
  return decodeText(await files.read(path, maxBytes), path);
}

export async function writeText(files: FilePort, path: string, text: string): Promise<void> {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length > MAX_FILE_BYTES) throw new Error(`${path} would have more than ${MAX_FILE_BYTES} bytes`);
  await files.write(path, bytes);
}

/** Empty when there is no such file. */
export async function readTextOrNothing(files: Reader, path: string): Promise<string> {
  try {
    return await readText(files, path);
  } catch (error) {
    if (error instanceof EffectError && error.reason === "NotFound") return "";
    throw error;
  }
}

export interface EntryDict {
  readonly name: string;
  readonly size: number;
  readonly is_dir: boolean;
  readonly modified: string;
}

export async function statEntry(files: Reader, path: string): Promise<EntryDict> {
  const info = await files.stat(path);
  if (info === undefined) throw new EffectError("NotFound", `${path} does not exist`);
  return entryDict(path.replace(/\/+$/, "").split("/").at(-1) ?? path, info);
}

export async function listEntries(files: Reader, path: string): Promise<EntryDict[]> {
  const entries = await files.list(path);
  if (entries.length > MAX_ENTRIES) throw new Error(`${path} has more than ${MAX_ENTRIES} entries`);
  const found: EntryDict[] = [];
  for (const { name } of entries) {
    const info = await insideInfo(files, path === "" ? name : `${path}/${name}`);
    if (info !== "gone") found.push(entryDict(name, info));
  }
  return found;
}

/** A link that leads nowhere, or out of the workspace, is listed and says nothing of what it leads to. */
async function insideInfo(files: Reader, path: string): Promise<FileInfo | "hidden" | "gone"> {
  try {
    return (await files.stat(path)) ?? "hidden";
  } catch (error) {
    if (error instanceof EffectError && error.reason === "NotFound") return "gone";
    if (error instanceof EffectError && (error.reason === "OutsideWorkspace" || error.reason === "AccessDenied")) {
      return "hidden";
    }
    throw error;
  }
}

function entryDict(name: string, info: FileInfo | "hidden"): EntryDict {
  if (info === "hidden") return { name, size: 0, is_dir: false, modified: "" };
  return { name, size: info.sizeBytes, is_dir: info.kind === "directory", modified: timestamp(info.modifiedMs) };
}

/** Paths in order. A part of the pattern matches one part of a path; there is no `**`. */
export async function globPaths(files: Reader, pattern: string): Promise<string[]> {
  const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  let found: string[] = [pattern.startsWith("/") ? "/" : ""];
  let lookups = 0;
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    const next: string[] = [];
    for (const folder of found) {
      lookups += 1;
      if (lookups > MAX_GLOB_LOOKUPS) throw new Error(`the pattern ${pattern} leads into too many folders`);
      next.push(...(await expandPart(files, folder, part, last)));
      if (next.length > MAX_ENTRIES) throw new Error(`more than ${MAX_ENTRIES} paths match ${pattern}`);
    }
    found = next;
  }
  return parts.length === 0 ? [] : found.sort();
}

async function expandPart(files: Reader, folder: string, part: string, last: boolean): Promise<string[]> {
  const below = (name: string): string => (folder === "" || folder === "/" ? folder + name : `${folder}/${name}`);
  if (!isNamePattern(part)) {
    const info = await files.stat(below(part));
    return info !== undefined && (last || info.kind === "directory") ? [below(part)] : [];
  }
  const matches = compileNamePattern(part);
  const entries = (await files.list(folder === "" ? "." : folder)).filter(({ name }) => matches(name));
  if (last) return entries.map(({ name }) => below(name));
  const folders: string[] = [];
  for (const { name, kind } of entries) {
    if (kind === "directory" || kind === "symlink") {
      const info = await insideInfo(files, below(name));
      if (typeof info === "object" && info.kind === "directory") folders.push(below(name));
    }
  }
  return folders;
}

/** A unified diff; empty when there is no difference. */
export async function diffFiles(files: Reader, a: string, b: string): Promise<string> {
  const [before, after] = [await readText(files, a, MAX_DIFF_BYTES), await readText(files, b, MAX_DIFF_BYTES)];
  if (before === after) return "";
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const patch = createTwoFilesPatch(a, b, before, after, undefined, undefined, {
    timeout: DIFF_TIMEOUT_MS,
    headerOptions: FILE_HEADERS_ONLY,
  });
  if (patch === undefined) throw new Error(`${a} and ${b} differ too much to compare in ${DIFF_TIMEOUT_MS} ms`);
  return patch;
}
