/**
 * Says of one simple command why it is not quiet, or nothing when it only reads inside the workspace. Applies the tables
 * of `shell-tables.ts`; reads paths as they are written and looks at no disk.
 */
import { isSensitiveGlob, isSensitivePath, workspaceRelative } from "./sensitive-paths.ts";
import { isHarmlessAssignment, type SimpleCommand } from "./shell.ts";
import { type ProgramTable, QUIET_FIND, QUIET_GIT, QUIET_PROGRAMS } from "./shell-tables.ts";
import { isSystemProgram, programName } from "./shell-wrappers.ts";
import { globsMeet, hasGlob } from "./wildcard.ts";

export interface Workspace {
  /** Absolute. */
  readonly root: string;
  /** Where the command runs, relative to the root; "." by default. */
  readonly folder?: string;
}

/** Undefined when the command, and everything it starts, is quiet. */
export function loudness(command: SimpleCommand, workspace: Workspace): string | undefined {
  const [program] = command.words;
  if (program === undefined) return "it changes the shell, not just reads";
  const name = programName(command.words);
  if (command.background) return `${name} runs in the background`;
  if (command.open) return `${name} gets words that are only known at run time`;
  if (command.redirects.length > 0) return `${name} is redirected to or from ${command.redirects.join(", ")}`;
  const variable = command.assignments.find((assignment) => !isHarmlessAssignment(assignment));
  if (variable !== undefined) return `${variable.split("=", 1)[0]} may change what ${name} does`;
  if (command.starts.length > 0) {
    if (!command.transparent) return command.unseen ?? `${name} starts other programs`;
    return command.starts.map((started) => loudness(started, workspace)).find((why) => why !== undefined);
  }
  if (!isSystemProgram(program)) return `${program} is not a system program`;
  if (program !== program.toLowerCase()) return `${program} is not in the list of quiet programs`;
  return judgeProgram(name, command, workspace);
}

function judgeProgram(name: string, command: SimpleCommand, workspace: Workspace): string | undefined {
  if (name === "find") return judgeFind(command, workspace);
  if (name === "git") return judgeGit(command, workspace);
  if (name === "command") return judgeTable(name, command, 2, { operands: "text" }, workspace);
  if (name === "printf") {
    if (/^-/.test(command.words[1] ?? "")) return "printf has options that set variables";
    // %n, however it is spelled, sets a variable: only the plainest conversions pass.
    if (/%(?![sdq%])/.test((command.words[1] ?? "").replaceAll("%%", ""))) return "printf can set variables";
  }
  const table = Object.hasOwn(QUIET_PROGRAMS, name) ? QUIET_PROGRAMS[name] : undefined;
  if (table === undefined) return `${name} is not in the list of quiet programs`;
  return judgeTable(name, command, 1, table, workspace);
}

interface Split {
  readonly options: ReadonlyArray<{ readonly name: string; readonly value?: string }>;
  readonly operands: readonly number[];
}

function judgeTable(
  name: string,
  command: SimpleCommand,
  from: number,
  table: ProgramTable,
  workspace: Workspace,
): string | undefined {
  const split = splitOptions(name, command, from, table);
  if (typeof split === "string") return split;
  const { options, operands } = split;
  if (operands.length > (table.maxOperands ?? Number.POSITIVE_INFINITY))
    return `${name} would write its second operand`;
  const has = (list: string | undefined): boolean =>
    list !== undefined && options.some((option) => list.split(" ").includes(option.name));
  const globs = options.filter((option) => table.globOptions?.split(" ").includes(option.name) === true);
  for (const { value = "" } of globs) {
    const found = value.startsWith("!") ? undefined : isSensitiveGlob(value, "search");
    if (found?.sensitive === true) return found.why;
  }
  const loud = options.map((option) => loudOption(name, option, workspace)).find((why) => why !== undefined);
  if (loud !== undefined) return loud;
  const firstIsText = table.operands === "pattern" && !has(table.patternOptions);
  const paths = firstIsText && !command.globbed.includes(operands[0] ?? -1) ? operands.slice(1) : operands;
  switch (table.operands) {
    case "text":
      return undefined;
    case "none":
      return operands.length > 0 ? `${name} takes no operands` : undefined;
    case "format":
      return operands.every((index) => command.words[index]?.startsWith("+") === true)
        ? undefined
        : "date would set the clock";
    case "revisions":
      return firstProblem(paths, (index) => revisionProblem(command, index, workspace));
    default: {
      // With a glob of file names the walk is judged on the disk, where the names are known.
      const walks = (table.recursive === "*" || has(table.recursive)) && globs.length === 0;
      if (walks && paths.length === 0) return WALKS_EVERYTHING;
      return firstProblem(
        paths,
        (index) =>
          pathProblem(command, index, workspace, table.namesOnly) ??
          (walks || table.walks === true ? walkProblem(command, index, workspace, walks) : undefined),
      );
    }
  }
}

