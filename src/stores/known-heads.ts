/**
 * The last known head of each session, kept outside its log: a small sealed file in the state folder, one for each session. It shows
 * that a log was put back to an older copy. Knows nothing of stores; `evidence-log.ts` keeps it up with one.
 */
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Clock, errnoOf, messageOf } from "#base";
import { SessionId } from "#protocol";
import {
  makePrivateDirectory,
  readOwnedFile,
  realPath,
  removePrivateFile,
  rewritePrivateFile,
  writePrivateFile,
} from "#world";
import { isHex } from "./evidence.ts";
import { createWitnessedHead, type HeadWitness, NO_WITNESS } from "./head-witness.ts";
import { deriveKey, type MachineKey } from "./machine-key.ts";
import { harnessPaths } from "./paths.ts";
import type { ChainHead } from "./record.ts";

const FORMAT = "harness-head-1";
const KEY_PURPOSE = "known heads";
/** Within one sector of a disk, so that a head that is written over another is there whole or not at all. */
const FILE_BYTES = 512;
const LOG_ID_CHARS = 32;
/** Beside the heads of a log: its path, so that heads of a log that is long gone can go too. */
const LOG_FILE = "log";
const MAX_PATH_BYTES = 64 * 1024;
/** Heads of a log that does not exist any more are kept this long after the last of them was written. */
const LOST_LOG_MS = 90 * 24 * 60 * 60 * 1000;

/** What this machine saw last of a session. */
export interface KnownHead {
  readonly session: SessionId;
  readonly event: number;
  /** Of the chain at that event, in hex. */
  readonly hash: string;
  /** When it was kept. */
  readonly ts: string;
}

export type HeadReading =
  | { readonly kind: "none" }
  | { readonly kind: "known"; readonly head: KnownHead }
  /** There is one, and this machine did not write it so. */
  | { readonly kind: "tampered"; readonly why: string };

/** The heads of one log. */
export interface KnownHeads {
  /** Throws KeyInvalid when the machine key cannot be used. */
  read(session: SessionId): HeadReading;
  /** Whether it is kept now. Never throws: the log has the events, and what is wrong here is told to `onProblem`, once. */
  keep(session: SessionId, head: ChainHead): boolean;
  /** A writer leaves the session: its head is the newest of this log, which the witness is told as well. Never rejects. */
  testify(session: SessionId): Promise<void>;
  /** Asks the witness. Without it, `read` and `list` know what the state folder says and nothing more. */
  consult(): Promise<void>;
  /** For a session that somebody deleted. Rejects with what the system says. */
  forget(session: SessionId): Promise<void>;
  /** Sessions that have one, whether it can be believed or not. Needs no key. */
  list(): readonly SessionId[];
}

/** Where heads are kept, and what proves that this machine wrote them. */
export interface HeadsPlace {
  readonly directory: string;
  /** Asked for when it is first needed. */
  readonly key: () => MachineKey;
  readonly clock: Pick<Clock, "now">;
  /** Where the newest head is kept besides; absent: nowhere. */
  readonly witness?: HeadWitness;
  /** A sentence for a person: heads cannot be kept, so that an older copy of the log would not be noticed. */
  onProblem(message: string): void;
}

/** That of the user whom this environment describes. */
export function headsDirectory(env: Readonly<Record<string, string | undefined>>): string {
  return join(harnessPaths(env).stateDir, "heads");
}

/** `log` is the file or folder of the log: heads of one log say nothing about a session of the same id in another. */
export function createKnownHeads(place: HeadsPlace, log: string): KnownHeads {
  const logPath = realPath(resolve(log));
  const logId = hash("sha256", logPath).slice(0, LOG_ID_CHARS);
  const folder = join(place.directory, logId);
  const pathOf = (session: SessionId): string => join(folder, session);
  let sealingKey: Buffer | undefined;
  let isTold = false;

  const key = (): Buffer => {
    sealingKey ??= deriveKey(place.key(), KEY_PURPOSE);
    return sealingKey;
  };

  const readOnce = (session: SessionId): HeadReading => {
    const path = pathOf(session);
    const tampered = (why: string): HeadReading => ({ kind: "tampered", why: `${path}: ${why}` });
    let text: string | undefined;
    try {
      text = readOwnedFile(path, FILE_BYTES)?.toString("latin1");
    } catch (error) {
      // The state folder is none: nothing can be kept there either, which is told when it is tried.
      return errnoOf(error) === "ENOTDIR" ? { kind: "none" } : tampered(messageOf(error));
    }
    if (text === undefined) return { kind: "none" };
    const parsed = parseHead(text);
    if (parsed?.log !== logId || parsed.head.session !== session) return tampered("it is not the head of this session");
    if (!isSealed(key(), parsed)) return tampered("it does not carry the seal of this machine's key");
    return { kind: "known", head: parsed.head };
  };

  const write = (session: SessionId, text: string): void => {
    if (rewritePrivateFile(pathOf(session), text)) return;
    makePrivateDirectory(folder);
    if (statSync(join(folder, LOG_FILE), { throwIfNoEntry: false }) === undefined) {
      writePrivateFile(join(folder, LOG_FILE), logPath, { durable: false });
    }
    writePrivateFile(pathOf(session), text, { durable: true });
  };

  const tell = (why: string): void => {
    if (!isTold) place.onProblem(why);
    isTold = true;
  };

  const read = (session: SessionId): HeadReading => {
    const reading = readOnce(session);
    // Whoever reads while it is written over may see both: the second look tells that from a change by somebody else.
    return reading.kind === "tampered" ? readOnce(session) : reading;
  };

  const { witness } = place;
  const witnessed =
    witness === undefined
      ? NO_WITNESS
      : createWitnessedHead({
          witness,
          name: logId,
          seal: (head) => formatHead(logId, head, [sealOf(key(), logId, head)]).trimEnd(),
          open(text) {
            const parsed = parseHead(`${text.trimEnd().padEnd(FILE_BYTES - 1)}\n`);
            return parsed?.log === logId && isSealed(key(), parsed) ? parsed.head : undefined;
          },
          read,
          onProblem: (why) =>
            tell(
              `Harness could not store the newest head of the log in the keychain: ${why}. Run: harness audit verify --all`,
            ),
        });

  return {
    read: (session) => witnessed.newer(session, read(session)),
    keep(session, { lastEventId: event, hash: chainHash }) {
      try {
        const head = { session, event, hash: chainHash, ts: new Date(place.clock.now()).toISOString() };
        write(session, formatHead(logId, head, [sealOf(key(), logId, head)]));
        isTold = false;
        return true;
      } catch (error) {
        const why = `Harness could not store the last known head of ${session} in ${folder}: ${messageOf(error)}.`;
        tell(`${why} The log is intact, but Harness could not detect that an older copy replaced it.`);
        return false;
      }
    },
    async testify(session) {
      const reading = read(session);
      if (reading.kind === "known") await witnessed.testify(reading.head);
    },
    consult: witnessed.consult,
    async forget(session) {
      removePrivateFile(pathOf(session));
      await witnessed.withdraw(session);
    },
    list: () => [...new Set([...namesIn(folder), witnessed.session() ?? ""])].filter((name) => SessionId.is(name)),
  };
}

