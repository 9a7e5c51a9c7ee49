/**
 * Reads a shell command the way the gate needs it: a tree of all the simple commands in it, wherever they stand, and the
 * plain statement whether that is all that can run. Judges nothing and runs nothing; whatever bash and a POSIX sh would
 * read differently counts as not understood.
 */

import {
  type AndOr,
  type Command,
  type CommandArgument,
  type CommandNode,
  type CompoundCommand,
  type CompoundList,
  type Pipeline,
  parse,
  type Statement,
} from "unbash";
import { programCaches } from "#base";
import { readArgument, readInner, readRedirects } from "./arguments.ts";
import { build, MAX_NESTED_SHELLS, MAX_SEGMENTS, MAX_WORDS, NO_WORDS, type Parsed } from "./build.ts";
import { everyCommand, isHarmlessAssignment, isOwnVariable, type SimpleCommand } from "./command.ts";
import { feedOf } from "./feeds.ts";
import { knownValue, readLoop, readTarget } from "./loops.ts";
import { rawProblem } from "./raw-check.ts";
import { scanSource } from "./raw-scan.ts";
import {
  emptyScope,
  forked,
  isOver,
  join,
  MAX_FOLDERS,
  mergeFolders,
  NOTHING_AROUND,
  type Readers,
  type Reading,
  type State,
  type Surroundings,
  unclear,
} from "./reading.ts";
import { untrustedNames, visitScripts } from "./scope.ts";
import { mayLookAlike, misreadPart, refusedSource, unreadSource } from "./source.ts";
import { conditionProblem } from "./tests.ts";
import { HIDDEN_CODE, isPlainArithmetic, type ReadWord, type Scope, wordHazard } from "./words.ts";
import { poisons, programName } from "./wrappers.ts";

/** Statements that are looked at in all, each pass of a loop counted. */
const MAX_STATEMENTS = 250;

/** Words, quotes, expansions and operators of a text that is parsed; with it the time that reading takes is bounded. */
const MAX_PIECES = 1200;

export type ShellAnalysis =
  | { readonly understood: true; readonly commands: readonly SimpleCommand[] }
  /** `commands` are those that were seen nevertheless: what they are is certain, that there are no others is not. */
  | { readonly understood: false; readonly why: string; readonly commands: readonly SimpleCommand[] };

/** Never throws. Understood means: the tree holds every command that can run. Nobody may change what it gives. */
export function analyseShell(command: string): ShellAnalysis {
  const known = recent.get(command);
  if (known !== undefined) return known;
  const analysis = analyse(command);
  recent.set(command, analysis, command.length * TREE_BYTES_PER_CHAR);
  return analysis;
}

/**
 * What one call asks several times over: rules, file rules, the preset and the approval all look at the same text; and short
 * commands come again. Module state, because it decides nothing: the analysis follows from the text alone.
 */
const recent = programCaches.open<ShellAnalysis>("shell commands");
/** The tree of a command holds each word several times: 53 bytes for each character of short ones, fewer of long ones. */
const TREE_BYTES_PER_CHAR = 60;

function analyse(command: string): ShellAnalysis {
  const state: State = {
    left: MAX_SEGMENTS,
    words: MAX_WORDS,
    statements: MAX_STATEMENTS,
    unclear: undefined,
    poison: undefined,
  };
  let commands: SimpleCommand[] = [];
  try {
    commands = readScript(command, { nested: 0, state, scope: emptyScope(["."]), readers: READERS });
  } catch {
    // The parser is a library: if it ever fails on a hostile string, the command was not understood.
    state.unclear = "it could not be parsed";
  }
  if (state.unclear === undefined && commands.length === 0) state.unclear = "it is empty";
  const { poison } = state;
  if (poison !== undefined && [...everyCommand(commands)].length > 1) {
    commands = commands.map((simple) => poisonedCommand(simple, poison));
  }
  return state.unclear === undefined
    ? { understood: true, commands }
    : { understood: false, why: state.unclear, commands };
}

function readScript(source: string, reading: Reading): SimpleCommand[] {
  const tooMuch = reading.nested > MAX_NESTED_SHELLS ? "shells are nested too deeply" : unreadSource(source);
  const scan = tooMuch === undefined ? scanSource(source) : undefined;
  if (scan === undefined || scan.pieces > MAX_PIECES) {
    unclear(reading, tooMuch ?? `it has more than ${MAX_PIECES} words and operators`);
    return [];
  }
  const refused = refusedSource(source);
  if (refused !== undefined) unclear(reading, refused);
  const script = parse(source);
  const misread = misreadPart(script, source);
  if (misread !== undefined) unclear(reading, misread);
  const scope: Scope = { ...emptyScope(reading.scope.folders), untrusted: untrustedNames(script) };
  const commands = readStatements(script.commands, NOTHING_AROUND, { ...reading, scope });
  // Last, so that a reason that says more about the command comes first.
  const unproven = rawProblem(script, source, scan);
  if (unproven !== undefined) unclear(reading, unproven);
  return commands;
}

