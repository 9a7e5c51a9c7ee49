/**
 * Says of one simple command why it is not quiet, or nothing when it only reads inside the workspace. Applies the tables
 * of `shell-tables*.ts`; reads paths as they are written and looks at no disk.
 */

import { isSensitiveGlob, workspaceRelative } from "../sensitive-paths.ts";
import { isHarmlessAssignment, isOwnVariable, type SimpleCommand } from "./command.ts";
import { expressionStart, findProblem } from "./find-words.ts";
import { type GitTable, gitTable, gitValueProblem } from "./git-words.ts";
import { hasOption, operandPaths, operandProblem } from "./operands.ts";
import { type GivenOption, splitOptions } from "./options.ts";
import { firstProblem, pathProblem, textProblem, type Workspace } from "./paths.ts";
import { type ProgramTable, QUIET_PROGRAMS } from "./tables.ts";
import { isPlainSet, isSystemProgram, programName } from "./wrappers.ts";

/** A command with more words asks. */
const MAX_WORDS = 2000;

/** Undefined when the command, and everything it starts, is quiet, in whichever folder it may run. */
export function loudness(command: SimpleCommand, workspace: Workspace): string | undefined {
  if (command.poisoned !== undefined) return command.poisoned;
  if (command.words.length > MAX_WORDS) return `it has more than ${MAX_WORDS} words`;
  for (const folder of command.folders) {
    const inside = workspaceRelative(workspace.root, folder, workspace.folder);
    if (inside === undefined) return `it runs in ${folder}, outside the workspace`;
    const why = loudnessIn(command, { root: workspace.root, folder: inside }, workspace);
    if (why !== undefined) return why;
  }
  return undefined;
}

