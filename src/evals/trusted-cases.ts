/**
 * Eval cases before they run: a case brings calls, rules and scripts, so somebody has to have agreed to it as it is, as to every other
 * file that a repository brings.
 */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { AwaitingFile, JudgedFile, TrustPort } from "#artifacts";
import {
  ackRefusal,
  awaitingNames,
  lockFilePath,
  PROJECT_FILES,
  type ProgramPorts,
  type ReviewFiles,
  readLockFile,
  userTrust,
} from "#program";
import { ReasonError } from "#protocol";
import { createLockFileTrust } from "#trust";
import { isInside } from "#world";
import { type CaseFile, type LoadedCase, loadSuite } from "./load-suite.ts";

/** Where cases are when nobody says so. */
export const DEFAULT_CASES = join("evals", "testdata");

/**
 * Returns when every one of them was agreed to, as it was read. Throws NonInteractiveAckRefused where nobody can be asked, AckDenied
 * where somebody said no, or where a file is not any more what was read.
 */
export async function requireAckedCases(
  ports: ProgramPorts,
  cases: readonly LoadedCase[],
  { lockfile, review }: { readonly lockfile?: string; readonly review?: ReviewFiles },
): Promise<void> {
  const named = lockFilePath(ports, lockfile);
  const byRoot = Map.groupBy(cases, ({ path }) => rootOf(ports, path));
  for (const [root, own] of byRoot) {
    const files = judgedCases(root, own);
    const waiting = (trust: TrustPort): readonly AwaitingFile[] =>
      trust.judge(files).awaiting.filter(({ kind, change }) => kind === "eval" && change !== "removed");
    if (named !== undefined) {
      const awaiting = waiting(createLockFileTrust(root, readLockFile(named)));
      if (awaiting.length > 0) throw ackRefusal(awaiting, named);
      continue;
    }
    const trust = userTrust(ports, root);
    const awaiting = waiting(trust);
    if (awaiting.length === 0) continue;
    if (review === undefined) throw ackRefusal(awaiting, undefined);
    const interrupted = new AbortController();
    const stopListening = ports.terminal.onInterrupt(() => interrupted.abort());
    await review(trust, awaiting, interrupted.signal).finally(stopListening);
    const left = waiting(trust);
    if (left.length > 0) throw new ReasonError("AckDenied", { files: awaitingNames(left) });
  }
}

/** The cases that lie where cases of a project are looked for; those that are broken cannot run and are not among them. */
export async function surveyCases(root: string): Promise<readonly JudgedFile[]> {
  const folder = join(root, DEFAULT_CASES);
  if (!existsSync(folder)) return [];
  // Nothing is run and nothing is told: `harness eval` says what is wrong with a case.
  const nothing = { tool: () => [], hook: () => [], condition: () => [] };
  const { cases } = await loadSuite({ cwd: root, paths: [folder], checker: nothing, mayBeEmpty: true });
  return judgedCases(root, cases);
}

function judgedCases(root: string, cases: readonly LoadedCase[]): readonly JudgedFile[] {
  const files = new Map(cases.flatMap((one) => one.files).map((file) => [file.path, file]));
  return [...files.values()].map(({ path, hash }) => ({ file: nameIn(root, path), kind: "eval", hash }));
}

/** As in a lock: relative to the project with `/`, absolute outside it. */
function nameIn(root: string, path: CaseFile["path"]): string {
  const real = realpathSync.native(path);
  return isInside(root, real) ? relative(root, real).split(sep).join("/") : path;
}

/** The real path of the project that a case belongs to: the nearest around it, else the current folder, else its own. */
function rootOf({ cwd }: ProgramPorts, path: string): string {
  const own = realpathSync.native(dirname(path));
  for (let folder = own; ; folder = dirname(folder)) {
    if (PROJECT_FILES.some((name) => existsSync(join(folder, name))) || holdsArtifacts(folder)) return folder;
    if (folder === dirname(folder)) break;
  }
  const here = realpathSync.native(resolve(cwd));
  return isInside(here, own) ? here : own;
}

/** Whether there is more in its `.harness` than the sessions that the program keeps there, which make no project. */
function holdsArtifacts(folder: string): boolean {
  try {
    return readdirSync(join(folder, ".harness")).some((name) => name !== "threads");
  } catch {
    return false; // none, or none that could be read as a project
  }
}
