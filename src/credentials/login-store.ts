/** Logins at MCP servers in the credential file, as the helper reads and writes them. Loaded when a server needs one. */
import { dirname, join } from "node:path";
import { EffectError } from "#base";
import { createSystemClock, withFileLock, writePrivateFile } from "#world";
import {
  type CredentialFile,
  MAX_CREDENTIALS,
  openCredentialFile,
  openSecret,
  readCredentialFile,
  sealSecret,
  serializeCredentialFile,
} from "./credential-file.ts";
import { LOGIN_PROVIDER, type LoginRecord, MAX_RECORD_BYTES, parseLoginRecord } from "./login-record.ts";

export interface StoredLogin {
  /** When the person logged in: a refresh keeps it, another login does not. */
  readonly created: string;
  readonly record: LoginRecord;
}

export interface LoginStore {
  /** Throws a CredentialFileError when the file cannot be used. */
  read(name: string): StoredLogin | undefined;
  /** Takes the place of an earlier login at this server. */
  save(name: string, record: LoginRecord): Promise<void>;
  /** False when that login is gone: somebody logged out, or logged in again. */
  update(name: string, login: StoredLogin): Promise<boolean>;
  /** Runs `work` while no other process does so for this server. */
  alone<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
}

/** Times the patience of one lock; more than a refresh may take. */
const LOCK_TRIES = 6;

export function createLoginStore({ path, key }: { readonly path: string; readonly key: Buffer }): LoginStore {
  const clock = createSystemClock();

  async function locked<Result>(what: string, tries: number, work: () => Promise<Result> | Result): Promise<Result> {
    for (let at = 0; at < tries; at++) {
      const held = await withFileLock(what, clock, work);
      if (held !== undefined) return held.result;
    }
    throw new EffectError("ServerUnavailable", `another process has locked ${what}. Try again.`);
  }

  /** Only inside the lock of the file. */
  function write(file: CredentialFile, name: string, { created, record }: StoredLogin): void {
    const secret = Buffer.from(JSON.stringify(record));
    if (secret.length > MAX_RECORD_BYTES) {
      throw new EffectError("TooLarge", `the tokens of the server are longer than ${MAX_RECORD_BYTES} bytes`);
    }
    const others = file.entries.filter((entry) => !isLogin(entry, name));
    if (others.length >= MAX_CREDENTIALS) {
      throw new EffectError("TooLarge", `there are already ${MAX_CREDENTIALS} credentials in ${path}`);
    }
    const about = { provider: LOGIN_PROVIDER, name, hosts: [new URL(record.url).origin], created };
    const entry = sealSecret(key, { ...about, place: "file" }, secret);
    secret.fill(0);
    writePrivateFile(path, serializeCredentialFile({ check: file.check, entries: [...others, entry] }), {
      durable: true,
    });
  }

  function read(name: string, file = readCredentialFile(path)): StoredLogin | undefined {
    const entry = file?.entries.find((one) => isLogin(one, name));
    if (file === undefined || entry === undefined) return undefined;
    const sealed = openSecret(file, key, entry);
    const record = parseLoginRecord(sealed);
    sealed.fill(0);
    return record === undefined ? undefined : { created: entry.created, record };
  }

  return {
    read,
    save: (name, record) =>
      locked(path, 1, () => {
        write(openCredentialFile(path, key), name, { created: new Date(clock.now()).toISOString(), record });
      }),
    update: (name, login) =>
      locked(path, 1, () => {
        const file = openCredentialFile(path, key);
        if (read(name, file)?.created !== login.created) return false;
        write(file, name, login);
        return true;
      }),
    alone: (name, work) => locked(join(dirname(path), `${LOGIN_PROVIDER}-${name}`), LOCK_TRIES, work),
  };
}

function isLogin(entry: { readonly provider: string; readonly name: string }, name: string): boolean {
  return entry.provider === LOGIN_PROVIDER && entry.name === name;
}
