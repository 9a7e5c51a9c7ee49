/** `harness ack` and `harness verify-ack`: agreeing to the files of a project, and checking that they are as somebody agreed. */

import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { type AwaitingFile, isOptionalKind, nestedFolders, type ProjectSurvey, surveyProject } from "#artifacts";
import { defined, errnoOf, messageOf, visibleLine } from "#base";
import {
  ackRefusal,
  createLockFileTrust,
  loadConfig,
  locateProject,
  lockFilePath,
  optionalPlaces,
  type ProjectTrust,
  problemText,
  type RunFlags,
  readLockFile,
  userTrust,
  withProfile,
  writeLock,
} from "#program";
import type { ServerFinding } from "#program/server-lock";
import { ReasonError } from "#protocol";
import { writePrivateFile } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

const DEFAULT_LOCKFILE = "approved.lock";

interface PlaceFlags extends Pick<RunFlags, "profile" | "framework"> {
  readonly allowProjectHooks?: boolean;
  /** Also context files of folders below the project. */
  readonly nested?: boolean;
  readonly config?: string;
  readonly dir?: string;
}

/** It is committed with the project; nobody but its owner writes it, whatever the umask says. */
const LOCK_FILE_MODE = 0o644;

export interface AckFlags extends PlaceFlags {
  readonly all?: boolean;
  readonly yes?: boolean;
  /** Asks again about optional files that were denied. */
  readonly denied?: boolean;
  /** True: the default file. */
  readonly emitLockfile?: string | true;
}

/** 0 when nothing waits any more, 1 when something was denied or left, 2 where nobody can be asked. */
export async function ackCommand(ports: CliPorts, flags: AckFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const survey = await soundSurvey(ports, flags);
  const trust = ownTrust(ports, survey.root);
  if (flags.yes === true && !trust.isOwnFolder) {
    const detail =
      "--yes is only for your own files below the configuration folder. Review the files of a project one by one, without --yes";
    throw new ReasonError("UsageInvalid", detail);
  }
  const { awaiting: unanswered, denied } = trust.judge(survey.files);
  const asked = flags.denied === true ? survey.files.filter(({ file }) => denied.includes(file)) : [];
  const awaiting = [...unanswered, ...asked.map(({ file, kind }) => ({ file, kind, change: "changed" as const }))];
  const left = awaiting.length === 0 ? [] : await agree(ports, trust, awaiting, flags);
  if (left.length > 0) {
    terminal.err(`Not acked:\n${left.map(({ file }) => `  ${visibleLine(file)}\n`).join("")}`);
    return 1;
  }
  if (survey.files.length === 0) terminal.err(`There is no project in ${visibleLine(survey.root)}: nothing to ack.\n`);
  else terminal.err(`${answersText(survey, trust.judge(survey.files).denied.length)}\n`);
  if (flags.emitLockfile !== undefined) await emitLockfile(ports, survey, trust, flags);
  return 0;
}

/** What was acked here; tells when that does not count any more. */
function ownTrust(ports: CliPorts, root: string): ProjectTrust {
  const trust = userTrust(ports, root);
  const problem = trust.problem();
  if (problem !== undefined) ports.terminal.err(`warning: ${problem}\n`);
  return trust;
}

/** What still waits afterwards. */
async function agree(
  ports: CliPorts,
  trust: ProjectTrust,
  awaiting: readonly AwaitingFile[],
  { all, yes }: AckFlags,
): Promise<readonly AwaitingFile[]> {
  const { terminal } = ports;
  const isBulk = all === true && trust.isOwnFolder;
  if (!(isBulk && yes === true) && !terminal.interactive) throw ackRefusal(awaiting, undefined);
  const interrupted = new AbortController();
  const stopListening = terminal.onInterrupt(() => interrupted.abort());
  try {
    if (!isBulk) {
      const { reviewFiles } = await import("./ack-review.ts");
      const { accepted, denied } = await reviewFiles(ports, trust, awaiting, interrupted.signal);
      return awaiting.filter(({ file, kind }) => {
        return !accepted.includes(file) && !(isOptionalKind(kind) && denied.includes(file));
      });
    }
    const waiting = awaiting.map((file) => trust.look(file));
    terminal.err(
      `In your own configuration folder:\n${waiting.map(({ change, file }) => `  ${change.padEnd(8)}${visibleLine(file)}\n`).join("")}`,
    );
    if (yes !== true) {
      const keys = "  [a]ccept all  [q]uit > ";
      const answer = await terminal.ask((screen) => screen.readKey(keys, interrupted.signal));
      if (answer.kind !== "key" || answer.key.toLowerCase() !== "a") return awaiting;
    }
    trust.ack(waiting, "bulk");
    return waiting.filter(({ change, hash }) => change !== "removed" && hash === undefined);
  } finally {
    stopListening();
  }
}