/**
 * Seals every head for another machine key as well, before that takes the place of the old one: with either key they count. Returns
 * how many do not count with the old key; those are left as they are.
 */
export function sealHeadsFor(directory: string, keys: { readonly from: MachineKey; readonly to: MachineKey }): number {
  const [from, to] = [deriveKey(keys.from, KEY_PURPOSE), deriveKey(keys.to, KEY_PURPOSE)];
  const files = namesIn(directory).flatMap((log) =>
    namesIn(join(directory, log)).flatMap((name) => (SessionId.is(name) ? [join(directory, log, name)] : [])),
  );
  let left = 0;
  for (const path of files) {
    const parsed = parseHead(textOf(path) ?? "");
    if (parsed === undefined || !isSealed(from, parsed)) left += 1;
    else {
      const seals = [to, from].map((key) => sealOf(key, parsed.log, parsed.head));
      writePrivateFile(path, formatHead(parsed.log, parsed.head, seals), { durable: true });
    }
  }
  return left;
}

/** Lets go of heads whose log is not there any more and has not been for long. `own` is never let go: that it is gone is a finding. */
export function forgetLostLogs(directory: string, options: { readonly own: string; readonly nowMs: number }): void {
  for (const name of namesIn(directory)) {
    const folder = join(directory, name);
    const log = readOwnedFile(join(folder, LOG_FILE), MAX_PATH_BYTES)?.toString("utf8");
    if (log === undefined || log === realPath(options.own)) continue;
    if (statSync(log, { throwIfNoEntry: false }) !== undefined) continue;
    const newestMs = Math.max(...namesIn(folder).map((file) => statSync(join(folder, file)).mtimeMs));
    if (options.nowMs - newestMs > LOST_LOG_MS) rmSync(folder, { recursive: true, force: true });
  }
}

interface ParsedHead {
  readonly log: string;
  readonly head: KnownHead;
  readonly seals: readonly string[];
}

function formatHead(log: string, { session, event, hash: chainHash, ts }: KnownHead, seals: readonly string[]): string {
  return `${[FORMAT, log, session, event, chainHash, ts, ...seals].join(" ").padEnd(FILE_BYTES - 1)}\n`;
}

/** Undefined when it is not exactly what `formatHead` writes. */
function parseHead(text: string): ParsedHead | undefined {
  const [format, log, session, event, chainHash, ts, ...seals] = text.trimEnd().split(" ");
  if (format !== FORMAT || !isHex(log, LOG_ID_CHARS) || session === undefined || !SessionId.is(session))
    return undefined;
  if (!isHex(chainHash, 64) || ts === undefined || seals.some((seal) => !isHex(seal, 64))) return undefined;
  const head = { session, event: Number(event), hash: chainHash, ts };
  return Number.isSafeInteger(head.event) && formatHead(log, head, seals) === text ? { log, head, seals } : undefined;
}

function sealOf(key: Buffer, log: string, { session, event, hash: chainHash, ts }: KnownHead): string {
  return createHmac("sha256", key).update([FORMAT, log, session, event, chainHash, ts].join("\n")).digest("hex");
}

function isSealed(key: Buffer, { log, head, seals }: ParsedHead): boolean {
  const right = Buffer.from(sealOf(key, log, head), "hex");
  return seals.some((seal) => timingSafeEqual(Buffer.from(seal, "hex"), right));
}

/** Undefined when it cannot be read, or others could have written it. */
function textOf(path: string): string | undefined {
  try {
    return readOwnedFile(path, FILE_BYTES)?.toString("latin1");
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return [];
    throw error;
  }
}
