/**
 * Whether the little programs that are handed to `sed`, `awk` and `jq` only read their input. Each is read by a scanner
 * that knows what is harmless; whatever it does not know counts as more than reading.
 */

/** Longer programs are not judged. */
const MAX_SCRIPT_CHARS = 2000;

/** Why a program in one of these languages may do more than print, or undefined. */
export function scriptProblem(language: "sed" | "awk" | "jq", program: string): string | undefined {
  if (program.length > MAX_SCRIPT_CHARS) return `the ${language} program is too long to judge`;
  switch (language) {
    case "sed":
      return isPlainSed(program) ? undefined : "the sed script may do more than print";
    case "awk":
      return awkProblem(program);
    case "jq":
      return jqProblem(program);
  }
}

/** Up to the next slash, none of them in brackets: versions differ on whether one there ends the pattern. */
const SED_PATTERN = String.raw`\/(?:[^/\\\n[]|\\.|\[\^?\]?(?:\[:[a-z]+:\]|\\\/|[^/\]\n[])*\])*\/I?`;
const SED_ADDRESS = new RegExp(String.raw`(?:\d+(?:~\d+)?|\$|${SED_PATTERN})`, "y");
const SED_SECOND = new RegExp(String.raw`,\s*(?:[+~]\d+|\d+|\$|${SED_PATTERN})`, "y");
const SED_COMMAND = /(?:[qQ] ?\d{1,3}(?![\w])|[pdPDxhHgGnNl=qQ{}])/y;
const SED_TRANSLATE = /y\/(?:[^/\\\n]|\\.)*\/(?:[^/\\\n]|\\.)*\//y;

/** One pass from left to right; `w`, `W`, `e`, `r`, `R`, `F`, labels and text blocks are not known and end it. */
function isPlainSed(script: string): boolean {
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const match = pattern.exec(script);
    if (match === null) return false;
    at += match[0].length;
    return true;
  };
  while (at < script.length) {
    if (take(/[\s;]+/y)) continue;
    if (take(SED_ADDRESS)) take(SED_SECOND);
    take(/\s*!?\s*/y);
    if (script[at] === "s") {
      const end = substitutionEnd(script, at);
      if (end === undefined) return false;
      at = end;
    } else if (!take(SED_TRANSLATE) && !take(SED_COMMAND)) {
      return false;
    }
    // What follows a command must be its end: in `pw x` the w would be a command of its own.
    if (at < script.length && !/[\s;{}]/.test(script[at] ?? "") && script[at - 1] !== "{") return false;
  }
  return true;
}

/** Where `s/a/b/flags` ends, any mark instead of the slash; undefined when it is cut or a flag writes or runs. */
function substitutionEnd(script: string, start: number): number | undefined {
  const mark = script[start + 1] ?? "";
  if (mark === "" || /[\w\s\\[\]]/.test(mark)) return undefined;
  let at = start + 2;
  for (let marks = 0; marks < 2; at++) {
    if (at >= script.length || script[at] === "\n") return undefined;
    if (script[at] === "\\") at++;
    else if (marks === 0 && script[at] === "[") {
      const end = bracketEnd(script, at, mark);
      if (end === undefined) return undefined;
      at = end;
    } else if (script[at] === mark) marks++;
  }
  const flags = /[gpIim\d]*/y;
  flags.lastIndex = at;
  return at + (flags.exec(script)?.[0].length ?? 0);
}

/** Where the brackets end that open at `start`; undefined when they do not, or when the mark is in them. */
function bracketEnd(script: string, start: number, mark: string): number | undefined {
  const brackets = /\[\^?\]?(?:\[:[a-z]+:\]|[^\]\n[])*\]/y;
  brackets.lastIndex = start;
  const inside = brackets.exec(script)?.[0];
  if (inside === undefined) return undefined;
  // An escaped mark counts as none to all of them.
  return inside.replaceAll(`\\${mark}`, "").includes(mark) ? undefined : start + inside.length - 1;
}

/** Names that run, read, write or reach beyond the input. */
const AWK_REACHES =
  /\b(?:system|getline|close|fflush|ENVIRON|ARGV|ARGC|ARGIND|FILENAME\s*=|PROCINFO|SYMTAB|FUNCTAB|include|load|namespace|function|func|nextfile|extension|srand)\b/;
const AWK_BEFORE_PATTERN = /(?:^|[({},;!~&|\n]|\b(?:print|printf|return|else|do|in|case))\s*$/;
const AWK_BEFORE_DIVISION = /(?:[\w)\]]|"")\s*$/;
const AWK_PLAIN_PATTERN = /^[\w .^$|*+?()[\]:,=<>#%&'~-]*$/;

/** Strings become `""` and patterns `0`; then no name and no operator may be left that writes or runs. */
function awkProblem(program: string): string | undefined {
  const odd = "the awk program is not understood";
  let bare = "";
  for (let at = 0; at < program.length; at++) {
    const char = program[at] ?? "";
    if (char === '"') {
      const text = /"(?:[^"\\\n]|\\[^\n])*"/y;
      text.lastIndex = at;
      const match = text.exec(program);
      if (match === null) return odd;
      bare += '""';
      at += match[0].length - 1;
    } else if (char === "/" && AWK_BEFORE_PATTERN.test(bare)) {
      const pattern = /\/((?:[^/\\\n]|\\[^\n])*)\//y;
      pattern.lastIndex = at;
      const match = pattern.exec(program);
      const inside = (match?.[1] ?? '"').replace(/\\./g, "");
      if (match === null || !AWK_PLAIN_PATTERN.test(inside) || /\[[^\]]*$/.test(inside)) return odd;
      bare += "0";
      at += match[0].length - 1;
    } else if (char === "/" && !AWK_BEFORE_DIVISION.test(bare)) {
      return odd;
    } else if (/[\\@`#]/.test(char)) {
      return odd;
    } else {
      bare += char;
    }
  }
  const reaches = AWK_REACHES.exec(bare)?.[0];
  if (reaches !== undefined) return `the awk program uses ${reaches}, which may do more than print`;
  if (/(?<!\|)\|(?!\|)/.test(bare)) return "the awk program may run a program";
  return /\bprintf?\b[^;}]*>/.test(bare) ? "the awk program may write a file" : undefined;
}

function jqProblem(filter: string): string | undefined {
  const found = /(?<![.\w"])(?:import|include|env|ENV|modulemeta|input_line_number|get_search_list|__prog_args)\b/.exec(
    filter,
  );
  return found === null ? undefined : `the jq filter uses ${found[0]}`;
}
