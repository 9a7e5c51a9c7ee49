/** Whether the little programs that are handed to `sed`, `awk` and `jq` only read their input, by a grammar for each. */
import { isHarmlessAwk } from "./awk-program.ts";
import { isHarmlessJq } from "./jq-filter.ts";
import { isHarmlessSed } from "./sed-script.ts";

/** Longer programs are not judged. */
const MAX_SCRIPT_CHARS = 2000;

const GRAMMARS = { awk: isHarmlessAwk, jq: isHarmlessJq, sed: isHarmlessSed } as const;

/**
 * Printable text only. Behind a letter beyond ASCII some encodings read these signs as its second byte, and then a
 * backslash or a mark would not count as one.
 */
const ODD_TEXT = /[^\t\n -~\u00a0-\uffff]|[^\0-\x7f][@[\\\]^_`{|}~]/;

/** Why a program in one of these languages may do more than print, or undefined. */
export function scriptProblem(language: keyof typeof GRAMMARS, program: string): string | undefined {
  if (program.length > MAX_SCRIPT_CHARS) return `the ${language} program is too long to check`;
  if (ODD_TEXT.test(program) || !program.isWellFormed()) return `the ${language} program contains unusual characters`;
  return GRAMMARS[language](program) ? undefined : `the ${language} program may do more than print`;
}
