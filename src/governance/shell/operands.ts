/** What the operands of a quiet program may be: paths inside the workspace, programs of a small language, or plain words. */
import { isHarmlessAwkAssignment } from "./awk-program.ts";
import type { SimpleCommand } from "./command.ts";
import { isPlainReference, isPlainSetting } from "./git-words.ts";
import type { GivenOption, SplitWords } from "./options.ts";
import { firstProblem, pathProblem, revisionProblem, type Workspace, walkProblem } from "./paths.ts";
import { scriptProblem } from "./scripts.ts";
import type { ProgramTable } from "./tables.ts";

/** True when one of the options in `list`, separated by blanks, was given. */
export function hasOption({ options }: SplitWords, list: string | undefined): boolean {
  const names = list?.split(" ") ?? [];
  return options.some(({ name }) => names.includes(name));
}

/** The operands that are paths, by what the table says of them. */
export function operandPaths(
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

/** Why an operand makes it more than reading, or undefined. */
export function operandProblem(
  name: string,
  command: SimpleCommand,
  table: ProgramTable,
  split: SplitWords,
  workspace: Workspace,
): string | undefined {
  const paths = operandPaths(command, table, split).filter((index) => !command.feeds.has(index));
  switch (table.operands) {
    case "script":
      return scriptOperandProblem(name, command, table, split, workspace);
    case "revisions":
      return firstProblem(paths, (index) => revisionProblem(command, index, workspace));
    case "paths":
    case "pattern": {
      // With a glob of file names the walk is judged on the disk, where the names are known.
      const recursive = table.recursive === "*" || hasOption(split, table.recursive);
      const walks = recursive && !hasOption(split, table.globOptions);
      return firstProblem(
        paths,
        (index) =>
          pathProblem(command, index, workspace, table.namesOnly) ??
          (walks || table.walks === true ? walkProblem(command, index, workspace, walks) : undefined),
      );
    }
    default:
      return wordProblem(name, command, table, split);
  }
}

/** For operands that are not paths. */
function wordProblem(
  name: string,
  { words, globbed, open }: SimpleCommand,
  { operands: kind, anyOption }: ProgramTable,
  { operands }: SplitWords,
): string | undefined {
  if (anyOption === true) return undefined;
  // Nobody looks up such names on the disk, and one of them may read as an option.
  const listed = globbed.find((index) => operands.includes(index));
  if (listed !== undefined) return `the shell replaces ${words[listed] ?? ""} with file names; quote it`;
  if (kind === "text") return undefined;
  if (open) return `${name} gets words that are only known at run time`;
  const given = operands.map((index) => words[index] ?? "");
  switch (kind) {
    case "none":
      return given.length > 0 ? `${name} takes no operands` : undefined;
    case "number":
      return given.length <= 1 && given.every((word) => /^\d{1,3}(?:\.\d+)?s?$/.test(word))
        ? undefined
        : `${name} expects a short number`;
    case "format":
      return given.every((word) => word.startsWith("+")) ? undefined : "date would set the clock";
    case "setting":
      return given.length === 1 && given.every(isPlainSetting) ? undefined : `${name} may show or set other settings`;
    default:
      return given.every(isPlainReference) ? undefined : `${name} expects the name of a commit`;
  }
}

function scriptOperandProblem(
  name: string,
  command: SimpleCommand,
  table: ProgramTable,
  { options, operands }: SplitWords,
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
    return `Harness cannot tell which program ${name} starts`;
  }
  const programs = inOption ? given.map(({ value = "" }) => value) : [command.words[first ?? 0] ?? ""];
  for (const program of programs) {
    const problem = scriptProblem(table.language ?? "sed", program);
    if (problem !== undefined) return problem;
  }
  const variable = table.language === "awk" ? oddVariable(command, options, rest) : undefined;
  if (variable !== undefined) return `${variable} may set a variable that changes what ${name} does`;
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