function readStatements(statements: readonly Statement[], around: Surroundings, reading: Reading): SimpleCommand[] {
  const { state } = reading;
  return statements.flatMap(({ command, background }) => {
    state.statements -= 1;
    if (state.statements < 0)
      state.unclear ??= `it has more than ${MAX_STATEMENTS} statements, counting each pass of a loop`;
    if (isOver(state)) return [];
    const inside = background === true ? { ...around, background: true } : around;
    const at = background === true ? forked(reading) : reading;
    return command.type === "AndOr" ? readAndOr(command, inside, at) : readStep(command, inside, at);
  });
}

function readStep(node: CommandNode | Pipeline, around: Surroundings, reading: Reading): SimpleCommand[] {
  const before = reading.scope.folders;
  const read = readPipeline(node, around, reading);
  // A `cd` may have failed.
  mergeFolders(reading, before);
  return read;
}

/** `a && b || c`: what b sets is certain only for what follows it by `&&`, and so is the folder it goes to. */
function readAndOr(node: AndOr, around: Surroundings, reading: Reading): SimpleCommand[] {
  const before = reading.scope.folders;
  const commands: SimpleCommand[] = [];
  let chain = reading;
  const seen: string[] = [];
  for (const [index, part] of node.commands.entries()) {
    if (index > 0 && (node.operators[index - 1] === "||" || chain === reading)) {
      const { folders } = chain.scope;
      chain = forked(reading);
      chain.scope.folders =
        node.operators[index - 1] === "&&" ? folders : [...new Set([...before, ...seen])].slice(0, MAX_FOLDERS);
    }
    commands.push(...readPipeline(part, around, chain));
    seen.push(...chain.scope.folders);
  }
  mergeFolders(reading, [...before, ...seen]);
  return commands;
}

function readPipeline(node: CommandNode | Pipeline, around: Surroundings, reading: Reading): SimpleCommand[] {
  if (node.type !== "Pipeline") return readNode(node, around, reading);
  let { input } = around;
  return node.commands.flatMap((part) => {
    const read = readNode(
      part,
      input === undefined ? around : { ...around, input },
      forked(reading, node.commands.length > 1),
    );
    const [only, ...more] = read;
    input = only !== undefined && more.length === 0 && only.starts.length === 0 ? feedOf(only, input) : undefined;
    return read;
  });
}

function readNode(node: CommandNode, around: Surroundings, reading: Reading): SimpleCommand[] {
  switch (node.type) {
    case "Command":
      return readCommand(node, around, reading);
    case "Redirected": {
      const own = readRedirects(node.redirects, reading);
      const inner = readCompound(node.command, join(around, own.around), reading);
      return [...own.commands, ...inner];
    }
    case "Function":
    case "Coproc": {
      unclear(reading, node.type === "Function" ? "it defines a function" : "it starts a coprocess");
      const { body } = node;
      return body.type === "CompoundList"
        ? readStatements(body.commands, around, forked(reading))
        : readNode(body, around, forked(reading));
    }
    default:
      return readCompound(node, around, reading);
  }
}

function readCompound(node: CompoundCommand, around: Surroundings, reading: Reading): SimpleCommand[] {
  const { scope } = reading;
  const list = (body: CompoundList, inside = forked(reading)): SimpleCommand[] => {
    const read = readStatements(body.commands, around, inside);
    if (inside.scope.folders !== scope.folders && node.type !== "Subshell") mergeFolders(reading, inside.scope.folders);
    return read;
  };
  switch (node.type) {
    case "Subshell":
      return list(node.body, forked(reading));
    case "BraceGroup":
      return list(node.body, reading);
    case "If":
      return [
        ...list(node.clause),
        ...list(node.then),
        ...node.elif.flatMap((branches) => [...list(branches.clause), ...list(branches.then)]),
        ...(node.else === undefined ? [] : list(node.else)),
      ];
    case "While": {
      const inside = forked(reading);
      const fed = around.input === undefined ? undefined : readTarget(node.clause);
      const commands = readStatements(node.clause.commands, around, inside);
      if (fed !== undefined && around.input !== undefined)
        inside.scope.variables.set(fed, { kind: "feed", feed: around.input });
      // The loop reads the pipe itself; its body must not take it for its own.
      const { input: _, ...rest } = around;
      const body = readStatements(node.body.commands, rest, inside);
      if (inside.scope.folders !== scope.folders) unclear(reading, "a loop changes its folder");
      return [...commands, ...body];
    }
    case "For":
    case "Select":
      return readLoop(node, around, reading);
    case "ArithmeticFor":
      unclear(reading, HIDDEN_CODE);
      return [...visitScripts(node).flatMap((script) => readInner(script.commands, reading)), ...list(node.body)];
    case "Case":
      unclear(reading, "Harness does not analyse case statements");
      return [
        ...visitScripts(node.word).flatMap((script) => readInner(script.commands, reading)),
        ...node.items.flatMap((item) => [
          ...item.pattern.flatMap((word) =>
            visitScripts(word).flatMap((script) => readInner(script.commands, reading)),
          ),
          ...list(item.body),
        ]),
      ];
    case "TestCommand": {
      const problem = conditionProblem(node.expression, scope) ?? wordHazard(node, scope);
      if (problem !== undefined) unclear(reading, problem);
      const inner = visitScripts(node).flatMap((script) => readInner(script.commands, reading));
      return [...inner, plainCommand(["["], around, reading)];
    }
    case "ArithmeticCommand": {
      if (!isPlainArithmetic(node.expression, scope)) unclear(reading, HIDDEN_CODE);
      const inner = visitScripts(node).flatMap((script) => readInner(script.commands, reading));
      return [...inner, plainCommand(["["], around, reading)];
    }
  }
}

