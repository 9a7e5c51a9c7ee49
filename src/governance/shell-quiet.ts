/**
 * Says of one simple command why it is not quiet, or nothing when it only reads inside the workspace. Applies the tables
 * of `shell-tables*.ts`; reads paths as they are written and looks at no disk.
 */
import { isHarmlessAwkAssignment } from "./awk-program.ts";
import { expressionStart, findProblem } from "./find-words.ts";
import { type GitTable, gitTable, gitValueProblem, isPlainReference, isPlainSetting } from "./git-words.ts";
import { isSensitiveGlob, workspaceRelative } from "./sensitive-paths.ts";
import { isHarmlessAssignment, isOwnVariable, type SimpleCommand } from "./shell-command.ts";
import { type GivenOption, type SplitWords, splitOptions } from "./shell-options.ts";
import { firstProblem, pathProblem, revisionProblem, textProblem, type Workspace, walkProblem } from "./shell-paths.ts";
import { scriptProblem } from "./shell-scripts.ts";
import { type ProgramTable, QUIET_PROGRAMS } from "./shell-tables.ts";
import { isPlainSet, isSystemProgram, programName } from "./shell-wrappers.ts";

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
    if (/^\/dev\/(?:tcp|udp)\//.test(path)) return `${path} is a connection`;
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

/** Which operands are paths, by what the table says of them. */
function operandPaths(
  { globbed }: SimpleCommand,
  table: ProgramTable,
  { options, operands }: SplitWords,
): readonly number[] {
  const given = table.patternOptions?.split(" ") ?? [];
  const inOption = options.some((option) => given.includes(option.name));
  switch (table.operands) {
    case "paths":
    case "revisions":
      return operands;
    case "pattern":
    case "script":
      return inOption || globbed.includes(operands[0] ?? -1) ? operands : operands.slice(1);
    default:
      return [];
  }
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
  return loud === undefined ? undefined : "it changes the shell, not just reads";
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
    return "it cannot be told which operators the test has";
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
  const { words, unknown, feeds } = command;
  const hidden = unknown.find((index) => !feeds.has(index));
  const printsWords = table.operands === "text" && table.anyOption === true;
  if (hidden !== undefined && !printsWords) return `${words[hidden] ?? ""} is only known at run time`;
  if (command.open && words.some((word) => word.includes("{}") && word !== "{}")) {
    return "a name becomes a part of another word";
  }
  if (printsWords) {
    const [loose] = command.split;
    if (loose !== undefined) return `${words[loose] ?? ""} may be replaced by file names from anywhere; quote it`;
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
  if (fed.some((feed) => !feed.prefixed) && table.anyOption !== true)
    return `a name may turn into an option of ${name}`;
  const split = splitOptions(name, command, from, table);
  if (typeof split === "string") return split;
  const { options, operands } = split;
  const globbed = new Set(command.globbed);
  const isMany = feeds.size > 0 || operands.some((index) => globbed.has(index));
  const count = operands.length + (command.open ? 2 : 0) + (isMany ? 1 : 0);
  if (count > (table.maxOperands ?? Number.POSITIVE_INFINITY))
    return `${name} would take another operand for something else`;
  const has = (list: string | undefined): boolean =>
    list !== undefined && options.some((option) => list.split(" ").includes(option.name));
  if (table.needs !== undefined && !has(table.needs)) return `${name} is not in the list of quiet programs`;
  if (table.operandsNeed !== undefined && operands.length > 0 && !has(table.operandsNeed))
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
  if (table.operands === "script") return judgeScript(name, command, table, options, operands, workspace);
  const paths = operandPaths(command, table, split).filter((index) => !feeds.has(index));
  switch (table.operands) {
    case "text": {
      // Nobody looks up such names, and one of them may read as an option.
      const listed = table.anyOption === true ? undefined : operands.find((index) => globbed.has(index));
      return listed === undefined ? undefined : `${words[listed] ?? ""} is replaced by file names; quote it`;
    }
    case "reference":
    case "setting": {
      const isPlain = table.operands === "setting" ? isPlainSetting : isPlainReference;
      const odd = operands.find((index) => globbed.has(index) || !isPlain(words[index] ?? ""));
      if (odd !== undefined) return `${name} ${words[odd] ?? ""} may show or do more than is known`;
      return table.operands === "setting" && operands.length === 0 ? `${name} shows every setting` : undefined;
    }
    case "none":
      return operands.length > 0 ? `${name} takes no operands` : undefined;
    case "number":
      return operands.length <= 1 && operands.every((index) => /^\d{1,3}(?:\.\d+)?s?$/.test(words[index] ?? ""))
        ? undefined
        : `${name} takes a short number`;
    case "format":
      return operands.every((index) => words[index]?.startsWith("+") === true) ? undefined : "date would set the clock";
    case "revisions":
      return firstProblem(paths, (index) => revisionProblem(command, index, workspace));
    default: {
      // With a glob of file names the walk is judged on the disk, where the names are known.
      const walks = (table.recursive === "*" || has(table.recursive)) && globs.length === 0;
      return firstProblem(
        paths,
        (index) =>
          pathProblem(command, index, workspace, table.namesOnly) ??
          (walks || table.walks === true ? walkProblem(command, index, workspace, walks) : undefined),
      );
    }
  }
}

function judgeScript(
  name: string,
  command: SimpleCommand,
  table: ProgramTable,
  options: readonly GivenOption[],
  operands: readonly number[],
  workspace: Workspace,
): string | undefined {
  const given = options.filter((option) => table.patternOptions?.split(" ").includes(option.name) === true);
  const [first, ...rest] = operands;
  const inOption = given.length > 0;
  if (
    !inOption &&
    (first === undefined ||
      (command.open && command.words[first] === "{}") ||
      command.globbed.includes(first) ||
      command.feeds.has(first))
  ) {
    return `${name} has no program that can be read`;
  }
  const programs = inOption ? given.map(({ value = "" }) => value) : [command.words[first ?? 0] ?? ""];
  for (const program of programs) {
    const problem = scriptProblem(table.language ?? "sed", program);
    if (problem !== undefined) return problem;
  }
  const variable = table.language === "awk" ? oddVariable(command, options, rest) : undefined;
  if (variable !== undefined) return `${variable} may set a variable that has a meaning to ${name}`;
  return firstProblem(
    (inOption ? operands : rest).filter((index) => !command.feeds.has(index)),
    (index) => pathProblem(command, index, workspace, false),
  );
}

/** Awk also reads an operand of the form `name=value` as an assignment. */
function oddVariable(
  { words, globbed }: SimpleCommand,
  options: readonly GivenOption[],
  operands: readonly number[],
): string | undefined {
  const set = options.filter(({ name }) => name === "-v" || name === "--assign").map(({ value = "" }) => value);
  const assigned = operands.filter((index) => /^[A-Za-z_][\w:]*=/.test(words[index] ?? ""));
  const listed = assigned.find((index) => globbed.includes(index));
  if (listed !== undefined) return words[listed];
  return [...set, ...assigned.map((index) => words[index] ?? "")].find((text) => !isHarmlessAwkAssignment(text));
}

/** A value in a word of its own may be an operand to another version of the program, so it must not lead out either. */
function valueProblem(
  program: string,
  { name, value = "", at }: GivenOption,
  { numbers, texts, patternOptions, globOptions }: ProgramTable,
  workspace: Workspace,
): string | undefined {
  if (numbers?.split(" ").includes(name) === true && !/^[+-]?\d*$|^0x[\da-f]+$/i.test(value))
    return `${value} is no number for ${program} ${name}`;
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
