/**
 * Builtins that take the name of a variable: bash reads a subscript in it as arithmetic, and arithmetic runs the
 * substitutions that it finds, quoted or not: `test -v 'a[$(x)]'`.
 */
import { wordSet } from "#base";

/** Builtins to which a word may be the name of a variable, or arithmetic. */
const TAKE_NAMES = wordSet(
  "read unset declare typeset local export readonly let wait getopts mapfile readarray printf test [ shift exit return " +
    "break continue ulimit",
);

/** Builtins that give variables attributes; what is assigned to an integer, an array or a reference is evaluated. */
const DECLARES = /^(?:declare|typeset|local|readonly)$/;

/** Why a builtin may run code that is hidden in one of its words, or undefined. */
export function subscriptProblem(
  name: string,
  words: readonly string[],
  dynamic: readonly number[],
): string | undefined {
  if (!TAKE_NAMES.has(name)) return undefined;
  /** Text that is only known at run time may be options, and words that follow them. */
  const mayBeOption = (index: number): boolean => dynamic.includes(index) && /^["']*[-+$`]/.test(words[index] ?? "");
  const gives = (word: string, index: number): boolean => /^[-+]\w*[aAin]/.test(word) || mayBeOption(index);
  if (DECLARES.test(name) && words.some((word, index) => index > 0 && gives(word, index)))
    return `${name} may make bash run what is assigned to a variable`;
  const names = namesAt(name, words, mayBeOption);
  const hidden = names.find((index) => /[[`$(]/.test(words[index] ?? "") || dynamic.includes(index));
  return hidden === undefined ? undefined : `${name} may run code that is hidden in ${words[hidden] ?? ""}`;
}

/** The indexes of the words that are taken as names. */
function namesAt(name: string, words: readonly string[], mayBeOption: (index: number) => boolean): number[] {
  const all = words.map((_, index) => index).slice(1);
  if (name === "test" || name === "[") {
    return all.filter((index) => /^-[vR]$/.test(words[index - 1] ?? "") || mayBeOption(index - 1));
  }
  if (name === "printf") return printfNames(words, mayBeOption);
  if (/^(?:shift|exit|return|break|continue)$/.test(name))
    return all.filter((index) => /[[`(]/.test(words[index] ?? ""));
  if (/^(?:export|readonly|declare|typeset|local)$/.test(name)) {
    // Only the name counts: what is assigned is a value.
    return all.filter((index) => /^[^=]*\[/.test(words[index] ?? ""));
  }
  return all;
}

/** `-v` can be given more than once; bash looks at the name each time. */
function printfNames(words: readonly string[], mayBeOption: (index: number) => boolean): number[] {
  const names: number[] = [];
  let at = 1;
  for (; /^-v/.test(words[at] ?? ""); at++) {
    if (words[at] === "-v") at++;
    names.push(at);
  }
  return mayBeOption(at) ? [...names, ...words.keys()].filter((index) => index !== at) : names;
}
