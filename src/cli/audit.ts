/** `harness audit`: whether a log is as it was written, an anchor of it outside, and the key that vouches for it. */
import { createReadStream, statSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf, visibleLine } from "#base";
import type { SessionMeta } from "#engine";
import { ReasonError, reasonText, SessionId } from "#protocol";
import {
  type Checkpoint,
  type EvidenceItem,
  harnessPaths,
  loadAudit,
  openSigningKey,
  readSigningKey,
  type Verdict,
} from "#sessions";
import type { CliPorts } from "./cli-ports.ts";
import { counted } from "./counted.ts";
import type { ExitCode } from "./exit-code.ts";
import { appendGitNote, readGitNotes } from "./git-notes.ts";
import { paint } from "./renderer.ts";
import { findSession, type StoreFlags, withStore } from "./session-store.ts";

const ANCHOR_FILE_MODE = 0o600;

export interface VerifyFlags extends StoreFlags {
  readonly anchor?: readonly string[];
  readonly gitNote?: boolean;
  readonly cwd?: string;
  readonly key?: readonly string[];
  readonly json?: boolean;
}

export interface AnchorFlags extends StoreFlags {
  readonly file?: string;
  readonly gitNote?: boolean;
  readonly cwd?: string;
  readonly json?: boolean;
}

/** 0 when the log is intact, 1 when it is not. */
export async function auditVerifyCommand(ports: CliPorts, target: string, flags: VerifyFlags): Promise<ExitCode> {
  const { readEvidenceLines, verifyEvidence } = await loadAudit();
  const trustedKeys = await trustedKeysOf(ports, flags.key);
  const file = resolve(ports.cwd, target);
  const isFile = !SessionId.is(target) && statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  const verdict = isFile
    ? await verifyEvidence(readEvidenceLines(readText(file)), {
        trustedKeys,
        ...(await anchorsOf(ports, flags, ports.cwd)),
      })
    : await withEvidence(ports, target, flags, async (items, { id, workingDir }) => {
        const anchors = await anchorsOf(ports, flags, workingDir);
        return verifyEvidence(items, { session: id, trustedKeys, ...anchors });
      });
  return tell(ports, verdict, flags.json === true);
}

/** Writes nothing when the log is not intact. */
export async function auditAnchorCommand(ports: CliPorts, target: string, flags: AnchorFlags): Promise<ExitCode> {
  const { terminal, env, clock } = ports;
  if (flags.file === undefined && flags.gitNote !== true) throw usage("name a file with --file, or pass --git-note");
  const { anchorLine, verifyEvidence } = await loadAudit();
  const key = openSigningKey(harnessPaths(env).configDir);
  return withEvidence<ExitCode>(ports, target, flags, async (items, { id: session, workingDir }) => {
    const end: { event: number; hash: string } = { event: 0, hash: "" };
    const verdict = await verifyEvidence(noteEnd(items, end), { session, trustedKeys: [key.publicKey] });
    if (verdict.findings.length > 0) return tell(ports, verdict, flags.json === true);
    if (end.event === 0) throw usage(`${session} has no events yet`);
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

/** The evidence of the session that `name` names, in full or by the beginning of its id. */
async function withEvidence<Result>(
  ports: CliPorts,
  name: string,
  flags: StoreFlags,
  use: (items: AsyncIterable<EvidenceItem>, meta: SessionMeta) => Promise<Result>,
): Promise<Result> {
  return withStore(ports, flags, async (store) => {
    const meta = await findSession(store, name);
    return use(store.readEvidence(meta.id), meta);
  });
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
    if (parsed.wrong.length > 0) throw usage(`${name}, line ${parsed.wrong[0]}: this is no anchor`);
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

async function* noteEnd(
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
    throw usage(`the anchor cannot be written: ${messageOf(error)}`);
  }
}

function tell({ terminal }: CliPorts, verdict: Verdict, json: boolean): ExitCode {
  const { session, events, checkpoints, anchors, expired, unsealed, findings, findingsLeftOut } = verdict;
  const intact = findings.length === 0;
  if (json) {
    const reason = intact ? {} : { reason: "EvidenceBroken" };
    const counts = { events, checkpoints, anchors, expired, unsealed };
    terminal.out(
      `${JSON.stringify({ intact, ...reason, session, ...counts, findings, findings_left_out: findingsLeftOut })}\n`,
    );
    return intact ? 0 : 1;
  }
  for (const { event, what, detail } of findings)
    terminal.out(`${visibleLine(`event ${event}: ${what}: ${detail}`)}\n`);
  if (findingsLeftOut > 0) terminal.out(`and ${findingsLeftOut} more\n`);
  const facts = [counted(events, "event"), counted(checkpoints, "checkpoint"), counted(anchors, "anchor")];
  if (expired > 0) facts.push(`content of ${counted(expired, "event")} has expired`);
  if (unsealed > 0) facts.push(`the last ${unsealed} not signed yet`);
  if (intact) terminal.out(`intact: ${session} (${facts.join(", ")})\n`);
  else {
    const log = session === undefined ? "The log" : `The log of ${session}`;
    const detail = `${log} is not as it was written (${facts.join(", ")}): ${counted(findings.length, "finding")}.`;
    const message = reasonText("EvidenceBroken", { detail });
    terminal.err(`${paint(terminal, "red", `✗ EvidenceBroken: ${message}`)}\n`);
  }
  return intact ? 0 : 1;
}

function usage(detail: string): ReasonError {
  return new ReasonError("UsageInvalid", { detail });
}
