/**
 * Ways to write a hostile shell command differently without taking the harm out of it: other places in a script, other
 * spellings of its first word, other blanks. For fuzzing the judge.
 */
import type { HostileCommand } from "./shell-corpora.ts";

export type Rng = () => number;

type Transform = (command: string, rng: Rng) => string;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Into another construct; a line break before the closing word, so that a comment or here-document ends first. */
const PLACES: readonly Transform[] = [
  (c) => `true; ${c}`,
  (c) => `ls && ${c}`,
  (c) => `false || ${c}`,
  (c) => `${c}\ntrue`,
  (c) => `ls\n${c}`,
  (c) => `# note\n${c}`,
  (c) => `( ${c}\n)`,
  (c) => `{ ${c}\n}`,
  (c) => `if true; then ${c}\nfi`,
  (c) => `if false; then :; else ${c}\nfi`,
  (c) => `for i in 1; do ${c}\ndone`,
  (c) => `while true; do ${c}\nbreak; done`,
  (c) => `case x in x) ${c}\n;; esac`,
  (c) => `f() { ${c}\n}; f`,
  (c) => `echo "$(${c}\n)"`,
  (c) => `x=$(${c}\n)`,
  (c) => `cat <(${c}\n)`,
  (c) => `[[ -n $(${c}\n) ]]`,
  (c) => `ls | { ${c}\n}`,
  (c) => `coproc { ${c}\n}`,
];

/** Handed over as text. */
const WRAPPINGS: readonly Transform[] = [
  (c) => `bash -c ${quoted(c)}`,
  (c) => `sh -c ${quoted(c)}`,
  (c) => `eval ${quoted(c)}`,
  (c) => `env bash -c ${quoted(c)}`,
  (c) => `timeout 5 bash -c ${quoted(c)}`,
  (c) => `nice -n 5 sh -c ${quoted(c)}`,
  (c) => `trap ${quoted(c)} EXIT`,
  (c) => `bash <<'STOP'\n${c}\nSTOP`,
  (c) => `xargs -I{} sh -c ${quoted(c)}`,
  (c) => `find . -maxdepth 0 -exec sh -c ${quoted(c)} \\;`,
  (c) => `sudo bash -c ${quoted(c)}`,
];

/** Other spellings, where the command begins with a plain word. */
const SPELLINGS: readonly Transform[] = [
  (c, rng) => firstWord(c, (word) => insert(word, rng, "''")),
  (c, rng) => firstWord(c, (word) => insert(word, rng, '""')),
  (c, rng) => firstWord(c, (word) => insert(word, rng, "\\\n")),
  (c) => firstWord(c, (word) => `\\${word}`),
  (c) => firstWord(c, (word) => `'${word}'`),
  (c) => firstWord(c, (word) => `"${word}"`),
  (c) => firstWord(c, (word) => `/usr/bin/${word}`),
  (c) => firstWord(c, (word) => `command ${word}`),
  (c) => firstWord(c, (word) => `env ${word}`),
  (c) => firstWord(c, (word) => `$'${word}'`),
  (c) => `  \t${c}`,
  (c) => (/['"\\\n#<]/.test(c) ? c : c.replaceAll(" ", "   ")),
  (c) => (/['"\\\n#<]/.test(c) ? c : c.replace(" ", " \\\n")),
  (c) => (/['"\\\n#<]/.test(c) ? c : c.replaceAll(" ", "\t")),
];

const MAX_LAYERS = 3;

/** A variant of the command under one to three transforms. */
export function disguise({ command }: Pick<HostileCommand, "command">, rng: Rng): string {
  let text = command;
  const layers = 1 + Math.floor(rng() * MAX_LAYERS);
  for (let layer = 0; layer < layers; layer++) {
    // A spelling only makes sense while the command still begins with its own first word.
    const kinds = layer === 0 ? [PLACES, WRAPPINGS, SPELLINGS] : [PLACES, WRAPPINGS];
    text = pick(pick(kinds, rng), rng)(text, rng);
  }
  return text;
}

/** Rows whose harm lies in what they are not cannot be put anywhere else: a lone comment, or half a command. */
export function canBeDisguised({ command, class: kind }: HostileCommand): boolean {
  return kind !== "limits" && !/^\s*(?:#[^\n]*)?$|[|&(`]\s*$|^[^(]*\)(?!.*;;)/.test(command);
}

function firstWord(command: string, change: (word: string) => string): string {
  return command.replace(/^([a-z][a-z0-9-]+)(?=\s)/, (word) => (KEYWORDS.has(word) ? word : change(word)));
}

const KEYWORDS = new Set(
  (
    "for while until case select function coproc if time eval exec source trap alias unalias export declare typeset local " +
    "readonly set shopt unset read mapfile readarray hash enable let pushd popd cd umask ulimit getopts printf bind complete fc builtin command " +
    "echo test wait exit sleep"
  ).split(" "),
);

function insert(word: string, rng: Rng, text: string): string {
  const at = 1 + Math.floor(rng() * (word.length - 1));
  return word.slice(0, at) + text + word.slice(at);
}

function pick<T>(items: readonly T[], rng: Rng): T {
  return items[Math.floor(rng() * items.length)] as T;
}