/** Only what was acked as it is goes into it; in the order of its paths, so that a change of one file is a change of one entry. */
async function emitLockfile(
  ports: CliPorts,
  { root, files }: ProjectSurvey,
  trust: ProjectTrust,
  { emitLockfile: named, ...flags }: AckFlags,
): Promise<void> {
  const { cwd, terminal } = ports;
  const path = named === true || named === undefined ? resolve(root, DEFAULT_LOCKFILE) : resolve(cwd, named);
  const read = new Set(files.map(({ file }) => file));
  // Cases that lie elsewhere were acked when they were run.
  const isCase = ({ path: file, class: kind, sha256 }: ReturnType<ProjectTrust["entries"]>[number]): boolean =>
    kind === "eval" && trust.look({ file, kind, change: "changed" }).hash === sha256;
  const { portableAnswers } = await import("#program/server-lock");
  const { settings } = await loadConfig(ports, undefined);
  const { servers, notices } = await portableAnswers(ports, settings, placeOf(flags));
  for (const notice of notices) terminal.err(`${notice}\n`);
  const lock = writeLock({ servers, files: trust.entries().filter((entry) => read.has(entry.path) || isCase(entry)) });
  try {
    // Nothing is followed: a repository may bring links of any name.
    writePrivateFile(path, lock, { durable: false, mode: LOCK_FILE_MODE });
  } catch (error) {
    const why = errnoOf(error) ?? messageOf(error);
    const detail = `the lock file ${path} cannot be written (${why}): name a file in an existing folder that you can write to`;
    throw new ReasonError("UsageInvalid", detail, { cause: error });
  }
  terminal.err(
    `Written: ${visibleLine(path)}. Pass it with --lockfile or HARNESS_LOCKFILE; Harness does not read it otherwise.\n`,
  );
}

function placeOf({ dir, config }: PlaceFlags): Pick<PlaceFlags, "dir" | "config"> {
  return defined({ dir, config });
}

export interface VerifyAckFlags extends PlaceFlags {
  readonly lockfile?: string;
  readonly json?: boolean;
}

/** 0 when every file is as it was acked, 1 and the paths when not. Asks nobody, runs nothing. */
export async function verifyAckCommand(ports: CliPorts, flags: VerifyAckFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const survey = await soundSurvey(ports, flags);
  const lockfile = lockFilePath(ports, flags.lockfile);
  const trust =
    lockfile === undefined ? ownTrust(ports, survey.root) : createLockFileTrust(survey.root, readLockFile(lockfile));
  const { awaiting: changed } = trust.judge(survey.files);
  // What a file declares that nobody agreed to is not looked at.
  const servers = changed.length === 0 ? await serverFindings(ports, flags) : [];
  const isGood = changed.length === 0 && servers.length === 0;
  if (flags.json === true) {
    const unapproved = servers.some(({ change }) => change === "program")
      ? "MCPServerSHA256Mismatch"
      : "NonInteractiveAckRefused";
    const reason = changed.length > 0 ? "HookHashChanged" : unapproved;
    const report = {
      ok: isGood,
      ...(isGood ? {} : { reason }),
      root: survey.root,
      lockfile: lockfile ?? null,
      files: survey.files.length,
      changed: changed.map(({ file, kind, change }) => ({
        path: file,
        class: kind,
        change,
        sha256: survey.files.find((one) => one.file === file)?.hash ?? null,
      })),
      servers,
    };
    terminal.out(`${JSON.stringify(report)}\n`);
  } else if (isGood && survey.files.length === 0) terminal.out(`There is no project in ${visibleLine(survey.root)}.\n`);
  else if (isGood)
    terminal.out(`${filesOf(survey)} unchanged since ${survey.files.length === 1 ? "it was" : "they were"} acked.\n`);
  else if (changed.length > 0) {
    terminal.err("✗ HookHashChanged: these files are new or changed since the last ack:\n");
    terminal.out(changed.map(({ file, change }) => `${change.padEnd(8)}${visibleLine(file)}\n`).join(""));
  } else {
    terminal.err("✗ These MCP servers are not as they were approved. Look at each with: harness mcp approve NAME\n");
    terminal.out(
      servers.map(({ name, change, detail }) => `${change.padEnd(8)}${name}: ${visibleLine(detail)}\n`).join(""),
    );
  }
  return isGood ? 0 : 1;
}

async function serverFindings(ports: CliPorts, flags: VerifyAckFlags): Promise<readonly ServerFinding[]> {
  const { changedServers } = await import("#program/server-lock");
  const { settings } = await loadConfig(ports, undefined);
  return changedServers(ports, settings, placeOf(flags), defined({ lockfile: flags.lockfile }));
}

/** Which files there are. Throws ConfigInvalid for a project that is broken as it is written: nobody is asked to agree to that. */
export async function soundSurvey(ports: CliPorts, place: PlaceFlags): Promise<ProjectSurvey> {
  const { root, configFile } = locateProject(ports, place);
  const { profile, framework, allowProjectHooks: projectHooks } = place;
  const profiled = await withProfile(ports, defined({ dir: root, projectHooks }), defined({ profile, framework }));
  const optional = await optionalPlaces(ports, profiled);
  const real = realpathSync.native(root);
  const below = place.nested === true ? nestedFolders(real, optional) : { folders: [], problems: [] };
  for (const problem of below.problems) ports.terminal.err(`warning: ${visibleLine(problemText(problem))}\n`);
  const survey = await surveyProject({ root: real, optional, touched: below.folders, ...defined({ configFile }) });
  const { surveyCases } = await import("#evals");
  const errors = survey.problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new ReasonError("ConfigInvalid", errors.map(problemText).join("\n"));
  return { ...survey, files: [...survey.files, ...(await surveyCases(survey.root))] };
}

/** `7 files of /w are acked.`, `6 files of /w are acked, 1 is denied.` */
function answersText({ root, files }: ProjectSurvey, denied: number): string {
  const acked = filesOf({ files: files.slice(denied) }, ` of ${visibleLine(root)}`);
  const no = denied === 0 ? "" : `, ${denied} ${denied === 1 ? "is" : "are"} denied`;
  return `${acked} acked${no}.`;
}

/** `7 files are`, `1 file of /w is`. */
function filesOf({ files }: Pick<ProjectSurvey, "files">, of = ""): string {
  return files.length === 1 ? `1 file${of} is` : `${files.length} files${of} are`;
}
