/**
 * The preset that lets reading pass without a question: which calls are quiet, which programs are refused outright, and
 * which argv glob to offer for the session. Decides about nothing else; whoever has switched the preset off does not
 * ask it.
 */
import { wordSet } from "#base";
import { argvPattern, isPlainWord, matchArgv } from "./argv-patterns.ts";
import { CREDENTIAL_RULE, credentialProgram, UNMISTAKABLE_PROGRAMS } from "./credential-programs.ts";
import { kindOf } from "./known-tools.ts";
import { isSensitiveGlob, isSensitivePath, workspaceRelative } from "./sensitive-paths.ts";
import { analyseShell, type ShellAnalysis } from "./shell/analysis.ts";
import { everyCommand, type SimpleCommand } from "./shell/command.ts";
import { WRAPPERS } from "./shell/launchers.ts";
import { mentionedProgram, namesInText } from "./shell/mentions.ts";
import type { Workspace } from "./shell/paths.ts";
import { loudness } from "./shell/quiet.ts";
import { isInterpreter, programName } from "./shell/wrappers.ts";
import { hasGlob } from "./wildcard.ts";

export interface QuietCall {
  /** Canonical name. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** How a decision of this preset names its rule. */
export const QUIET_RULE = "built-in: quiet-preset";

export interface QuietDecision {
  readonly quiet: boolean;
  /** For people: why it is quiet, or why it asks. */
  readonly why: string;
}

/** `root` is the absolute workspace root. */
export function quietDecision(call: QuietCall, root: string): QuietDecision {
  switch (kindOf(call.tool)) {
    case "read":
    case "list":
    case "search":
      return quietFiles(call, root);
    case "question":
      return { quiet: true, why: "it only asks you a question" };
    case "reread":
      return { quiet: true, why: "it only shows what this session has seen" };
    case "skill":
      return { quiet: true, why: "it only shows a skill that you allowed" };
    case "recall":
      return { quiet: true, why: "it only reads memories" };
    case "command":
      return quietExec(call, root);
    case "delegation":
      return quietDelegation(call);
    case "task":
      return { quiet: true, why: "it only reports on delegates or ends them" };
    case "todo":
      return { quiet: true, why: "it only changes the agent's list of todos" };
    case "job":
      return { quiet: true, why: "it only reports on background commands or ends them" };
    case "change":
    case "fetch":
    case "memory":
    case "other":
      return loud(`${call.tool} is not in the quiet preset`);
  }
}

/** A delegation does nothing itself, and each call in it is judged; code that the model brings along is looked at by a person. */
function quietDelegation({ tool, args }: QuietCall): QuietDecision {
  const brings = ["tools", "hooks", "verify"].filter((name) => hasCode(args[name]));
  if (brings.length === 0) return { quiet: true, why: "Harness decides about each call of a delegate separately" };
  return loud(`${tool} carries its own code (${brings.join(", ")})`);
}

function hasCode(given: unknown): boolean {
  if (!Array.isArray(given)) return given !== undefined;
  return given.some((one) => typeof one !== "string");
}

export interface BlockedVerdict {
  readonly effect: "deny" | "ask";
  readonly why: string;
  /** Where the rule is written. */
  readonly by: string;
}

/**
 * Deny when the command runs a program that hands out credentials, wherever it stands and however it is spelled; ask when
 * the name of one turns up where it may be run and that cannot be read; undefined when there is no sign of one.
 */
export function blockedProgram(command: string): BlockedVerdict | undefined {
  const analysis = analyseShell(command);
  const known = blockedOf.get(analysis);
  if (known !== undefined) return known.verdict;
  const verdict = findBlocked(command, analysis);
  blockedOf.set(analysis, { verdict });
  return verdict;
}

/** Asked twice about each command; follows from its text alone. */
const blockedOf = new WeakMap<ShellAnalysis, { readonly verdict: BlockedVerdict | undefined }>();

function findBlocked(command: string, analysis: ShellAnalysis): BlockedVerdict | undefined {
  const by = CREDENTIAL_RULE;
  let asks: BlockedVerdict | undefined;
  for (const simple of everyCommand(analysis.commands)) {
    const found = credentialProgram(simple);
    if (found !== undefined) return { effect: "deny", why: `${found} reads stored credentials (${by})`, by };
    if (simple.unknown.includes(0))
      asks ??= { effect: "ask", why: `its program is only known at run time and may read credentials (${by})`, by };
    const named = mentionedProgram(simple, UNMISTAKABLE_PROGRAMS);
    const name = programName(simple.words);
    if (named !== undefined)
      asks ??= { effect: "ask", why: `${name} may run ${named}, which reads stored credentials (${by})`, by };
  }
  if (asks !== undefined || analysis.understood) return asks;
  const bare = command.replace(/["'\\]/g, "");
  const name = namesInText(bare).find((named) => UNMISTAKABLE_PROGRAMS.has(named));
  if (name === undefined) return undefined;
  return { effect: "ask", why: `it names ${name}, and Harness does not understand it: ${analysis.why} (${by})`, by };
}

/**
 * The argv glob to offer for "allow this for the session", such as `git log *`; undefined when there is none that would
 * mean one thing only.
 */
export function suggestArgvGlob(command: string): string | undefined {
  const analysis = analyseShell(command);
  const [simple, ...more] = analysis.understood ? analysis.commands : [];
  return simple === undefined || more.length > 0 ? undefined : argvGlobOf(simple);
}

/** The same of one command of several. */
export function argvGlobOf(simple: SimpleCommand): string | undefined {
  if (simple.starts.length > 0 || simple.assignments.length > 0 || simple.redirects.length > 0) return undefined;
  if (simple.hereDocument || simple.background) return undefined;
  const [program = "", subcommand] = simple.words;
  const name = programName(simple.words);
  if (!PLAIN_WORD.test(program) || isInterpreter(name) || WRAPPERS.has(name) || name === "sed") return undefined;
  if (credentialProgram(simple) !== undefined || simple.dynamic.length > 0) return undefined;
  if (!TWO_WORD_PROGRAMS.has(name)) return writtenGlob(simple, 1);
  if (subcommand === undefined) return program;
  const launchesAnything = RUNNING_SUBCOMMANDS.has(subcommand) || (subcommand === "run" && !RUNS_SCRIPTS.has(name));
  return PLAIN_WORD.test(subcommand) && !launchesAnything ? writtenGlob(simple, 2) : undefined;
}

/** Longer ones are not offered: nobody would read them. */
const MAX_OFFERED_CHARS = 200;

/** The words up to `from` as they are, then `*` for plain words, and what `*` does not cover spelled out. */
function writtenGlob(simple: SimpleCommand, from: number): string | undefined {
  const patterned = new Set(simple.globbed);
  const parts = simple.words.slice(0, from);
  for (const [index, word] of simple.words.entries()) {
    if (index < from) continue;
    if (!isPlainWord(word, patterned.has(index))) parts.push(/^[^\s"']+$/.test(word) ? word : `"${word}"`);
    else if (parts.at(-1) !== "*") parts.push("*");
  }
  if (parts.at(-1) !== "*") parts.push("*");
  const text = parts.join(" ");
  if (text.length > MAX_OFFERED_CHARS || !/^[^()[\]\p{Cc}]*$/u.test(text)) return undefined;
  return matchArgv(argvPattern(text), simple, "narrow") === "yes" ? text : undefined;
}

const PLAIN_WORD = /^[A-Za-z0-9_./][A-Za-z0-9_.:/+-]*$/;

const TWO_WORD_PROGRAMS = wordSet(
  "git npm pnpm yarn cargo docker podman go kubectl helm gh glab pip pip3 uv poetry bundle gem composer dotnet mvn " +
    "gradle terraform aws gcloud az brew apt apt-get dnf systemctl journalctl rustup deno bun make just task nx turbo " +
    "jj hg svn conda mix rails flutter dart swift zig",
);

/** Subcommands that run whatever follows them. */
const RUNNING_SUBCOMMANDS = wordSet("exec x dlx run-script eval shell bisect submodule filter-branch config rebase");

/** `run` starts whatever follows it, except where it names a script of the project. */
const RUNS_SCRIPTS = new Set(["npm", "pnpm", "yarn", "bun", "cargo", "just", "task", "make"]);

/** Text that is searched for is no path. */
const SEARCH_TEXT = new Set(["pattern", "query", "regex"]);

function quietFiles(call: QuietCall, root: string): QuietDecision {
  const { path: start } = call.args;
  const folder = typeof start === "string" ? start : ".";
  for (const [key, value] of Object.entries(call.args)) {
    if (kindOf(call.tool) === "search" && SEARCH_TEXT.has(key)) continue;
    if (value === true && /hidden|no_?ignore/i.test(key)) return loud(`${key} reaches hidden or ignored files`);
    if (value === undefined || value === null || typeof value === "number" || typeof value === "boolean") continue;
    for (const path of Array.isArray(value) ? value : [value]) {
      if (typeof path !== "string") return loud(`Harness does not know the argument ${key}`);
      const inFolder = key === "path" || path.startsWith("/") ? path : `${folder}/${path}`;
      const problem = path.startsWith("!") ? undefined : fileProblem(call.tool, inFolder, root);
      if (problem !== undefined) return loud(problem);
    }
  }
  return { quiet: true, why: "it reads inside the workspace" };
}

function fileProblem(tool: string, path: string, root: string): string | undefined {
  if (path.includes("\\")) return `a backslash in ${path} can hide a name`;
  const relative = workspaceRelative(root, path);
  if (relative === undefined) return `${path} is outside the workspace`;
  const literal = isSensitivePath(relative);
  if (literal.sensitive) return `${path} is sensitive: ${literal.why}`;
  const isSearch = kindOf(tool) === "search";
  if (isSearch && relative.split("/").includes(".git")) return `${path} is among git's own files`;
  if (!hasGlob(path) || (!isSearch && EVERYTHING.test(relative))) return undefined;
  const found = isSensitiveGlob(relative, "search");
  return found.sensitive ? `${path} is sensitive: ${found.why}` : undefined;
}

/** Names no file in particular. A search is different: there such a glob brings hidden files back in. */
const EVERYTHING = /(?:^|\/)\*{1,2}$/;

/** Arguments of `exec` that change nothing about what runs. */
const EXEC_NEUTRAL = /^(?:command|description|timeout|timeout_ms|timeoutMs|ask|outside|background)$/;
const EXEC_FOLDER = /^(?:cwd|workdir)$/;

function quietExec(call: QuietCall, root: string): QuietDecision {
  const { command } = call.args;
  if (typeof command !== "string") return loud("the command is not a string");
  if (call.args.ask === true || call.args.outside === true)
    return loud("the agent asked for a person or a rule to decide");
  let workspace: Workspace = { root };
  for (const [key, value] of Object.entries(call.args)) {
    if (EXEC_NEUTRAL.test(key) || value === undefined) continue;
    const folder = EXEC_FOLDER.test(key) && typeof value === "string" ? workspaceRelative(root, value) : undefined;
    if (folder === undefined) return loud(`the argument ${key} may change what runs`);
    workspace = { root, folder };
  }
  const analysis = analyseShell(command);
  if (!analysis.understood) return loud(`Harness does not understand the command: ${analysis.why}`);
  for (const simple of analysis.commands) {
    const why = loudness(simple, workspace);
    if (why !== undefined) return loud(why);
  }
  return { quiet: true, why: "all its commands only read inside the workspace" };
}

function loud(why: string): QuietDecision {
  return { quiet: false, why };
}
