/**
 * Turns the words of a shell command into what they will be when it runs: text, a file name pattern, names that a
 * listing printed, or something that only the run will tell. Follows a variable only where its value is certain.
 */
import {
  type ArithmeticExpression,
  forEachChild,
  type ParameterExpansionPart,
  type SyntaxNode,
  type Word,
  type WordPart,
} from "unbash";
import type { Feed } from "./feeds.ts";

/** The most words that one brace expansion may become. */
const MAX_BRACE_WORDS = 50;

/** What a variable is known to hold. */
export type Value =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "glob"; readonly text: string }
  | { readonly kind: "feed"; readonly feed: Feed }
  /** Not known, but without blanks inside and without wildcards. */
  | { readonly kind: "plain" };

/** What is known at one place of a script. Changed as statements are read; forked for whatever may not come back. */
export interface Scope {
  readonly variables: Map<string, Value>;
  /** Variables that are set in more than one place, or in a way that is not followed. */
  readonly untrusted: { has(name: string): boolean };
  /** Where it may run, relative to where the whole command starts. */
  folders: readonly string[];
}

export interface ReadWord {
  readonly text: string;
  /** The shell replaces it by file names. */
  readonly glob: boolean;
  /**
   * `known`: the text is what will be there. `spelled`: it means the same file, spelled differently. `unknown`: the text
   * is only how it was written.
   */
  readonly certainty: "known" | "spelled" | "unknown";
  readonly feed?: Feed;
  /** It stands without quotes, so it may become several words, none, or names of files. */
  readonly splits?: true;
  /** Nothing in it is split or replaced, whatever it is. */
  readonly plain?: true;
}

export interface WordReader {
  /** Something that makes the whole command one that is not understood. */
  unclear(why: string): void;
  /** What a substitution prints, when it lists files; `.` when it prints the current folder. */
  printed(part: WordPart): Printed | undefined;
}

export type Printed = Feed | "." | "plain";

/** One word may become several (`{a,b}`). */
export function readWord(word: Word, scope: Scope, reader: WordReader): ReadWord[] {
  if (/^~[^/]/.test(word.text)) reader.unclear(`${word.text} is the home of another user`);
  if (word.parts === undefined) return [{ text: word.value, glob: false, certainty: "known" }];
  let read: ReadWord[] = [{ text: "", glob: false, certainty: "known" }];
  for (const part of word.parts) {
    const next = readPart(part, scope, reader, word.parts.length === 1);
    read = read.flatMap((left) => next.map((right) => joinWords(left, right)));
    if (read.length > MAX_BRACE_WORDS) {
      reader.unclear(`${word.text} expands to too many words`);
      return read.slice(0, MAX_BRACE_WORDS);
    }
  }
  return read;
}

function joinWords(left: ReadWord, right: ReadWord): ReadWord {
  const certainty =
    left.certainty === "unknown" || right.certainty === "unknown"
      ? "unknown"
      : left.certainty === "spelled" || right.certainty === "spelled"
        ? "spelled"
        : "known";
  const text = left.text + right.text;
  const glob = left.glob || right.glob;
  // A list of names with something glued to it is no list of names any more.
  const feed = left.text === "" && !left.glob ? right.feed : undefined;
  const splits = left.splits === true || right.splits === true;
  const plain = left.plain ?? right.plain;
  return { text, glob, certainty, ...(feed && { feed }), ...(splits && { splits }), ...(plain && { plain }) };
}

