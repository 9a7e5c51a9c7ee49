/**
 * The file of stored credentials: what each one is for can be read, its secret is sealed, and the two are bound together, so
 * that nobody can make a key be sent elsewhere by editing the file. Reads only; loaded by the credential helper too, so it
 * stays small.
 */

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { isRecord } from "#base";
import { boundHost } from "#base/bound-hosts";
import { openBox, sealBox } from "#base/sealed-box";

export const CREDENTIAL_FILE = "creds.enc";
export const MAX_CREDENTIALS = 200;
export const MAX_SECRET_BYTES = 8 * 1024;
export const MAX_BOUND_HOSTS = 32;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const FORMAT = "harness credentials 1";
const CHECK = "harness";
const CHECK_LABEL = "credentials check";
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const WIDER = 0o077;
/** Enough to tell two keys of a vendor apart, too little to try keys against. */
const FINGERPRINT_CHARS = 8;

export interface CredentialEntry {
  readonly provider: string;
  readonly name: string;
  /** Where it may be sent: `https://host[:port]`, or `http://…` where somebody said so. */
  readonly hosts: readonly string[];
  /** ISO 8601. */
  readonly created: string;
  /** Of the secret, under the key of the store. */
  readonly fingerprint: string;
  readonly place: "file" | "keychain";
  /** Base64. Where the keychain has the secret it holds none, and still shows that nothing of the entry was changed. */
  readonly sealed: string;
}

export interface CredentialFile {
  readonly path: string;
  /** Opens with the right key, so that a wrong one is told from a damaged entry. */
  readonly check: string;
  readonly entries: readonly CredentialEntry[];
}

export type CredentialFileProblem = "damaged" | "wrong-key" | "open-to-others" | "unreadable";

export class CredentialFileError extends Error {
  readonly problem: CredentialFileProblem;
  constructor(problem: CredentialFileProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

/** Undefined when there is none. Throws a CredentialFileError for anything else that cannot be used. Opens no secret. */
export function readCredentialFile(path: string): CredentialFile | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw unreadable(path, error);
  }
  try {
    const info = fstatSync(file);
    const { mode, size } = info;
    // A pipe would be waited for, a device read without an end.
    if (!info.isFile()) throw damaged(path, "it is not a regular file");
    if (process.platform !== "win32" && (mode & WIDER) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, "0");
      const remedy = `If nobody has changed it, run: chmod 600 ${path}`;
      throw new CredentialFileError("open-to-others", `${path} is open to others (mode ${shown}). ${remedy}`);
    }
    if (size > MAX_FILE_BYTES) throw damaged(path, `it is larger than ${MAX_FILE_BYTES} bytes`);
    return parse(path, readFileSync(file, "utf8"));
  } catch (error) {
    throw error instanceof CredentialFileError ? error : unreadable(path, error);
  } finally {
    closeSync(file);
  }
}

/**
 * The file as this key opens it, empty where there is none. Throws `wrong-key` for that of another key: nothing is written over it, since
 * its entries would be lost to both keys.
 */
export function openCredentialFile(path: string, key: Uint8Array): CredentialFile {
  const file = readCredentialFile(path) ?? { path, check: newCheck(key), entries: [] };
  if (!keyFits(file, key)) throw wrongKey(path);
  return file;
}

export function serializeCredentialFile({ check, entries }: Omit<CredentialFile, "path">): string {
  return `${JSON.stringify({ format: FORMAT, check, entries }, null, 1)}\n`;
}

export function newCheck(key: Uint8Array): string {
  return sealBox(key, Buffer.from(CHECK), CHECK_LABEL).toString("base64");
}

export function keyFits({ check }: Pick<CredentialFile, "check">, key: Uint8Array): boolean {
  return openBox(key, Buffer.from(check, "base64"), CHECK_LABEL)?.toString() === CHECK;
}

export function sealSecret(
  key: Uint8Array,
  about: Omit<CredentialEntry, "sealed" | "fingerprint">,
  secret: Uint8Array,
): CredentialEntry {
  const content = about.place === "keychain" ? new Uint8Array(0) : secret;
  const sealed = sealBox(key, content, labelOf(about)).toString("base64");
  return { ...about, fingerprint: fingerprintOf(key, secret), sealed };
}

/** The secret of an entry, empty where the keychain has it. Throws a CredentialFileError: `wrong-key` or `damaged`. */
export function openSecret(file: CredentialFile, key: Uint8Array, entry: CredentialEntry): Buffer {
  const secret = openBox(key, Buffer.from(entry.sealed, "base64"), labelOf(entry));
  if (secret !== undefined) return secret;
  if (!keyFits(file, key)) throw wrongKey(file.path);
  throw damaged(file.path, `${entry.provider}/${entry.name} was changed after it was stored`);
}

function wrongKey(path: string): CredentialFileError {
  const remedy = "Set HARNESS_MACHINE_KEY or HARNESS_PASSPHRASE to its previous value, or restore the key file.";
  return new CredentialFileError("wrong-key", `${path} was encrypted with another machine key. ${remedy}`);
}

export function fingerprintOf(key: Uint8Array, secret: Uint8Array): string {
  const { createHmac } = process.getBuiltinModule("node:crypto");
  return createHmac("sha256", key).update("fingerprint\0").update(secret).digest("hex").slice(0, FINGERPRINT_CHARS);
}

export function isCredentialName(text: string): boolean {
  return NAME.test(text);
}

/** Everything about a secret but the secret: a change of any of it makes the secret unusable. */
function labelOf({ provider, name, hosts, created, place }: Omit<CredentialEntry, "sealed" | "fingerprint">): string {
  return JSON.stringify([FORMAT, provider, name, hosts, created, place]);
}

function parse(path: string, text: string): CredentialFile {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    throw damaged(path, "it is truncated, or this program did not write it");
  }
  if (!isRecord(raw) || raw.format !== FORMAT || typeof raw.check !== "string" || !Array.isArray(raw.entries)) {
    throw damaged(path, "this program did not write it");
  }
  if (raw.entries.length > MAX_CREDENTIALS) throw damaged(path, `it has more than ${MAX_CREDENTIALS} entries`);
  return { path, check: raw.check, entries: raw.entries.map((entry) => parseEntry(path, entry)) };
}

function parseEntry(path: string, raw: unknown): CredentialEntry {
  if (!isRecord(raw)) throw damaged(path, "an entry is not a table");
  const { provider, name, hosts, created, fingerprint, place, sealed } = raw;
  const isSound =
    isName(provider) &&
    isName(name) &&
    Array.isArray(hosts) &&
    hosts.length <= MAX_BOUND_HOSTS &&
    hosts.every((host) => typeof host === "string" && boundHost(host) === host) &&
    typeof created === "string" &&
    typeof fingerprint === "string" &&
    (place === "keychain" || place === "file") &&
    typeof sealed === "string";
  if (!isSound) throw damaged(path, "an entry is incomplete");
  return { provider, name, hosts, created, fingerprint, place, sealed };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && isCredentialName(value);
}

function damaged(path: string, detail: string): CredentialFileError {
  const remedy = "Restore it from a backup, or remove it and store the keys again.";
  return new CredentialFileError("damaged", `${path} is damaged: ${detail}. ${remedy}`);
}

function unreadable(path: string, cause: unknown): CredentialFileError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CredentialFileError("unreadable", `${path} cannot be read: ${why}`, { cause });
}
