/**
 * What a person does with stored credentials: add, list, delete, and give them another key. Secrets only go in here; the
 * credential helper alone takes them out.
 */

import { join } from "node:path";
import { type Clock, defined } from "#base";
import { ReasonError } from "#protocol";
import { movePrivateFile, removeDrafts, removePrivateFile, withFileLock, writePrivateFile } from "#world";
import {
  CREDENTIAL_FILE,
  type CredentialEntry,
  type CredentialFile,
  CredentialFileError,
  keyFits,
  MAX_CREDENTIALS,
  newCheck,
  openCredentialFile,
  openSecret,
  readCredentialFile,
  sealSecret,
  serializeCredentialFile,
} from "./credential-file.ts";
import type { Keychain, KeychainItem } from "./keychain.ts";

/** A credential as it may be shown. */
export type CredentialInfo = Omit<CredentialEntry, "sealed">;

export interface NewCredential extends KeychainItem {
  readonly hosts: readonly string[];
  readonly secret: Uint8Array;
  readonly useKeychain: boolean;
}

export interface AddedCredential {
  readonly credential: CredentialInfo;
  /** It took the place of one with this name. */
  readonly replaced: boolean;
  /** Why the secret is in the file although the keychain was asked for. */
  readonly keychainProblem?: string;
}

export interface CredentialStore {
  readonly path: string;
  /** Needs no key. Throws CredentialStoreFailed when the file cannot be used. */
  list(): readonly CredentialInfo[];
  /** Throws KeyInvalid when what is stored does not open with this machine's key. Opens no secret. */
  check(): void;
  add(credential: NewCredential): Promise<AddedCredential>;
  /** False when there is none; `keychainProblem` says that the keychain still has its secret. */
  remove(item: KeychainItem): Promise<{ readonly removed: boolean; readonly keychainProblem?: string }>;
}

export interface CredentialStoreOptions {
  readonly directory: string;
  readonly clock: Clock;
  /** 32 bytes; worked out when it is first needed. */
  readonly key: () => Uint8Array;
  /** Where this machine has one. */
  readonly keychain?: Keychain;
}

export function createCredentialStore(options: CredentialStoreOptions): CredentialStore {
  const { clock, key, keychain } = options;
  const path = join(options.directory, CREDENTIAL_FILE);

  const current = (): CredentialFile => openCredentialFile(path, key());
  function write({ check }: CredentialFile, entries: readonly CredentialEntry[]): void {
    writePrivateFile(path, serializeCredentialFile({ check, entries }), { durable: true });
  }

  return {
    path,
    list: () => typed(path, () => (readCredentialFile(path)?.entries ?? []).map(shown)),
    check: () => void typed(path, current),
    add: ({ provider, name, hosts, secret, useKeychain }) =>
      locked(path, clock, async () => {
        const file = current();
        const others = file.entries.filter((entry) => !isItem(entry, { provider, name }));
        if (others.length >= MAX_CREDENTIALS) {
          throw new ReasonError("UsageInvalid", `there are already ${MAX_CREDENTIALS} credentials`);
        }
        const keychainProblem = useKeychain ? await intoKeychain(keychain, { provider, name }, secret) : undefined;
        const place = useKeychain && keychainProblem === undefined ? "keychain" : "file";
        const created = new Date(clock.now()).toISOString();
        const entry = sealSecret(key(), { provider, name, hosts, created, place }, secret);
        write(file, [...others, entry]);
        return {
          credential: shown(entry),
          replaced: others.length < file.entries.length,
          ...defined({ keychainProblem }),
        };
      }),
    remove: (item) =>
      locked(path, clock, async () => {
        const file = current();
        const entry = file.entries.find((one) => isItem(one, item));
        if (entry === undefined) return { removed: false };
        write(
          file,
          file.entries.filter((one) => one !== entry),
        );
        if (entry.place === "file") return { removed: true };
        const keychainProblem = keychain === undefined ? "there is no keychain here" : await keychain.remove(item);
        return { removed: true, ...defined({ keychainProblem }) };
      }),
  };
}

