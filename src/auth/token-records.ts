/**
 * Which tokens were made and which were revoked: one small private file for each, in the state folder, without the token itself. A
 * revocation is a file that is there or not: every process sees it at its next look, and two that write cannot undo each other.
 */

import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { defined, ifThere, isRecord, jsonIn } from "#base";
import { TokenId } from "#protocol";
import {
  createSystemClock,
  makePrivateDirectory,
  readPrivateFile,
  SETTLED_TIME_FILE,
  settledTime,
  writePrivateFile,
} from "#world";
import { type Claims, parseClaims } from "./claims.ts";
import { MAX_TTL_SECONDS } from "./mint.ts";

/** Records stay for so long after their token has ended, to be listed. */
const KEPT_AFTER_END_MS = 30 * 24 * 60 * 60 * 1000;

/** The run of a server that made a token for itself: with its end the token is over, whether or not it could say so. */
export interface TokenRun {
  /** The process, by a name that no later one has. */
  readonly process: string;
  /** Of the daemon of a user: where it listens. Nobody else listens there while it runs. */
  readonly socket?: string;
}

export interface TokenRecord {
  readonly claims: Claims;
  readonly mintedAt: string;
  readonly run?: TokenRun;
  readonly revokedAt?: string;
}

export interface TokenRecords {
  /** Also removes what has ended long ago. */
  add(claims: Claims, nowMs: number, run?: TokenRun): void;
  /** Whether the token was made on this machine, as far as that is kept. Throws when that cannot be found out. */
  has(jti: TokenId): boolean;
  /** Newest first. */
  list(): TokenRecord[];
  /** Durable when it returns. A token that was made elsewhere can be revoked, too. False when it was revoked before. */
  revoke(jti: TokenId, nowMs: number): boolean;
  /** As `revoke`, for the token of a run that is over. Nobody has taken back what it was used for. */
  endRun(jti: TokenId, nowMs: number): boolean;
  /** When the token or one that it comes from was revoked. Throws when that cannot be found out. */
  revokedAt(claims: Pick<Claims, "jti" | "minted_by">): Revocation | undefined;
}

export interface Revocation {
  readonly jti: TokenId;
  readonly at: string;
  /** It ended with its run. */
  readonly isRunOver: boolean;
}

/** `settled`: the time by which records are forgotten. With one that leaps ahead, tokens that were revoked would be good again. */
export function createTokenRecords(
  stateDir: string,
  settled = (wallMs: number): number =>
    settledTime(join(stateDir, SETTLED_TIME_FILE), { ...createSystemClock(), now: () => wallMs }),
): TokenRecords {
  const folder = join(stateDir, "tokens");
  const recordOf = (jti: TokenId): string => join(folder, `${jti}.json`);
  const markOf = (jti: TokenId): string => join(folder, `${jti}.revoked`);

  const names = (): string[] => ifThere(() => readdirSync(folder)) ?? [];

  function write(path: string, content: object): void {
    makePrivateDirectory(folder);
    writePrivateFile(path, `${JSON.stringify(content)}\n`, { durable: true });
  }

  function revocation(jti: TokenId): (Revocation & { readonly keptUntilMs: number }) | undefined {
    // Asked at every request, and nearly never there: an exception for each would cost more than all the rest of the check.
    const [mark, inside] = [markOf(jti), folder].map((path) => statSync(path, { throwIfNoEntry: false }));
    if (mark === undefined && inside?.isDirectory()) return undefined;
    const bytes = readPrivateFile(markOf(jti));
    if (bytes === undefined) return undefined;
    const { at, kept_until_ms, run_over } = fieldsOf(bytes);
    // A mark that cannot be read is a mark.
    return {
      jti,
      isRunOver: run_over === true,
      at: typeof at === "string" ? at : "an unknown time",
      keptUntilMs: typeof kept_until_ms === "number" ? kept_until_ms : Number.POSITIVE_INFINITY,
    };
  }

  function record(jti: TokenId): Omit<TokenRecord, "revokedAt"> | undefined {
    const bytes = readPrivateFile(recordOf(jti));
    if (bytes === undefined) return undefined;
    const { claims, minted_at, run } = fieldsOf(bytes);
    const known = runFrom(run);
    try {
      return {
        claims: parseClaims(claims),
        mintedAt: String(minted_at),
        ...defined({ run: known }),
      };
    } catch {
      return undefined; // written by a newer program, or damaged: a list is no authority, and the token speaks for itself
    }
  }

  function mark(jti: TokenId, nowMs: number, fields: object): void {
    // No token lives longer, whoever made it; nor does one that comes from it.
    const keptUntilMs = nowMs + MAX_TTL_SECONDS * 1000 + KEPT_AFTER_END_MS;
    write(markOf(jti), { at: new Date(nowMs).toISOString(), kept_until_ms: keptUntilMs, ...fields });
  }

  function forgetEnded(nowMs: number): void {
    for (const jti of tokenIds(names(), ".json")) {
      const known = record(jti);
      if (known !== undefined && known.claims.exp * 1000 + KEPT_AFTER_END_MS < nowMs)
        rmSync(recordOf(jti), { force: true });
    }
    for (const jti of tokenIds(names(), ".revoked")) {
      if ((revocation(jti)?.keptUntilMs ?? 0) < nowMs) rmSync(markOf(jti), { force: true });
    }
  }

  return {
    add(claims, nowMs, run) {
      makePrivateDirectory(folder);
      forgetEnded(settled(nowMs));
      const minted_at = new Date(nowMs).toISOString();
      write(recordOf(claims.jti), { minted_at, claims, ...defined({ run }) });
    },
    has: (jti) => readPrivateFile(recordOf(jti)) !== undefined,
    list() {
      return tokenIds(names(), ".json")
        .flatMap((jti): TokenRecord[] => {
          const known = record(jti);
          const at = revocation(jti)?.at;
          return known === undefined ? [] : [{ ...known, ...defined({ revokedAt: at }) }];
        })
        .toSorted((a, b) =>
          a.mintedAt < b.mintedAt || (a.mintedAt === b.mintedAt && a.claims.jti < b.claims.jti) ? 1 : -1,
        );
    },
    revoke(jti, nowMs) {
      const before = revocation(jti);
      if (before !== undefined && !before.isRunOver) return false;
      mark(jti, nowMs, {});
      return true;
    },
    endRun(jti, nowMs) {
      if (revocation(jti) !== undefined) return false;
      mark(jti, nowMs, { run_over: true });
      return true;
    },
    revokedAt({ jti, minted_by = [] }) {
      for (const id of [jti, ...minted_by]) {
        const found = revocation(id);
        if (found !== undefined) return { jti: id, at: found.at, isRunOver: found.isRunOver };
      }
      return undefined;
    },
  };
}

function tokenIds(names: readonly string[], ending: string): TokenId[] {
  return names
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .filter((name) => TokenId.is(name));
}

function runFrom(raw: unknown): TokenRun | undefined {
  if (!isRecord(raw) || typeof raw.process !== "string") return undefined;
  return { process: raw.process, ...(typeof raw.socket === "string" ? { socket: raw.socket } : {}) };
}

function fieldsOf(bytes: Buffer): Record<string, unknown> {
  const value = jsonIn(bytes.toString("utf8"));
  return isRecord(value) ? value : {}; // whoever asks decides what a file without fields means
}
