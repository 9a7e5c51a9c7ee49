/**
 * Reads a shell command the way the gate needs it: a tree of simple commands whose words are known before they run, or
 * the plain statement that it was not understood and why. Judges nothing and runs nothing; whatever bash and a POSIX
 * sh would read differently counts as not understood.
 */
import {
  type Command,
  type CommandArgument,
  type CommandNode,
  type CompoundCommand,
  type CompoundList,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
  type WordPart,
} from "unbash";
import { type Launch, launchesOf, programName } from "./shell-wrappers.ts";

export const MAX_COMMAND_BYTES = 32 * 1024;
export const MAX_SEGMENTS = 50;
const MAX_NESTED_SHELLS = 4;

export interface SimpleCommand {
  /** The words after quote removal, the program first. Empty for a bare assignment or redirect. */
  readonly words: readonly string[];
  /** Indexes of the words that the shell replaces by file names (`*`, `?`, `[…]`). */
  readonly globbed: readonly number[];
  /** `NAME=value` in front of the program. */
  readonly assignments: readonly string[];
  /** Files of its redirects, `/dev/null` and copies of descriptors left out. */
  readonly redirects: readonly string[];
  readonly hereDocument: boolean;
  readonly background: boolean;
  /** More words come at run time, from standard input or a file list. */
  readonly open: boolean;
  /** What it starts itself, when it is a wrapper such as `env`, `xargs`, `find -exec` or `sh -c`. */
  readonly starts: readonly SimpleCommand[];
  /** A wrapper that only passes on (`timeout`, `nice`, …): what it starts decides. */
  readonly transparent: boolean;
  /** Why more may run than can be read here, for example through `git -c`. */
  readonly unseen?: string;
}

export type ShellAnalysis =
  | { readonly understood: true; readonly commands: readonly SimpleCommand[] }
  | { readonly understood: false; readonly why: string };

/** Never throws. Every command of the tree has been understood, or the whole is not. */
export function analyseShell(command: string): ShellAnalysis {
  try {
    const commands = readScript(command, { nested: 0, budget: { left: MAX_SEGMENTS } });
    return commands.length > 0 ? { understood: true, commands } : { understood: false, why: "it is empty" };
  } catch (error) {
    if (error instanceof NotUnderstood) return { understood: false, why: error.message };
    // The parser is a library: if it ever fails on a hostile string, the command was not understood.
    return { understood: false, why: "it could not be parsed" };
  }
}

/** All commands of the tree, wrappers before what they start. */
export function* everyCommand(commands: readonly SimpleCommand[]): Generator<SimpleCommand> {
  for (const command of commands) {
    yield command;
    yield* everyCommand(command.starts);
  }
}

/** True for variables that change the language or colour of the output and nothing else. */
export function isHarmlessAssignment(assignment: string): boolean {
  return /^(?:LC_[A-Z]+|LANG|NO_COLOR)=[\w.@-]*$/.test(assignment);
}

class NotUnderstood extends Error {}

interface Reading {
  readonly nested: number;
  /** Shared by the whole tree, so that nesting cannot multiply the work. */
  readonly budget: { left: number };
}

interface Surroundings {
  readonly redirects: readonly string[];
  readonly hereDocument: boolean;
  readonly background: boolean;
}

const NOTHING_AROUND: Surroundings = { redirects: [], hereDocument: false, background: false };

/** Spaces and marks that look like nothing or like a blank, and that shells and people read differently. */
const ODD_CHARACTERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/;

function readScript(source: string, reading: Reading): SimpleCommand[] {
  if (Buffer.byteLength(source) > MAX_COMMAND_BYTES) fail(`it is longer than ${MAX_COMMAND_BYTES / 1024} KB`);
  if (ODD_CHARACTERS.test(source)) fail("it contains control characters or unusual spaces");
  if (reading.nested > MAX_NESTED_SHELLS) fail("shells are nested too deeply");
  const script = parse(source);
  const error = script.errors?.[0];
  if (error !== undefined) fail(`${error.message} at character ${error.pos + 1}`);
  if (script.shebang !== undefined) fail("it begins with a #! line");
  const commands = readStatements(script.commands, NOTHING_AROUND, reading);
  if (!coversSource(script, source)) fail("a part of it was not read by the parser");
  return commands;
}