export interface CredentialRekey {
  /** Neither key opens it, or it is damaged: it is left as it is. */
  readonly unreadable: boolean;
  /** From now on the other key opens it. */
  finish(): void;
  abandon(): void;
}

/**
 * Seals every secret with another key, beside the file that is there, so that a change that is cut off at any point leaves one
 * that opens. Only inside `whileCredentialsRest`.
 */
export function rekeyCredentials(options: {
  readonly directory: string;
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}): CredentialRekey {
  const path = join(options.directory, CREDENTIAL_FILE);
  const next = `${path}.next`;
  const nothing = { unreadable: false, finish: () => undefined, abandon: () => undefined };
  try {
    const file = readCredentialFile(path);
    // A change that was cut off after this step is finished by doing the rest again.
    if (file === undefined || keyFits(file, options.to)) return nothing;
    const entries = file.entries.map((entry) => resealed(file, entry, options));
    writePrivateFile(next, serializeCredentialFile({ check: newCheck(options.to), entries }), { durable: true });
  } catch (error) {
    if (error instanceof CredentialFileError) return { ...nothing, unreadable: true };
    throw asReason(next, error);
  }
  return {
    unreadable: false,
    finish: () => movePrivateFile(next, path),
    abandon: () => removePrivateFile(next),
  };
}

/** Runs `work` while nobody adds or deletes a credential. */
export async function whileCredentialsRest<Result>(
  directory: string,
  clock: Clock,
  work: () => Result,
): Promise<Result> {
  const path = join(directory, CREDENTIAL_FILE);
  const held = await withFileLock(path, clock, () => {
    removeDrafts(path);
    return work();
  });
  if (held === undefined) throw keptByOther(path);
  return held.result;
}

function resealed(
  file: CredentialFile,
  entry: CredentialEntry,
  { from, to }: { readonly from: Uint8Array; readonly to: Uint8Array },
): CredentialEntry {
  const secret = openSecret(file, from, entry);
  const { sealed: _, fingerprint, ...about } = entry;
  const made = sealSecret(to, about, secret);
  secret.fill(0);
  // Of one in the keychain the secret is not here, so neither is its fingerprint under the new key.
  return entry.place === "keychain" ? { ...made, fingerprint } : made;
}

async function intoKeychain(
  keychain: Keychain | undefined,
  item: KeychainItem,
  secret: Uint8Array,
): Promise<string | undefined> {
  return keychain === undefined ? "there is no keychain on this system" : keychain.store(item, secret);
}

async function locked<Result>(path: string, clock: Clock, work: () => Promise<Result> | Result): Promise<Result> {
  try {
    const held = await withFileLock(path, clock, () => {
      removeDrafts(path);
      return work();
    });
    if (held !== undefined) return held.result;
  } catch (error) {
    throw asReason(path, error);
  }
  throw keptByOther(path);
}

function keptByOther(path: string): ReasonError {
  return new ReasonError("CredentialStoreFailed", `another process has locked ${path}. Try again.`);
}

function typed<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw asReason(path, error);
  }
}

function asReason(path: string, error: unknown): ReasonError {
  if (error instanceof ReasonError) return error;
  if (error instanceof CredentialFileError) {
    if (error.problem !== "wrong-key") return new ReasonError("CredentialStoreFailed", error.message, { cause: error });
    return new ReasonError("KeyInvalid", error.message, { cause: error });
  }
  const why = error instanceof Error ? error.message : String(error);
  const detail = `${path} could not be written: ${why}. What was stored before is unchanged.`;
  return new ReasonError("CredentialStoreFailed", detail, { cause: error });
}

function isItem(entry: KeychainItem, { provider, name }: KeychainItem): boolean {
  return entry.provider === provider && entry.name === name;
}

function shown({ sealed: _, ...info }: CredentialEntry): CredentialInfo {
  return info;
}
