/** What the owner of a machine said about one MCP server that a project declares: approved as it was then, or denied. */
import { isWorkspaceFolder, type PinnedFile } from "#artifacts";
import { defined, isRecord } from "#base";
import { LockFileError } from "./lock-file-error.ts";

export interface ServerAnswer {
  readonly name: string;
  /** SHA-256 of the entry that was shown, hex. Another entry asks again. */
  readonly entry: string;
  readonly answer: "approved" | "denied";
  /** What the program reaches. */
  readonly network: readonly string[] | "public";
  /** Folders of the workspace that its calls may change. Absent: none. */
  readonly writable?: readonly string[];
  /** The files that decide what runs. Empty for a server on the network. */
  readonly files: readonly PinnedFile[];
  /** A package that was installed for it, and how it is started. */
  readonly installed?: InstalledPackage;
  /** RFC 3339. */
  readonly at: string;
  readonly by: string;
}

export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  /** As the registry gave it. Absent for one that came from a folder. */
  readonly integrity?: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What the server must see. */
  readonly paths: readonly string[];
}

/** Throws LockFileError. */
export function parseServerAnswer(value: unknown, index: number): ServerAnswer {
  const wrong = (what: string): LockFileError => new LockFileError(`server ${index + 1}: ${what}`);
  if (!isRecord(value)) throw wrong("it is not an object");
  const { name, entry, answer, network, writable, files, installed, at, by } = value;
  if (![name, entry, at, by].every(isText)) throw wrong('"name", "entry", "at" and "by" are not text');
  if (answer !== "approved" && answer !== "denied") throw wrong('"answer" is unknown');
  if (network !== "public" && !isTexts(network)) throw wrong('"network" is unknown');
  if (writable !== undefined && (!isTexts(writable) || !writable.every(isWorkspaceFolder))) {
    throw wrong('"writable" is not a list of folders of the workspace');
  }
  if (!Array.isArray(files) || !files.every(isPinnedFile)) throw wrong('"files" is not a list of files');
  if (installed !== undefined && !isInstalled(installed)) throw wrong('"installed" is not a package');
  // Checked above, field by field.
  return { name, entry, answer, network, files, at, by, ...defined({ writable, installed }) } as ServerAnswer;
}

function isPinnedFile(value: unknown): value is PinnedFile {
  return isRecord(value) && isText(value.path) && isText(value.sha256) && isOptional(value.real);
}

function isInstalled(value: unknown): value is InstalledPackage {
  if (!isRecord(value)) return false;
  const { name, version, integrity, command, args, paths } = value;
  return [name, version, command].every(isText) && isOptional(integrity) && isTexts(args) && isTexts(paths);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isOptional(value: unknown): boolean {
  return value === undefined || isText(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}