/** What may stand between the words the parser found: blanks, operators, keywords. */
const BETWEEN_WORDS = /^(?:[\s;&|(){}!]|\\\n|\b(?:if|then|elif|else|fi|time)\b|-p\b|--)*$/;

/**
 * The parser recovers from some mistakes without a word, such as a stray parenthesis. Nothing but words, operators and
 * comments may be left over, and each parenthesis must be that of a subshell it found.
 */
function coversSource(script: ParsedScript, source: string): boolean {
  const words: { readonly pos: number; readonly end: number }[] = [];
  let subshells = 0;
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Subshell") subshells++;
    if (node.type === "Word" || node.type === "Assignment" || node.type === "Redirect" || node.type === "HereString") {
      words.push(node);
    } else if (node.type === "HereDoc") {
      words.push({ pos: node.pos, end: node.delimiter?.end ?? node.end }, node.body, node.closing ?? node.body);
    } else {
      forEachChild(node, visit);
    }
  };
  visit(script);
  let at = 0;
  let rest = "";
  for (const { pos, end } of words.toSorted((a, b) => a.pos - b.pos)) {
    rest += `${source.slice(at, Math.max(at, pos))} `;
    at = Math.max(at, end);
  }
  rest = `${rest}${source.slice(at)}`.replace(/#[^\n]*/g, "");
  return (
    BETWEEN_WORDS.test(rest) && rest.split("(").length - 1 === subshells && rest.split(")").length - 1 === subshells
  );
}

function readStatements(statements: readonly Statement[], around: Surroundings, reading: Reading): SimpleCommand[] {
  return statements.flatMap((statement) => {
    const inside = statement.background === true ? { ...around, background: true } : around;
    const { command } = statement;
    if (command.type !== "AndOr") return readPipeline(command, inside, reading);
    return command.commands.flatMap((part) => readPipeline(part, inside, reading));
  });
}

function readPipeline(node: CommandNode | Pipeline, around: Surroundings, reading: Reading): SimpleCommand[] {
  if (node.type !== "Pipeline") return readNode(node, around, reading);
  return node.commands.flatMap((part) => readNode(part, around, reading));
}

function readNode(node: CommandNode, around: Surroundings, reading: Reading): SimpleCommand[] {
  switch (node.type) {
    case "Command":
      return [readCommand(node, around, reading)];
    case "Redirected":
      return readCompound(node.command, join(around, readRedirects(node.redirects)), reading);
    case "Function":
      return fail("it defines a function");
    case "Coproc":
      return fail("it starts a coprocess");
    default:
      return readCompound(node, around, reading);
  }
}

function readCompound(node: CompoundCommand, around: Surroundings, reading: Reading): SimpleCommand[] {
  const list = (body: CompoundList): SimpleCommand[] => readStatements(body.commands, around, reading);
  switch (node.type) {
    case "Subshell":
    case "BraceGroup":
      return list(node.body);
    case "If":
      return [
        ...list(node.clause),
        ...list(node.then),
        ...node.elif.flatMap((branch) => [...list(branch.clause), ...list(branch.then)]),
        ...(node.else === undefined ? [] : list(node.else)),
      ];
    case "TestCommand":
    case "ArithmeticCommand":
      return fail("[[ … ]] and (( … )) can run code hidden in their operands");
    default:
      return fail("loops, case and select are not followed");
  }
}

function readCommand(node: Command, around: Surroundings, reading: Reading): SimpleCommand {
  const assignments: string[] = [];
  for (const part of node.prefix) {
    if (part.type !== "Assignment") continue;
    if (part.value.type !== "Word" || part.index !== undefined) fail("it assigns an array");
    assignments.push(`${part.name}${part.append === true ? "+" : ""}=${staticText(part.value)}`);
  }
  const parts: CommandArgument[] = node.name === undefined ? [...node.args] : [node.name, ...node.args];
  const words: string[] = [];
  const globbed: number[] = [];
  for (const part of parts) {
    const word = readArgument(part);
    if (word.glob) globbed.push(words.length);
    words.push(word.text);
  }
  if (globbed.includes(0)) fail("the program's name is a pattern");
  const surroundings = join(around, readRedirects(node.redirects));
  return build({ words, globbed, assignments, open: false, ...surroundings }, reading);
}

type Parsed = Omit<SimpleCommand, "starts" | "transparent" | "unseen">;