function loudnessIn(command: SimpleCommand, workspace: Workspace, outer: Workspace): string | undefined {
  const [program] = command.words;
  const name = programName(command.words);
  if (command.background) return `${name} runs in the background`;
  const written = command.redirects.find((file) => file.writes);
  if (written !== undefined) return `${name || "the shell"} is redirected to ${written.path}`;
  for (const { path } of command.redirects) {
    if (/^\/dev\/(?:tcp|udp)\//.test(path)) return `${path} is a network connection`;
    const problem = textProblem(path, workspace);
    if (problem !== undefined) return problem;
  }
  if (program === undefined) return assignmentProblem(command);
  const allowed = Object.hasOwn(QUIET_PROGRAMS, name) ? QUIET_PROGRAMS[name]?.variables : undefined;
  const variable = command.assignments.find(
    (assignment) => !isHarmlessAssignment(assignment) && allowed?.test(assignment) !== true,
  );
  if (variable !== undefined) return `${variable.split("=", 1)[0]} may change what ${name} does`;
  if (command.starts.length > 0) {
    const passesOn = command.transparent || feedsQuietly(name, command);
    if (!passesOn) return command.unseen ?? `${name} starts other programs`;
    const own = name === "find" ? findProblem(command, workspace) : undefined;
    return own ?? command.starts.map((started) => loudness(started, outer)).find((why) => why !== undefined);
  }
  if (!isSystemProgram(program)) return `${program} is not a system program`;
  if (program !== program.toLowerCase()) return `${program} is not in the list of quiet programs`;
  if (command.open && command.openFeed === undefined && name !== "echo")
    return `${name} gets words that are only known at run time`;
  return judgeProgram(name, command, workspace);
}

/**
 * The words of a quiet command that are paths, by index: those that are to be looked up on the disk. Text that is searched
 * for or printed is not among them.
 */
export function pathOperands(command: SimpleCommand): readonly number[] {
  const { words, starts, feeds } = command;
  const name = programName(words);
  const all = words.map((_, index) => index).slice(1);
  if (name === "find") return all.slice(0, expressionStart(words) - 1);
  if (starts.length > 0) return [];
  if (name === "[" || name === "test" || name === "command") return [];
  const { table, from } = tableFor(name, words) ?? {};
  if (table === undefined || from === undefined) return all;
  const split = splitOptions(name, command, from, table);
  if (typeof split === "string") return all;
  const paths = operandPaths(command, table, split).filter((index) => !feeds.has(index));
  return [...paths, ...all.filter((index) => hasPathValue(words[index] ?? ""))];
}

function tableFor(name: string, words: readonly string[]): GitTable | undefined {
  if (name === "git") return gitTable(words);
  const table = Object.hasOwn(QUIET_PROGRAMS, name) ? QUIET_PROGRAMS[name] : undefined;
  return table && { table, from: 1 };
}

/** `--name=some/path`. */
function hasPathValue(word: string): boolean {
  const cut = word.startsWith("-") ? word.indexOf("=") : -1;
  return cut > 0 && word.includes("/", cut);
}

/** True for programs that tell names, sizes or counts and never content, with whatever options. */
export function showsNamesOnly({ words }: SimpleCommand): boolean {
  const name = programName(words);
  const table = Object.hasOwn(QUIET_PROGRAMS, name) ? QUIET_PROGRAMS[name] : undefined;
  return table?.namesOnly === true && table.anyOption === true;
}

/** True for programs to which `@FILE` stands for the words in that file. */
export function takesResponseFiles({ words }: SimpleCommand): boolean {
  const name = programName(words);
  return Object.hasOwn(QUIET_PROGRAMS, name) && QUIET_PROGRAMS[name]?.responseFiles === true;
}

/** `find … -exec` and `… | xargs`, where it is known which files they work on, and `xargs` has its plainest options. */
function feedsQuietly(name: string, command: SimpleCommand): boolean {
  if (!isSystemProgram(command.words[0] ?? "") || command.words[0] !== name) return false;
  if (name === "find") return command.starts.every((started) => started.openFeed !== undefined);
  if (name !== "xargs" || command.dynamic.length > 0) return false;
  return isPlainXargs(command.words.slice(1, command.words.length - (command.starts[0]?.words.length ?? 0)));
}

const XARGS_FLAGS = new Set(["-0", "-r", "-0r", "-r0", "-I{}", "--null", "--no-run-if-empty"]);

function isPlainXargs(options: readonly string[]): boolean {
  for (let at = 0; at < options.length; at++) {
    const word = options[at] ?? "";
    if (XARGS_FLAGS.has(word) || /^-[nPL]\d+$/.test(word)) continue;
    at++;
    const isNumber = /^-[nPL]$/.test(word) && /^\d+$/.test(options[at] ?? "");
    if (!isNumber && !(word === "-I" && options[at] === "{}")) return false;
  }
  return true;
}

function assignmentProblem(command: SimpleCommand): string | undefined {
  const loud = command.assignments.find((assignment) => !isOwnVariable(assignment.split(/\+?=/, 1)[0] ?? ""));
  return loud === undefined ? undefined : "it changes the shell";
}

function judgeProgram(name: string, command: SimpleCommand, workspace: Workspace): string | undefined {
  const { words, unknown } = command;
  if (name === "find") return findProblem(command, workspace);
  if (name === "git" && words[1] === "--version" && words.length === 2) return undefined;
  if (name === "command") return judgeTable(name, command, 2, { operands: "text" }, workspace);
  if (name === "printf") {
    if (unknown.includes(1) || /^-/.test(words[1] ?? "")) return "printf has options that set variables";
    // %n, however it is spelled, sets a variable: only the plainest conversions pass.
    if (/%(?!-?\d{0,3}[sdq%])/.test((words[1] ?? "").replaceAll("%%", ""))) return "printf can set variables";
  }
  if (name === "test" || name === "[") return judgeTest(command);
  if (name === "set") return words.length > 1 && isPlainSet(words) ? undefined : "set changes the shell";
  if (name === "read" && words.slice(1).some((word) => word !== "-r" && !isOwnVariable(word))) {
    return "read would set a variable that has a meaning";
  }
  if (name === "cd" && words.length !== 2) return "cd would leave the workspace";
  const found = tableFor(name, words);
  if (found !== undefined) return judgeTable(name, command, found.from, found.table, workspace);
  return name === "git"
    ? `git ${words[1] ?? ""} is not in the list of quiet commands`
    : `${name} is not in the list of quiet programs`;
}

const UNARY = /^-[abcdefghknoprstuwxzGLNOS]$/;
const BINARY = /^(?:==?|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

/** `-v` and `-R` read a subscript as code; a word that splits could bring one in. */
function judgeTest({ words, split, unknown }: SimpleCommand): string | undefined {
  if (split.length > 0) return `${words[split[0] ?? 0] ?? ""} may become operators of a test; quote it`;
  const operands = words.filter((word, index) => index > 0 && word !== "]").length;
  const loose = unknown.find(
    (index) =>
      operands > 1 &&
      !UNARY.test(words[index - 1] ?? "") &&
      ![words[index - 1], words[index + 1]].some((word) => BINARY.test(word ?? "")),
  );
  if (
    loose !== undefined ||
    (unknown.length > 0 && words.some((word) => /^(?:-a|-o|!|\(|\))$/.test(word) && operands > 3))
  ) {
    return "Harness cannot tell which operators the test has";
  }
  const odd = words.some((word) => /^-[a-zA-Z]{1,2}$/.test(word) && !UNARY.test(word) && !BINARY.test(word));
  return odd ? "the test can run code hidden in its operands" : undefined;
}

function judgeTable(
  name: string,
  command: SimpleCommand,
  from: number,
  table: ProgramTable,
  workspace: Workspace,
): string | undefined {
  const { words, feeds } = command;
  const hidden = runTimeProblem(name, command, table, workspace);
  if (hidden !== undefined) return hidden;
  const split = splitOptions(name, command, from, table);
  if (typeof split === "string") return split;
  const { options, operands } = split;
  const globbed = new Set(command.globbed);
  const isMany = feeds.size > 0 || operands.some((index) => globbed.has(index));
  const count = operands.length + (command.open ? 2 : 0) + (isMany ? 1 : 0);
  if (count > (table.maxOperands ?? Number.POSITIVE_INFINITY))
    return `${name} gives another operand a different meaning`;
  if (table.needs !== undefined && !hasOption(split, table.needs))
    return `${name} is not in the list of quiet programs`;
  if (table.operandsNeed !== undefined && count > 0 && !hasOption(split, table.operandsNeed))
    return `${name} ${words[from - 1] ?? ""} would create or move something`;
  const globs = options.filter((option) => table.globOptions?.split(" ").includes(option.name) === true);
  for (const { value = "" } of globs) {
    const found = value.startsWith("!") ? undefined : isSensitiveGlob(value, "search");
    if (found?.sensitive === true) return found.why;
  }
  const loud = options
    .map((option) => loudOption(name, option, table, workspace) ?? valueProblem(name, option, table, workspace))
    .find((why) => why !== undefined);
  if (loud !== undefined) return loud;
  const response =
    table.responseFiles === true ? words.find((word, index) => index >= from && word.startsWith("@")) : undefined;
  if (response !== undefined) return `${response} makes ${name} read its options from a file`;
  return operandProblem(name, command, table, split, workspace);
}

/** Why words that are only known at run time make it more than reading, or undefined. */
function runTimeProblem(
  name: string,
  command: SimpleCommand,
  table: ProgramTable,
  workspace: Workspace,
): string | undefined {
  const { words, unknown, feeds } = command;
  const hidden = unknown.find((index) => !feeds.has(index));
  const printsWords = table.operands === "text" && table.anyOption === true;
  if (hidden !== undefined && !printsWords) return `${words[hidden] ?? ""} is only known at run time`;
  if (command.open && words.some((word) => word.includes("{}") && word !== "{}")) {
    return "a name becomes a part of another word";
  }
  if (printsWords) {
    const [loose] = command.split;
    if (loose !== undefined) return `${words[loose] ?? ""} may match file names in any folder; quote it`;
    const listed = firstProblem(command.globbed, (index) =>
      unknown.includes(index)
        ? `${words[index] ?? ""} is only known at run time`
        : pathProblem(command, index, workspace, true),
    );
    if (listed !== undefined) return listed;
  }
  const fed = [...feeds.values(), ...(command.open && command.openFeed ? [command.openFeed] : [])];
  const fedFrom = fed
    .flatMap(({ roots }) => roots)
    .map((path) => textProblem(path, workspace))
    .find((why) => why !== undefined);
  if (fedFrom !== undefined) return fedFrom;
  return fed.some((feed) => !feed.prefixed) && table.anyOption !== true
    ? `a name may turn into an option of ${name}`
    : undefined;
}

/** A value in a word of its own may be an operand to another version of the program, so it must not lead out either. */
function valueProblem(
  program: string,
  { name, value = "", at }: GivenOption,
  { numbers, texts, patternOptions, globOptions }: ProgramTable,
  workspace: Workspace,
): string | undefined {
  if (numbers?.split(" ").includes(name) === true && !/^[+-]?\d*$|^0x[\da-f]+$/i.test(value))
    return `${value} is not a number for ${program} ${name}`;
  const isText = [texts, patternOptions, globOptions].some((list) => list?.split(" ").includes(name) === true);
  if (at === undefined || isText || program === "git" || program === "date") return undefined;
  return workspaceRelative(workspace.root, value, workspace.folder) === undefined
    ? `${value} is outside the workspace`
    : undefined;
}

/** Values that make a listed option do more than its name says. */
function loudOption(
  program: string,
  option: GivenOption,
  table: ProgramTable,
  workspace: Workspace,
): string | undefined {
  if (program === "git") return gitValueProblem(option, table, workspace);
  const { name, value = "" } = option;
  if (program === "iconv" && value !== "" && !/^[\w.:-]+(?:\/\/(?:TRANSLIT|IGNORE))?$/i.test(value))
    return `${value} is not the plain name of an encoding`;
  return program === "bat" && name === "--paging" && value !== "never" ? "bat would start a pager" : undefined;
}