/** Stands for a `[[ … ]]` or `(( … ))`, which runs no program but may be redirected. */
function plainCommand(words: readonly string[], around: Surroundings, reading: Reading): SimpleCommand {
  const parsed = { ...NO_WORDS, words: [...words, "]"] };
  return build({ ...parsed, around, open: false, folders: reading.scope.folders }, reading);
}

function readCommand(node: Command, around: Surroundings, reading: Reading): SimpleCommand[] {
  const { scope, state } = reading;
  if (isOver(state)) return [];
  const before: SimpleCommand[] = [];
  const assignments: string[] = [];
  for (const part of node.prefix) {
    if (part.type !== "Assignment") continue;
    const { words, commands } = readArgument(part, reading);
    before.push(...commands);
    const [word] = words;
    if (word === undefined) continue;
    assignments.push(word.text);
    if (node.name !== undefined) continue;
    const value = knownValue({ ...word, text: word.text.slice(part.name.length + 1) });
    if (isOwnVariable(part.name)) {
      if (value === undefined || part.append === true) scope.variables.delete(part.name);
      else scope.variables.set(part.name, value);
    } else if (!isHarmlessAssignment(word.text)) {
      state.poison ??= `${part.name} may change what later commands do`;
    }
  }
  const parts: CommandArgument[] = node.name === undefined ? [...node.args] : [node.name, ...node.args];
  const words: ReadWord[] = [];
  for (const part of parts) {
    const read = readArgument(part, reading);
    before.push(...read.commands);
    if (
      part === node.name &&
      (read.words.length > 1 || read.words[0]?.glob === true || read.words[0]?.certainty !== "known")
    ) {
      unclear(reading, `${part.text} is in the place of a program name`);
    }
    words.push(...read.words);
  }
  if (mayLookAlike(words[0]?.text ?? ""))
    unclear(reading, "the program's name contains letters that look like other letters");
  const own = readRedirects(node.redirects, reading);
  before.push(...own.commands);
  const indexes = (pick: (word: ReadWord) => boolean): number[] =>
    words.flatMap((word, index) => (pick(word) ? [index] : []));
  const parsed: Parsed = {
    words: words.map(({ text }) => text),
    globbed: indexes(({ glob }) => glob),
    dynamic: indexes(({ certainty }) => certainty !== "known"),
    unknown: indexes(({ certainty }) => certainty === "unknown"),
    split: indexes(({ splits }) => splits === true),
    feeds: new Map(words.flatMap(({ feed }, index) => (feed === undefined ? [] : [[index, feed] as const]))),
    assignments,
    around: join(around, own.around),
    open: false,
    folders: scope.folders,
  };
  const command = build(parsed, reading);
  const effective = inThisShell(command);
  changeFolder(effective, reading);
  state.poison ??= poisons(effective.words);
  return [...before, command];
}

/** `builtin cd` and `command cd` change this shell as `cd` does; every other wrapper starts a process. */
function inThisShell(command: SimpleCommand): SimpleCommand {
  const [inner] = command.starts;
  return inner !== undefined && /^(?:builtin|command)$/.test(programName(command.words)) ? inThisShell(inner) : command;
}

function changeFolder({ words, unknown, globbed, folders }: SimpleCommand, reading: Reading): void {
  if (programName(words) !== "cd") return;
  const [, target = "~"] = words[1] === "--" ? words.slice(1) : words;
  const certain = words.length <= 3 && unknown.length === 0 && globbed.length === 0 && !target.startsWith("-");
  if (!certain) unclear(reading, "Harness cannot tell which folder it runs in");
  const next = folders.map((folder) => (/^[/~]/.test(target) || folder === "." ? target : `${folder}/${target}`));
  reading.scope.folders = certain ? next : folders;
}

function poisonedCommand(command: SimpleCommand, poisoned: string): SimpleCommand {
  return { ...command, poisoned, starts: command.starts.map((started) => poisonedCommand(started, poisoned)) };
}

const READERS: Readers = { statements: readStatements, script: readScript };