function build(parsed: Parsed, reading: Reading): SimpleCommand {
  if (--reading.budget.left < 0) fail(`it has more than ${MAX_SEGMENTS} commands`);
  const launched = launchesOf(parsed);
  if (launched.kind === "unknown") fail(launched.why);
  if (launched.kind === "plain") return { ...parsed, starts: [], transparent: false };
  const starts = launched.launches.flatMap((launch) => readLaunch(launch, parsed, reading));
  if (starts.length === 0) fail(`${programName(parsed.words)} starts nothing that can be read`);
  const wrapper = { ...parsed, starts, transparent: launched.transparent };
  return launched.unseen === undefined ? wrapper : { ...wrapper, unseen: launched.unseen };
}

function readLaunch(launch: Launch, wrapper: Parsed, reading: Reading): SimpleCommand[] {
  const deeper = { nested: reading.nested + 1, budget: reading.budget };
  if (deeper.nested > MAX_NESTED_SHELLS) fail("wrappers are nested too deeply");
  if ("script" in launch) return readScript(launch.script, deeper);
  const { background, hereDocument } = wrapper;
  const globbed = wrapper.globbed.map((index) => index - launch.from).filter((index) => index >= 0);
  if (launch.from < 0 && wrapper.globbed.length > 0) fail("a pattern stands where a program is started");
  if (globbed.includes(0)) fail("the program's name is a pattern");
  const { words, assignments } = launch;
  const open = launch.open || wrapper.open;
  return [build({ words, globbed, assignments, redirects: [], hereDocument, background, open }, deeper)];
}

function join(outer: Surroundings, inner: Surroundings): Surroundings {
  return {
    redirects: [...outer.redirects, ...inner.redirects],
    hereDocument: outer.hereDocument || inner.hereDocument,
    background: outer.background || inner.background,
  };
}

function readRedirects(redirects: readonly Redirection[]): Surroundings {
  const files: string[] = [];
  let hereDocument = false;
  for (const redirect of redirects) {
    if (redirect.descriptor?.type === "FileDescriptorVariable") fail("it opens a descriptor into a variable");
    if (redirect.type === "HereDoc") {
      if (redirect.body.parts?.some((part) => part.type !== "Literal") === true) fail("its here-document is expanded");
      if (redirect.closing === undefined) fail("its here-document is not closed");
      hereDocument = true;
      continue;
    }
    if (redirect.target === undefined) fail("a redirect has no target");
    const target = readWord(redirect.target);
    if (redirect.type === "HereString") {
      hereDocument = true;
      continue;
    }
    if (target.glob) fail("a redirect goes to a pattern");
    const copiesDescriptor = /^[<>]&$/.test(redirect.operator) && /^(?:\d|-)$/.test(target.text);
    if (!copiesDescriptor && target.text !== "/dev/null") files.push(target.text);
  }
  return { redirects: files, hereDocument, background: false };
}

interface StaticWord {
  readonly text: string;
  readonly glob: boolean;
}

/** Arguments of `export` and its kin arrive as assignments; for the words they are just text. */
function readArgument(part: CommandArgument): StaticWord {
  if (part.type === "Word") return readWord(part);
  if (part.value.type !== "Word" || part.index !== undefined) return fail("it assigns an array");
  return { text: `${part.name}${part.append === true ? "+" : ""}=${staticText(part.value)}`, glob: false };
}

function staticText(word: Word): string {
  return readWord(word).text;
}

function readWord(word: Word): StaticWord {
  if (/^~[^/]/.test(word.text)) fail(`${word.text} is the home of another user`);
  let glob = false;
  for (const part of word.parts ?? []) glob = readPart(part) || glob;
  return { text: word.value, glob };
}

/** True for a file name pattern; fails for everything whose text is only known at run time. */
function readPart(part: WordPart): boolean {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return false;
    case "Glob":
      part.parts?.forEach(readPart);
      return true;
    case "DoubleQuoted":
      for (const child of part.parts)
        if (child.type !== "Literal") return fail(`${child.text} is only known at run time`);
      return false;
    case "AnsiCQuoted":
    case "LocaleString":
      return fail(`${part.text} means different things to different shells`);
    case "BraceExpansion":
    case "ExtendedGlob":
      return fail(`${part.text} expands to other words`);
    default:
      return fail(`${part.text} is only known at run time`);
  }
}

function fail(why: string): never {
  throw new NotUnderstood(why);
}
