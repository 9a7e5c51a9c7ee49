/** Opens a project so that it may take effect: nothing of it does before somebody agreed to every file of it. */

import { closeSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { type AwaitingFile, fileKinds, type TrustPort } from "#artifacts";
import { defined, messageOf, paint, visibleLine } from "#base";
import { ReasonError, reasonText } from "#protocol";
import type { AskForAck } from "#session";
import { createLockFileTrust, LockFileError, MAX_LOCK_BYTES, type ProjectTrust, parseLock } from "#trust";
import { handedAnswers } from "./handed-answers.ts";
import { askInline } from "./inline-acks.ts";
import type { ProjectPorts } from "./ports.ts";
import type { GivenAnswers, ServerAnswers } from "./project-servers.ts";
import { type OpenedProject, openProject, type ProjectPlace } from "./projects.ts";
import type { RunFlags } from "./run-flags.ts";
import { userTrust } from "./user-trust.ts";

/** Names a lock file, as `--lockfile` does. */
const LOCKFILE_VARIABLE = "HARNESS_LOCKFILE";
const MAX_NAMED_FILES = 50;

export interface TrustFlags {
  readonly lockfile?: string;
}

/** Shows files to a person, who accepts or denies each; what was accepted is acked, and a no to an optional file is kept. */
export type ReviewFiles = (
  trust: ProjectTrust,
  awaiting: readonly AwaitingFile[],
  signal: AbortSignal,
) => Promise<{ readonly accepted: readonly unknown[]; readonly denied: readonly unknown[] }>;

export interface TrustedProject extends OpenedProject {
  /** What was said about its MCP servers. */
  readonly answers?: GivenAnswers;
  /** The same where it can be added to; absent where a lock file speaks for the user. */
  readonly servers?: ServerAnswers;
  readonly askForAck?: AskForAck;
}

/**
 * `review`: a person is there and reads the files. Throws NonInteractiveAckRefused where nobody can be asked, AckDenied
 * where somebody said no.
 */
export async function openTrustedProject(
  ports: ProjectPorts,
  place: ProjectPlace,
  { lockfile, review, ...advice }: TrustFlags & AckAdvice & { readonly review?: ReviewFiles },
): Promise<TrustedProject> {
  const named = lockFilePath(ports, lockfile);
  let own: ProjectTrust | undefined;
  let answers: GivenAnswers | undefined;
  const trustOf = (root: string): TrustPort => {
    if (named !== undefined) {
      const lock = readLockFile(named);
      answers = handedAnswers(root, lock);
      return createLockFileTrust(root, lock);
    }
    own = userTrust(ports, root);
    answers = own;
    return own;
  };
  // The policy of the machine is nothing that a project brings.
  const opened = await openProject(ports, place, place.adminOnly === true ? undefined : trustOf);
  const { awaiting } = opened.loaded;
  const ask = own === undefined || review === undefined ? undefined : askWith(review, own);
  const askForAck = own === undefined ? undefined : askInline(own);
  if (awaiting === undefined) return { ...opened, ...defined({ askForAck, answers, servers: own }) };
  const problem = own?.problem();
  if (problem !== undefined) ports.terminal.err(`${paint(ports.terminal, "yellow", `warning: ${problem}`)}\n`);
  if (ask === undefined) throw ackRefusal(awaiting, named, advice);
  const interrupted = new AbortController();
  const stopListening = ports.terminal.onInterrupt(() => interrupted.abort());
  try {
    await ask(awaiting, interrupted.signal);
  } finally {
    stopListening();
  }
  const loaded = opened.loader.load();
  if (loaded.awaiting === undefined) return { ...opened, loaded, ...defined({ askForAck, answers, servers: own }) };
  throw new ReasonError("AckDenied", { files: awaitingNames(loaded.awaiting) });
}

function askWith(review: ReviewFiles, trust: ProjectTrust) {
  return async (awaiting: readonly AwaitingFile[], signal: AbortSignal): Promise<boolean> => {
    const { accepted, denied } = await review(trust, awaiting, signal);
    return accepted.length + denied.length > 0;
  };
}

/** The flag, else the variable; a file that a project brings is never taken by itself. */
export function lockFilePath({ cwd, env }: ProjectPorts, flag: string | undefined): string | undefined {
  const named = flag ?? (env[LOCKFILE_VARIABLE] === "" ? undefined : env[LOCKFILE_VARIABLE]);
  return named === undefined ? undefined : resolve(cwd, named);
}

/** Throws ConfigInvalid for one that is not there or not whole. */
export function readLockFile(path: string): ReturnType<typeof parseLock> {
  try {
    return parseLock(readBounded(path).toString("utf8"));
  } catch (error) {
    const why = messageOf(error);
    throw new ReasonError("ConfigInvalid", `the lock file ${path} cannot be used: ${why}`, { cause: error });
  }
}

/** It may be a pipe of the shell, whose length nobody knows, or a link of a repository to something that has no end. */
function readBounded(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const chunks: Buffer[] = [];
    let total = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(READ_BYTES);
      const read = readSync(file, chunk);
      if (read === 0) return Buffer.concat(chunks);
      total += read;
      if (total > MAX_LOCK_BYTES) throw new LockFileError(`it is larger than ${MAX_LOCK_BYTES} bytes`);
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
}

const READ_BYTES = 64 * 1024;

/** What to do about files that wait, where nobody can be asked. */
export interface AckAdvice {
  /** The command that asks about these files. Default: `harness ack`. */
  readonly command?: string;
  /** Instead of the flags that help without a person. */
  readonly remedy?: string;
}

/** `harness ack`, for the files that a run with these flags reads. */
export function ackCommand(
  { cwd }: Pick<ProjectPorts, "cwd">,
  { dir = ".", config }: Pick<ProjectPlace, "dir" | "config">,
  { profile, framework, allowProjectHooks }: Pick<RunFlags, "profile" | "framework" | "allowProjectHooks">,
): string {
  const folder = resolve(cwd, dir);
  return [
    "harness ack",
    ...(config === undefined ? [] : ["--config", shellWord(config)]),
    ...(config !== undefined || folder === cwd ? [] : ["--dir", shellWord(folder)]),
    ...(framework === true ? ["--framework"] : []),
    ...(profile === undefined ? [] : ["--profile", shellWord(profile)]),
    ...(allowProjectHooks === true ? ["--allow-project-hooks"] : []),
  ].join(" ");
}

function shellWord(text: string): string {
  const shown = visibleLine(text);
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}

/** Names the files and what to do about them. */
export function ackRefusal(
  awaiting: readonly AwaitingFile[],
  lockfile: string | undefined,
  { command = "harness ack", remedy }: AckAdvice = {},
): ReasonError {
  const kinds = [...new Set(awaiting.map(({ kind }) => fileKinds[kind].name))].join(", ");
  const files = awaiting
    .slice(0, MAX_NAMED_FILES)
    .map(({ file, change }) => `\n  ${change.padEnd(8)}${visibleLine(file)}`);
  const more = awaiting.length - files.length;
  // A case is run because somebody asked for it; there is no going without it.
  const without = awaiting.every(({ kind }) => kind === "eval") ? "" : " Without the project: --no-project.";
  const how = remedy ?? `In CI: --lockfile FILE, made by ${command} --emit-lockfile.${without}`;
  const text = [
    reasonText("NonInteractiveAckRefused", { kind: kinds }),
    ...files,
    more > 0 ? `\n  and ${more} more` : "",
    lockfile === undefined
      ? `\nReview them with: ${command}. ${how}`
      : `\nThey differ from ${lockfile}. Review them with ${command}, then write the lock file again: ${command} --emit-lockfile.`,
  ];
  return ReasonError.withMessage("NonInteractiveAckRefused", text.join(""));
}

export function awaitingNames(awaiting: readonly AwaitingFile[]): string {
  const named = awaiting.slice(0, MAX_NAMED_FILES).map(({ file }) => visibleLine(file));
  const more = awaiting.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
