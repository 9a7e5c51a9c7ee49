/**
 * Lines of code as pieces that are painted alike. Works line by line, so that a finished line is final while the next ones stream; what a
 * line leaves open (a comment, a string) is carried to the next. Pure. What is too long stays in one colour.
 */
import { StringStream } from "@codemirror/streamparser";
import { type CodeLanguage, codeLanguage } from "./code-languages.ts";
import type { Role } from "./theme.ts";

export interface CodeSpan {
  readonly text: string;
  /** Absent: the colour of text. */
  readonly role?: Role;
}

/** Where a piece of code ended, for the lines that follow. */
export interface CodeCarry {
  readonly language: CodeLanguage;
  readonly state: unknown;
  /** Characters that may still be coloured. */
  readonly left: number;
}

export interface CodeLines {
  readonly lines: readonly (readonly CodeSpan[])[];
  /** Absent for a language that is not known. */
  readonly after: CodeCarry | undefined;
}

/** Of one piece of code: more takes longer than a frame may. */
export const MAX_CODE_CHARS = 64 * 1024;
/** A longer line is data or was generated. */
export const MAX_LINE_CHARS = 1_000;
const TAB_COLUMNS = 4;
const INDENT_COLUMNS = 2;
/** Tokenizers may take a step that only changes their state. */
const MAX_IDLE_STEPS = 10;

export function codeCarry(name: string): CodeCarry | undefined {
  const language = codeLanguage(name);
  if (language === undefined) return undefined;
  return { language, state: language.startState?.(INDENT_COLUMNS) ?? {}, left: MAX_CODE_CHARS };
}

export function codeLines(lines: readonly string[], before: CodeCarry | undefined): CodeLines {
  if (before === undefined) return { lines: lines.map((text) => [{ text, role: "code" }]), after: undefined };
  const { language } = before;
  const state = copied(language, before.state);
  let { left } = before;
  const spans = lines.map((text) => {
    left -= text.length + 1;
    return left < 0 || text.length > MAX_LINE_CHARS ? [{ text }] : lineSpans(text, language, state);
  });
  return { lines: spans, after: { language, state, left } };
}

function lineSpans(text: string, language: CodeLanguage, state: unknown): readonly CodeSpan[] {
  if (text === "") {
    language.blankLine?.(state, INDENT_COLUMNS);
    return [{ text }];
  }
  const stream = new StringStream(text, TAB_COLUMNS, INDENT_COLUMNS);
  const spans: CodeSpan[] = [];
  let idle = 0;
  while (!stream.eol()) {
    stream.start = stream.pos;
    const style = language.token(stream, state);
    if (stream.pos > stream.start) idle = 0;
    else if (++idle < MAX_IDLE_STEPS) continue;
    else stream.next();
    const role = roleOf(style);
    const last = spans.at(-1);
    const piece = stream.current();
    // White space shows no colour.
    if (last !== undefined && (last.role === role || piece.trim() === "")) {
      spans[spans.length - 1] = { ...last, text: last.text + piece };
    } else spans.push({ text: piece, ...(role !== undefined && { role }) });
  }
  return spans;
}

const roles: Readonly<Record<string, Role>> = {
  comment: "comment",
  keyword: "keyword",
  controlKeyword: "keyword",
  operatorKeyword: "keyword",
  string: "string",
  regexp: "string",
  number: "literal",
  atom: "literal",
  bool: "literal",
  def: "name",
  type: "name",
  typeName: "name",
  tag: "name",
  tagName: "name",
  builtin: "name",
  header: "name",
  heading: "name",
  meta: "comment",
  inserted: "good",
  deleted: "bad",
};

/** Styles are words with modifiers: `string.special`, `string property`. */
function roleOf(style: string | null): Role | undefined {
  // A key of JSON.
  if (style === "string property") return "name";
  const [word = ""] = (style ?? "").split(/[ .]/);
  return Object.hasOwn(roles, word) ? roles[word] : undefined;
}

function copied(language: CodeLanguage, state: unknown): unknown {
  if (language.copyState !== undefined) return language.copyState(state);
  if (typeof state !== "object" || state === null) return state;
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => [name, Array.isArray(value) ? [...value] : value]),
  );
}
