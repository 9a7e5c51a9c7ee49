/**
 * A small grammar of sed scripts that only print. It knows no command that writes, reads another file or runs a program.
 * No command goes beyond its line: some versions read everything behind a label, up to the end of the line, as its name.
 */
import { patternEnd } from "./bracket-expression.ts";

const BREAKS = /[ \t\n;]+|#[^\n\\]*(?=\n|$)/y;
const BLANKS = /[ \t]*/y;
const NUMBER = /\d+/y;
const PATTERN_FLAGS = /[IM]*/y;
const SECOND_NUMBER = /[+~]?\d+/y;
const SIMPLE = /[{}=dDgGhHnNpPxzF]|[qQl][ \t]*\d{0,5}/y;
/** `:a` and `ba`, `t`, `T`: names of plain letters. */
const LABEL = /:[ \t]*\w+|[btT][ \t]*\w*/y;
/** `a text`, `i\ text`, `c text`, up to the end of the line and without an escape in it. */
const TEXT = /[aic][ \t]*(?:\\[ \t]*)?[^\\\n]+|[aic]\\$/y;
/** Characters that may stand for the slash in `s` and `y`. */
const MARKS = new Set("/|#,:@!%~+=_;");
const SUBSTITUTION_FLAGS = /[gpIiMm\d]*/y;
/** A command ends here, or the next one closes the group. */
const COMMAND_END = /[ \t]*(?=[;}\n#]|$)/y;

/** True when every sed only reads its operands and prints. */
export function isHarmlessSed(script: string): boolean {
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(script)?.[0] ?? "";
    at += found.length;
    return found;
  };
  const goTo = (end: number | undefined): boolean => {
    at = end ?? at;
    return end !== undefined;
  };
  const takeAddress = (numbers: RegExp): "none" | "read" | "unknown" => {
    if (script[at] === "/") {
      if (!goTo(patternEnd(script, at + 1, "/"))) return "unknown";
      take(PATTERN_FLAGS);
      return "read";
    }
    if (script[at] === "$") return goTo(at + 1) ? "read" : "none";
    if (take(numbers) === "") return "none";
    if (script[at] !== "~") return "read";
    at++;
    return take(NUMBER) === "" ? "unknown" : "read";
  };
  const takeAddresses = (): boolean => {
    const first = takeAddress(NUMBER);
    if (first === "unknown") return false;
    take(BLANKS);
    if (first === "read" && script[at] === ",") {
      at++;
      take(BLANKS);
      if (takeAddress(SECOND_NUMBER) !== "read") return false;
      take(BLANKS);
    }
    while (script[at] === "!") {
      at++;
      take(BLANKS);
    }
    return true;
  };
  const takeCommand = (): boolean => {
    const char = script[at];
    if (char === "s" || char === "y") {
      const mark = script[at + 1] ?? "";
      if (!MARKS.has(mark)) return false;
      const replaced = char === "s" ? patternEnd(script, at + 2, mark) : plainEnd(script, at + 2, mark);
      if (replaced === undefined || !goTo(plainEnd(script, replaced, mark))) return false;
      if (char === "s") take(SUBSTITUTION_FLAGS);
      return true;
    }
    return take(TEXT) !== "" || take(LABEL) !== "" || take(SIMPLE) !== "";
  };
  while (at < script.length) {
    if (take(BREAKS) !== "") continue;
    if (!takeAddresses() || !takeCommand()) return false;
    if (script[at - 1] === "{" || at >= script.length) continue;
    COMMAND_END.lastIndex = at;
    if (!COMMAND_END.test(script)) return false;
  }
  return true;
}

/** The index behind the next mark that no backslash escapes; undefined when the line ends first. */
function plainEnd(script: string, start: number, mark: string): number | undefined {
  for (let at = start; at < script.length; at++) {
    if (script[at] === mark) return at + 1;
    if (script[at] === "\\") at++;
    if (script[at] === "\n") return undefined;
  }
  return undefined;
}
