/**
 * Reads the raw text of a shell command without the parser: where words, quotes, expansions, substitutions and
 * here-documents begin and end. It knows far less than bash does, and refuses every text that it is not sure about.
 */

export type RawKind =
  | "word"
  | "single"
  | "double"
  | "ansi"
  | "variable"
  | "parameter"
  | "arithmetic"
  | "command"
  | "process"
  | "here"
  | "quoted-here";

/** One construct and the characters that it spans. */
export interface RawMark {
  readonly kind: RawKind;
  readonly pos: number;
  readonly end: number;
}

export interface RawScan {
  /** Why the text cannot be vouched for; absent when `marks` is all that is in it. */
  readonly refused?: string;
  readonly marks: readonly RawMark[];
  /** How much there is to read for a parser: text in quotes and here-documents counts once. */
  readonly pieces: number;
}

/** Substitutions inside substitutions. */
const MAX_DEPTH = 8;

/** What starts code wherever a shell reads it, quoted or not. */
const STARTS_CODE = /`|\$[({['"]|[<>]\(/;

/** `${x}`, and the operators that cut, replace or default by plain text. */
const PARAMETER =
  /\$\{(?:#?[A-Za-z_]\w*|#?[@*#?$!0-9]|[A-Za-z_]\w*(?::?[-+]|##?|%%?|,,?|\^\^?|\/\/?)[\w.,:@%+=*?/ -]*)\}/y;
const ARITHMETIC = /\$\(\([\w \t+*/%$-]*\)\)/y;
const ARITHMETIC_COMMAND = /\(\([\d \t+*/%<>=!-]*\)\)/y;
const ANSI = /\$'(?:[^'\\]|\\[abefnrtv\\'"?])*'/y;
const VARIABLE = /\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])/y;
const HERE = /<<(-?)[ \t]*(?:'(\w+)'|"(\w+)"|\\(\w+)|(\w+))(?=[\s;&|<>]|$)/y;
const PLAIN_RUN = /[\w./:,=+@%^~-]+/y;

class Refusal extends Error {}

/** Blanks and characters that may begin something, each counted: what a text has at most. */
const PIECE = /\s+|[^\w./:,=+@%^~\s-]/g;

/** Linear in the length of the text. Never throws. */
export function scanSource(source: string): RawScan {
  try {
    return createScanner(source).run();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { refused: error.message, marks: [], pieces: [...source.matchAll(PIECE)].length };
  }
}

interface PendingHere {
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly tabs: boolean;
}

function createScanner(source: string): { run(): RawScan } {
  const marks: RawMark[] = [];
  let specials = 0;
  let pending: PendingHere[] = [];
  let at = 0;

  const refuse = (what: string): never => {
    throw new Refusal(`Harness does not analyse ${what} at character ${at + 1}`);
  };
  const mark = (kind: RawKind, pos: number): void => {
    marks.push({ kind, pos, end: at });
  };
  const take = (pattern: RegExp, limit: number): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match === null || at + match[0].length > limit) return undefined;
    at += match[0].length;
    return match;
  };

  /** Commands up to `limit`, or up to the parenthesis that closes a substitution. */
  function code(limit: number, depth: number, closed: boolean): void {
    if (depth > MAX_DEPTH) refuse("deep nesting");
    let word = -1;
    let parentheses = 0;
    const endWord = (): void => {
      if (word >= 0) mark("word", word);
      word = -1;
    };
    while (at < limit) {
      const char = source[at] ?? "";
      const next = source[at + 1] ?? "";
      const opens = (char === "<" || char === ">") && next === "(";
      if (/[\s;&|<>()]/.test(char) && !opens) {
        if (char === "(" && word >= 0) refuse("a parenthesis after a word");
        endWord();
        if (char === "(") {
          if (next !== "(") parentheses++;
          else if (take(ARITHMETIC_COMMAND, limit) === undefined) refuse("((");
          else continue;
        } else if (char === ")") {
          if (parentheses === 0 && closed) return;
          if (parentheses-- === 0) refuse("a parenthesis");
        } else if (char === "<" && next === "<") {
          specials++;
          hereOperator(limit, depth);
          continue;
        }
        at++;
        if (!/\s/.test(char)) specials++;
        if (char === "\n") hereBodies();
        continue;
      }
      if (char === "#" && word < 0) {
        comment(limit, depth);
        continue;
      }
      if (char === "\\" && next === "\n") {
        // Bash takes it out before it reads: inside a word or an operator it joins what stands around it.
        if (word >= 0 || !/[ \t]/.test(source[at - 1] ?? "")) refuse("a continued line");
        at += 2;
        continue;
      }
      if (word < 0) word = at;
      if (char === "\\") escaped(limit);
      else if (char === "'") single(limit, depth);
      else if (char === '"') double(limit, depth);
      else if (opens) substitution("process", limit, depth);
      else if (!expansion(limit, depth, false) && take(PLAIN_RUN, limit) === undefined) {
        at++;
        specials++;
      }
    }
    if (closed) refuse("an open parenthesis");
    endWord();
  }

  function escaped(limit: number): void {
    if (at + 1 >= limit) refuse("a last backslash");
    if (source[at + 1] === "\n") refuse("a continued line");
    at += 2;
  }

  function comment(limit: number, depth: number): void {
    const line = source.indexOf("\n", at);
    const end = line < 0 ? limit : Math.min(line, limit);
    if (depth > 0 || STARTS_CODE.test(source.slice(at, end))) refuse("a comment");
    at = end;
  }

  function single(limit: number, depth: number): void {
    const start = at;
    const end = source.indexOf("'", at + 1);
    if (end < 0 || end >= limit) refuse("an open quote");
    if (depth > 0 && STARTS_CODE.test(source.slice(at, end))) refuse("code in quotes");
    at = end + 1;
    mark("single", start);
  }

  function double(limit: number, depth: number): void {
    const start = at++;
    while (at < limit && source[at] !== '"') {
      if (source[at] === "\\") escaped(limit);
      else if (!expansion(limit, depth, true) && take(PLAIN_RUN, limit) === undefined) at++;
    }
    if (at >= limit) refuse("an open quote");
    at++;
    mark("double", start);
  }

  /** What begins with a dollar sign or a backtick; false when nothing of the kind is here. */
  function expansion(limit: number, depth: number, quoted: boolean): boolean {
    const start = at;
    const char = source[at];
    if (char === "`") {
      backticks(limit, depth, quoted);
      return true;
    }
    if (char !== "$") return false;
    const next = source[at + 1] ?? "";
    if (next === "[" || (next === '"' && !quoted)) refuse(`$${next}`);
    // A line that continues could hide what the dollar sign belongs to.
    if (next === "\\" && source[at + 2] === "\n") refuse("a continued line");
    if (next === "(") {
      if (source[at + 2] !== "(") substitution("command", limit, depth);
      else if (take(ARITHMETIC, limit) === undefined) refuse("$((");
      else mark("arithmetic", start);
    } else if (next === "{") {
      if (take(PARAMETER, limit) === undefined) refuse("${");
      mark("parameter", start);
    } else if (next === "'" && !quoted) {
      const text = take(ANSI, limit)?.[0] ?? refuse("$'");
      if (STARTS_CODE.test(text.slice(2))) refuse("code in quotes");
      mark("ansi", start);
    } else if (take(VARIABLE, limit) === undefined) {
      at++;
    } else {
      mark("variable", start);
    }
    return true;
  }

  function substitution(kind: "command" | "process", limit: number, depth: number): void {
    const start = at;
    at += 2;
    code(limit, depth + 1, true);
    at++;
    mark(kind, start);
  }

  /** Backslashes and quotes in it mean different things to different shells. */
  function backticks(limit: number, depth: number, quoted: boolean): void {
    const start = at;
    const end = source.indexOf("`", at + 1);
    if (end < 0 || end >= limit) refuse("an open backtick");
    const text = source.slice(start + 1, end);
    if (text.includes("\\") || (quoted && text.includes('"'))) refuse("a quote in backticks");
    at = start + 1;
    code(end, depth + 1, false);
    at = end + 1;
    mark("command", start);
  }

  function hereOperator(limit: number, depth: number): void {
    if (source[at + 2] === "<") {
      at += 3;
      return;
    }
    const match = (depth > 0 ? undefined : take(HERE, limit)) ?? refuse("<<");
    const [, dash = "", apostrophes, quotes, backslash, plain] = match;
    const delimiter = apostrophes ?? quotes ?? backslash ?? plain ?? "";
    pending.push({ delimiter, quoted: plain === undefined, tabs: dash === "-" });
  }

  function hereBodies(): void {
    const bodies = pending;
    pending = [];
    for (const { delimiter, quoted, tabs } of bodies) {
      const start = at;
      let line = at;
      for (;;) {
        if (line >= source.length) refuse("an open here-document");
        const found = source.indexOf("\n", line);
        const end = found < 0 ? source.length : found;
        const text = source.slice(line, end);
        if ((tabs ? text.replace(/^\t+/, "") : text) === delimiter) {
          hereBody(line, quoted);
          mark(quoted ? "quoted-here" : "here", start);
          at = Math.min(end + 1, source.length);
          break;
        }
        line = end + 1;
      }
    }
  }

  function hereBody(limit: number, quoted: boolean): void {
    while (!quoted && at < limit) {
      if (source[at] === "\\") escaped(limit);
      else if (!expansion(limit, 0, true) && take(PLAIN_RUN, limit) === undefined) at++;
    }
    at = limit;
  }

  return {
    run() {
      code(source.length, 0, false);
      if (pending.length > 0) refuse("an open here-document");
      return { marks, pieces: marks.length + specials };
    },
  };
}
