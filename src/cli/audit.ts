/** `harness audit anchor` and `key`: an anchor of a log outside, and the key that vouches for it. */
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf } from "#base";
import { findSession, headsOf, type StoreFlags, withStore } from "#program";
import { ReasonError } from "#protocol";
import { type EvidenceItem, harnessPaths, loadAudit, openSigningKey } from "#stores";
import { tellVerdict, verdictCode } from "./audit-verdict.ts";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { appendGitNote } from "./git-notes.ts";

const ANCHOR_FILE_MODE = 0o600;

export interface AnchorFlags extends StoreFlags {
  readonly file?: string;
  readonly gitNote?: boolean;
  readonly cwd?: string;
  readonly json?: boolean;
}

/** Writes nothing when the log is not intact, or not the newest. */
export async function auditAnchorCommand(ports: CliPorts, target: string, flags: AnchorFlags): Promise<ExitCode> {
  const { terminal, env, clock } = ports;
  if (flags.file === undefined && flags.gitNote !== true)
    throw new ReasonError("UsageInvalid", "name a file with --file, or pass --git-note");
  const { anchorLine, verifyEvidence } = await loadAudit();
  const key = openSigningKey(harnessPaths(env).configDir);
  const heads = await headsOf(ports, flags);
  return withStore<ExitCode>(ports, flags, async (store) => {
    const { id: session, workingDir } = await findSession(store, target);
    const head = heads.read(session);
    const end: { event: number; hash: string } = { event: 0, hash: "" };
    const items = noteEnd(store.readEvidence(session), end);
    const verdict = await verifyEvidence(items, { session, trustedKeys: [key.publicKey], head });
    if (verdictCode(verdict) !== 0) return tellVerdict(ports, verdict, flags);
    if (end.event === 0) throw new ReasonError("UsageInvalid", `${session} has no events yet`);
    const anchor = key.sign({ session, ...end, ts: new Date(clock.now()).toISOString() });
    const line = anchorLine(anchor);
    const written: string[] = [];
    if (flags.file !== undefined) {
      const file = resolve(ports.cwd, flags.file);
      await appendLine(file, line);
      written.push(file);
    }
    if (flags.gitNote === true) {
      const commit = await appendGitNote(resolve(ports.cwd, flags.cwd ?? workingDir), line);
      written.push(`git note on ${commit}`);
    }
    if (flags.json) terminal.out(`${JSON.stringify({ anchor, written })}\n`);
    else terminal.out(`anchored ${session} up to event ${anchor.event}: ${written.join(", ")}\n`);
    return 0;
  });
}

/** Prints the public key of this machine, which it makes if there is none. */
export async function auditKeyCommand({ terminal, env }: CliPorts, flags: { json?: boolean }): Promise<ExitCode> {
  const { id, publicKey } = openSigningKey(harnessPaths(env).configDir);
  terminal.out(flags.json ? `${JSON.stringify({ key_id: id, public_key: publicKey })}\n` : `${publicKey}\n`);
  return 0;
}

/** Passes evidence on, and notes where the chain ends. */
export async function* noteEnd(
  items: AsyncIterable<EvidenceItem>,
  end: { event: number; hash: string },
): AsyncGenerator<EvidenceItem> {
  for await (const item of items) {
    if (item.type === "head") {
      Object.assign(end, { event: item.head.lastEventId, hash: item.head.hash });
    }
    yield item;
  }
}

async function appendLine(file: string, line: string): Promise<void> {
  try {
    const handle = await open(file, "a", ANCHOR_FILE_MODE);
    try {
      await handle.appendFile(`${line}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new ReasonError("UsageInvalid", `the anchor cannot be written: ${messageOf(error)}`);
  }
}
