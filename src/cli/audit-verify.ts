/** `harness audit verify`: whether a log, or an export of one, is as it was written, and as new as this machine has seen it. */
import { createReadStream, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf } from "#base";
import { findSession, headsOf, idStart, SEARCHED_SESSIONS, type StoreFlags, withStore } from "#program";
import { ReasonError, SessionId } from "#protocol";
import {
  type ArchiveStore,
  type Checkpoint,
  compareHead,
  harnessPaths,
  type KnownHeads,
  loadAudit,
  readSigningKey,
  type SessionMeta,
} from "#stores";
import { tellGone, tellVerdict } from "./audit-verdict.ts";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { readGitNotes } from "./git-notes.ts";

export interface VerifyFlags extends StoreFlags {
  readonly all?: boolean;
  readonly anchor?: readonly string[];
  readonly gitNote?: boolean;
  readonly cwd?: string;
  readonly key?: readonly string[];
  readonly json?: boolean;
}

/** 0 when all is intact, 1 when a log is not, 3 when all are and one is not what this machine has seen last. */
export async function auditVerifyCommand(
  ports: CliPorts,
  target: string | undefined,
  flags: VerifyFlags,
): Promise<ExitCode> {
  if ((target === undefined) !== (flags.all === true)) throw usage("name a session or an exported file, or pass --all");
  const trustedKeys = await trustedKeysOf(ports, flags.key);
  const file = resolve(ports.cwd, target ?? "");
  if (target !== undefined && !SessionId.is(target) && statSync(file, { throwIfNoEntry: false })?.isFile() === true) {
    return verifyFile(ports, file, trustedKeys, flags);
  }
  const heads = await headsOf(ports, flags);
  return withStore<ExitCode>(ports, flags, async (store) => {
    const lost = await lostSessions(store, heads, target);
    const named = target === undefined || lost.length > 0 ? [] : [await findSession(store, target)];
    const sessions = target === undefined ? await store.list({ limit: SEARCHED_SESSIONS }) : named;
    const codes: ExitCode[] = [];
    for (const meta of sessions) codes.push(await verifySession(ports, { store, heads, meta, trustedKeys, flags }));
    for (const id of lost) codes.push(tellLost(ports, heads, id, flags));
    return codes.includes(1) ? 1 : codes.includes(3) ? 3 : 0;
  });
}

/** An export is as old as it is: the last known head says nothing about it. */
async function verifyFile(
  ports: CliPorts,
  file: string,
  trustedKeys: readonly string[],
  flags: VerifyFlags,
): Promise<ExitCode> {
  const { readEvidenceLines, verifyEvidence } = await loadAudit();
  const anchors = await anchorsOf(ports, flags, ports.cwd);
  const verdict = await verifyEvidence(readEvidenceLines(readText(file)), { trustedKeys, ...anchors });
  return tellVerdict(ports, verdict, flags);
}

async function verifySession(
  ports: CliPorts,
  asked: {
    readonly store: ArchiveStore;
    readonly heads: KnownHeads;
    readonly meta: SessionMeta;
    readonly trustedKeys: readonly string[];
    readonly flags: VerifyFlags;
  },
): Promise<ExitCode> {
  const { store, heads, meta, trustedKeys, flags } = asked;
  const { verifyEvidence } = await loadAudit();
  const anchors = await anchorsOf(ports, flags, meta.workingDir);
  // Before the log, which is never behind it.
  const head = heads.read(meta.id);
  const options = { session: meta.id, trustedKeys, head, ...anchors };
  return tellVerdict(ports, await verifyEvidence(store.readEvidence(meta.id), options), flags);
}

/** Sessions that have a head and are not in the log: those that `target` names, or all. */
async function lostSessions(store: ArchiveStore, heads: KnownHeads, target: string | undefined): Promise<SessionId[]> {
  const known = heads.list().filter((id) => target === undefined || id.startsWith(idStart(target)));
  const lost: SessionId[] = [];
  for (const id of known) if ((await store.get(id)) === undefined) lost.push(id);
  return lost;
}

function tellLost(ports: CliPorts, heads: KnownHeads, id: SessionId, flags: VerifyFlags): ExitCode {
  const standing = compareHead(heads.read(id), undefined);
  // Deleted while we looked.
  return standing.state === "unknown" ? 0 : tellGone(ports, id, standing, flags);
}

/** Those that were named, else that of this machine. */
async function trustedKeysOf({ env }: CliPorts, named: readonly string[] | undefined): Promise<readonly string[]> {
  const { isPublicKey } = await loadAudit();
  const wrong = named?.find((key) => !isPublicKey(key));
  if (wrong !== undefined) throw usage(`--key takes 64 lower-case hex digits, not '${wrong}'`);
  const own = named === undefined ? readSigningKey(harnessPaths(env).configDir) : undefined;
  return named ?? (own === undefined ? [] : [own.publicKey]);
}

async function anchorsOf(
  ports: CliPorts,
  { anchor: files, gitNote, cwd }: VerifyFlags,
  workingDir: string,
): Promise<{ readonly anchors?: readonly Checkpoint[] }> {
  if (files === undefined && gitNote !== true) return {};
  const sources: { name: string; text: string }[] = [];
  for (const name of files ?? []) sources.push({ name, text: await readAnchorFile(resolve(ports.cwd, name)) });
  if (gitNote === true) {
    const dir = resolve(ports.cwd, cwd ?? workingDir);
    sources.push({ name: `the git notes of ${dir}`, text: await readGitNotes(dir) });
  }
  const { parseAnchors } = await loadAudit();
  const anchors = sources.flatMap(({ name, text }) => {
    const parsed = parseAnchors(text);
    if (parsed.wrong.length > 0) throw usage(`${name}, line ${parsed.wrong[0]}: this is not an anchor`);
    return parsed.anchors;
  });
  return { anchors };
}

async function readAnchorFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw usage(`the anchors cannot be read: ${messageOf(error)}`);
  }
}

/** Text that is not UTF-8 ends in a line that no export has, so that it is found and not repaired. */
async function* readText(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    for await (const chunk of createReadStream(file)) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw usage(`the export cannot be read: ${messageOf(error)}`);
    yield "\nnot UTF-8";
  }
}

function usage(detail: string): ReasonError {
  return new ReasonError("UsageInvalid", detail);
}