/** Takes the words apart as getopt would; a string says which option is not quiet. */
function splitOptions(name: string, command: SimpleCommand, from: number, table: ProgramTable): Split | string {
  const { words, globbed } = command;
  const options: { name: string; value?: string }[] = [];
  const operands: number[] = [];
  const long = (table.long ?? "").split(" ");
  let onlyOperands = table.plainWords === true;
  for (let at = from; at < words.length; at++) {
    const word = words[at] ?? "";
    if (globbed.includes(at) && !onlyOperands && table.anyOption !== true && /^(?:[*?[]|-(?!-[a-z-]+=))/.test(word)) {
      return `${word} may turn into an option of ${name}`;
    }
    if (onlyOperands || !word.startsWith("-") || word === "-") {
      operands.push(at);
    } else if (word === "--") {
      onlyOperands = true;
    } else {
      const found = word.startsWith("--") ? longOption(word, long) : shortOptions(word, table);
      if (found === undefined) return `${name} ${word} is not in the list of quiet options`;
      const last = found.at(-1);
      if (last?.wants === true && at + 1 < words.length) {
        at++;
        if (words[at]?.startsWith("-") === true) return `${words[at]} may be an option of ${name}`;
        if (globbed.includes(at)) return `${words[at] ?? ""} may turn into an option of ${name}`;
        last.value = words[at] ?? "";
      }
      for (const { name: option, value } of found)
        options.push(value === undefined ? { name: option } : { name: option, value });
    }
  }
  return { options, operands };
}

interface FoundOption {
  readonly name: string;
  value?: string;
  /** The next word is its value. */
  readonly wants?: boolean;
}

function longOption(word: string, long: readonly string[]): FoundOption[] | undefined {
  const cut = word.indexOf("=");
  const name = cut < 0 ? word : word.slice(0, cut);
  const bare = name.slice(2);
  if (cut < 0) {
    if (long.includes(bare) || long.includes(`${bare}[=]`)) return [{ name }];
    return long.includes(`${bare}=`) ? [{ name, wants: true }] : undefined;
  }
  return long.includes(`${bare}=`) || long.includes(`${bare}[=]`) ? [{ name, value: word.slice(cut + 1) }] : undefined;
}

function shortOptions(word: string, table: ProgramTable): FoundOption[] | undefined {
  if (table.numeric === true && /^-\d+$/.test(word)) return [];
  const found: FoundOption[] = [];
  for (let index = 1; index < word.length; index++) {
    const letter = word[index] ?? "";
    const rest = word.slice(index + 1);
    if (table.flags?.includes(letter) === true) {
      found.push({ name: `-${letter}` });
    } else if (table.attached?.includes(letter) === true) {
      return [...found, { name: `-${letter}`, value: rest }];
    } else if (table.valued?.includes(letter) === true) {
      return [...found, rest === "" ? { name: `-${letter}`, wants: true } : { name: `-${letter}`, value: rest }];
    } else {
      return undefined;
    }
  }
  return found;
}

/** Values that make a listed option do more than its name says. */
function loudOption(
  program: string,
  option: { readonly name: string; readonly value?: string },
  workspace: Workspace,
): string | undefined {
  if (program !== "git") return undefined;
  const { name, value = "" } = option;
  if ((name === "--format" || name === "--pretty") && /%[-+ ]?G/.test(value))
    return "git would run a program to check signatures";
  if (name === "-L" && value.includes(":")) return textProblem(value.slice(value.lastIndexOf(":") + 1), workspace);
  return undefined;
}

function judgeGit(command: SimpleCommand, workspace: Workspace): string | undefined {
  const subcommand = command.words[1] ?? "";
  const table = Object.hasOwn(QUIET_GIT, subcommand) ? QUIET_GIT[subcommand] : undefined;
  if (table === undefined) return `git ${subcommand} is not in the list of quiet commands`;
  // A folder inside the workspace can hold a repository whose configuration runs programs.
  if ((workspace.folder ?? ".") !== ".") return "git would run outside the workspace root";
  const loud = judgeTable("git", command, 2, table, workspace);
  if (loud !== undefined || subcommand !== "branch") return loud;
  const split = splitOptions("git", command, 2, table);
  if (typeof split === "string") return split;
  const lists = split.options.some((option) => option.name === "--list");
  return split.operands.length > 0 && !lists ? "git branch would create or move a branch" : undefined;
}

function judgeFind(command: SimpleCommand, workspace: Workspace): string | undefined {
  const { words, globbed } = command;
  let at = 1;
  while (words[at] === "-P" || words[at] === "-H") at++;
  for (; at < words.length && !/^[-(!,]/.test(words[at] ?? ""); at++) {
    if (globbed.includes(at) && /^[*?[]/.test(words[at] ?? ""))
      return `${words[at] ?? ""} may turn into an option of find`;
    const problem = pathProblem(command, at, workspace, true);
    if (problem !== undefined) return problem;
  }
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    const values = Object.hasOwn(QUIET_FIND, word) ? QUIET_FIND[word] : undefined;
    if (values === undefined || globbed.includes(at)) return `find ${word} is not in the list of quiet tests`;
    at += values;
    if (values > 0 && globbed.includes(at))
      return `${words[at] ?? ""} is replaced by file names before find sees it; quote it`;
  }
  return undefined;
}

const WALKS_EVERYTHING = "it reads every file of the workspace, secrets included; name a folder, or use rg";

function walkProblem(command: SimpleCommand, index: number, workspace: Workspace, hidden: boolean): string | undefined {
  const relative = workspaceRelative(workspace.root, command.words[index] ?? "", workspace.folder);
  if (hidden && relative === ".") return WALKS_EVERYTHING;
  if (hidden && command.globbed.includes(index)) return `${command.words[index] ?? ""} may be a folder with secrets`;
  if (relative?.split("/").includes(".git") === true) return "it reads git's own files";
  return relative?.endsWith(".config") === true ? "it reads the configuration of other programs" : undefined;
}

function revisionProblem(command: SimpleCommand, index: number, workspace: Workspace): string | undefined {
  const word = command.words[index] ?? "";
  if (word.startsWith(":")) return `${word} is a pathspec that is not followed`;
  const colon = word.indexOf(":");
  const inTree = colon < 0 ? undefined : textProblem(word.slice(colon + 1), workspace);
  return inTree ?? pathProblem(command, index, workspace);
}

function textProblem(path: string, workspace: Workspace): string | undefined {
  return pathProblem({ words: [path], globbed: hasGlob(path) ? [0] : [] }, 0, workspace);
}

function pathProblem(
  command: Pick<SimpleCommand, "words" | "globbed">,
  index: number,
  workspace: Workspace,
  namesOnly = false,
): string | undefined {
  const word = command.words[index] ?? "";
  if (word === "-" || word === "/dev/null") return undefined;
  const relative = workspaceRelative(workspace.root, word, workspace.folder);
  if (relative === undefined) return `${word} is outside the workspace`;
  const globbed = command.globbed.includes(index);
  if (
    globbed &&
    word.split("/").some((segment) => segment.startsWith(".") && hasGlob(segment) && globsMeet(segment, ".."))
  ) {
    return `${word} may be outside the workspace`;
  }
  const found = globbed && !namesOnly ? isSensitiveGlob(relative, "shell") : isSensitivePath(relative);
  return found.sensitive ? `${word} is sensitive: ${found.why}` : undefined;
}

function firstProblem(indexes: readonly number[], judge: (index: number) => string | undefined): string | undefined {
  for (const index of indexes) {
    const problem = judge(index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