function readPart(part: WordPart, scope: Scope, reader: WordReader, alone: boolean): ReadWord[] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return [known(part.value)];
    case "Glob":
      if (part.kind === "bracket" && part.parts.some((inner) => inner.type !== "Literal")) {
        reader.unclear(`${part.text} is only known at run time`);
      }
      return [{ text: part.value, glob: true, certainty: "known" }];
    case "DoubleQuoted":
      return [
        part.parts
          .map((child) =>
            readExpansion(child, scope, reader, { quoted: true, alone: alone && part.parts.length === 1 }),
          )
          .reduce(joinWords, known("")),
      ];
    case "AnsiCQuoted":
      if (!/^\$'(?:[^\\]|\\[tn\\'"])*'$/.test(part.text)) reader.unclear(`${part.text} hides its characters`);
      return [known(part.value)];
    case "LocaleString":
      reader.unclear(`${part.text} means different things to different shells`);
      return [
        part.parts
          .map((child) => readExpansion(child, scope, reader, { quoted: true, alone: false }))
          .reduce(joinWords, known("")),
      ];
    case "BraceExpansion": {
      const words = braceWords(part.text);
      if (words === undefined) reader.unclear(`${part.text} expands to other words`);
      return words === undefined ? [unknown(part.text)] : words.map(known);
    }
    case "ExtendedGlob":
      reader.unclear(`${part.text} expands to other words`);
      return [{ text: part.text, glob: true, certainty: "unknown" }];
    default: {
      const read = readExpansion(part, scope, reader, { quoted: false, alone });
      return [read.certainty === "unknown" && read.plain !== true ? { ...read, splits: true } : read];
    }
  }
}

interface Place {
  readonly quoted: boolean;
  /** Nothing else is in the word. */
  readonly alone: boolean;
}

function readExpansion(part: WordPart, scope: Scope, reader: WordReader, place: Place): ReadWord {
  switch (part.type) {
    case "Literal":
      return known(part.value);
    case "SimpleExpansion":
      return variable(part.text.slice(1), part.text, scope, place);
    case "ParameterExpansion":
      return part.operation === undefined && part.index === undefined && part.prefix === undefined
        ? variable(part.parameter, part.text, scope, place)
        : unknown(part.text);
    case "ArithmeticExpansion":
      return { text: "0", glob: false, certainty: "spelled" };
    case "ProcessSubstitution":
      // The program reads or writes a pipe; who is at its other end is judged as a command of its own.
      return { text: "/dev/null", glob: false, certainty: "spelled" };
    case "CommandExpansion": {
      const printed = reader.printed(part);
      if (printed === ".") return { text: ".", glob: false, certainty: "spelled" };
      if (printed === "plain") return { ...unknown(part.text), plain: true };
      return printed !== undefined && place.alone ? { ...unknown(part.text), feed: printed } : unknown(part.text);
    }
    default:
      return unknown(part.text);
  }
}

/** Why some part of a word, however deep, may run code or change a variable when it is expanded; undefined when none. */
export function wordHazard(word: SyntaxNode, scope: Scope): string | undefined {
  let found: string | undefined;
  const visit = (node: SyntaxNode): void => {
    // What a substitution runs is read as commands of its own.
    if (found !== undefined || node.type === "Script") return;
    if (node.type === "ArithmeticExpansion" && !isPlainArithmetic(node.expression, scope)) found = HIDDEN_CODE;
    if (node.type === "ParameterExpansion") found = parameterHazard(node);
    forEachChild(node, visit);
  };
  visit(word);
  return found;
}

function parameterHazard(part: ParameterExpansionPart): string | undefined {
  const { operation, index, prefix } = part;
  if (operation?.type === "Default" && /^:?[=?]$/.test(operation.operator)) return `${part.text} changes a variable`;
  if (operation?.type === "Slice") {
    const plain = /^ ?-?\d+$/.test(operation.offset.text) && /^(?:-?\d+)?$/.test(operation.length?.text ?? "");
    if (!plain) return HIDDEN_CODE;
  }
  if (index !== undefined && !/^(?:\d+|[@*])$/.test(index.text)) return HIDDEN_CODE;
  const indirect = prefix === "!" || operation?.type === "Transform" || operation?.type === "Unknown";
  return indirect ? `${part.text} is only known at run time` : undefined;
}

export const HIDDEN_CODE = "arithmetic can run code hidden in its operands";

function variable(name: string, text: string, scope: Scope, { quoted, alone }: Place): ReadWord {
  if (scope.untrusted.has(name)) return unknown(text);
  const value = scope.variables.get(name);
  if (value === undefined) {
    if (name === "PWD") return { text: ".", glob: false, certainty: "spelled" };
    return PLAIN_NAMES.test(name) ? { ...unknown(text), plain: true } : unknown(text);
  }
  if (value.kind === "plain") return { ...unknown(text), plain: true };
  if (value.kind === "feed") return alone ? { ...unknown(text), feed: value.feed } : unknown(text);
  // Without quotes the value is split at blanks and its patterns are replaced.
  const plain = quoted || !/[\s*?[\\]/.test(value.text);
  if (value.kind === "text") {
    return plain ? { text: value.text, glob: false, certainty: "spelled" } : { ...unknown(value.text), glob: true };
  }
  if (quoted) return { text: value.text, glob: true, certainty: "spelled" };
  const feed = alone ? globFeed(value.text) : undefined;
  const names = { ...unknown(value.text), glob: true };
  return feed === undefined ? names : { ...names, feed };
}

/** Parameters of the shell that are numbers, and variables that it or the login has set. */
const PLAIN_NAMES =
  /^(?:[?#$!]|HOME|PATH|USER|LOGNAME|SHELL|LANG|TERM|UID|EUID|PPID|HOSTNAME|RANDOM|SECONDS|LINENO|BASH_VERSION)$/;

/** The files that a plain pattern such as `src/*.ts` stands for, when blanks in their names would matter. */
export function globFeed(pattern: string): Feed | undefined {
  const cut = pattern.lastIndexOf("/");
  const folder = pattern.slice(0, Math.max(cut, 0));
  if (/[*?[{]/.test(folder) || pattern.startsWith("/")) return undefined;
  return {
    roots: [folder === "" ? "." : folder],
    names: pattern.slice(cut + 1),
    hidden: false,
    links: true,
    prefixed: cut > 0,
    split: true,
  };
}

/** Numbers and operators only: the value of a variable would be read as an expression of its own. */
export function isPlainArithmetic(expression: ArithmeticExpression | undefined, scope: Scope): boolean {
  if (expression === undefined) return false;
  let plain = true;
  const visit = (node: SyntaxNode): void => {
    if (node.type === "ArithmeticCommandExpansion" || node.type === "Script") plain = false;
    if (node.type === "ArithmeticWord" && !/^\d+$/.test(node.value)) {
      const name = node.value.replace(/^\$/, "");
      const value = scope.untrusted.has(name) ? undefined : scope.variables.get(name);
      plain &&= value?.kind === "text" && /^\d+$/.test(value.text);
    }
    if (plain) forEachChild(node, visit);
  };
  visit(expression);
  return plain && !assigns(expression);
}

function assigns(expression: ArithmeticExpression): boolean {
  let found = false;
  const visit = (node: SyntaxNode): void => {
    if ("operator" in node && /^(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=)$/.test(node.operator ?? "")) found = true;
    if (!found) forEachChild(node, visit);
  };
  visit(expression);
  return found;
}

/** `{a,b}` and `{1..5}` written out; undefined for everything less plain. */
function braceWords(text: string): string[] | undefined {
  const range = /^\{(\d{1,3})\.\.(\d{1,3})\}$/.exec(text);
  if (range !== null) {
    const [from, to] = [Number(range[1]), Number(range[2])];
    if (String(from) !== range[1] || String(to) !== range[2] || Math.abs(to - from) >= MAX_BRACE_WORDS)
      return undefined;
    const step = from <= to ? 1 : -1;
    return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => String(from + index * step));
  }
  if (!/^\{[\w./@+-]*(?:,[\w./@+-]*)+\}$/.test(text)) return undefined;
  return text.slice(1, -1).split(",");
}

function known(text: string): ReadWord {
  return { text, glob: false, certainty: "known" };
}

function unknown(text: string): ReadWord {
  return { text, glob: false, certainty: "unknown" };
}
