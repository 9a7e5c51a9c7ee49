/**
 * Finds the name of a program in the arguments of a command that might start it, such as `watch 'rm x'`. A sign to ask,
 * never proof: what a wrapper is known to start is in the tree of `shell.ts` already.
 */
import type { SimpleCommand } from "./command.ts";
import { programName } from "./wrappers.ts";

/**
 * The name of a program among `names` that a command names in its arguments, when it is a command that might run them.
 * Programs known not to run their arguments are passed over.
 */
export function mentionedProgram(command: SimpleCommand, names: Iterable<string>): string | undefined {
  const { startable } = namesIn(command);
  for (const wanted of names) if (startable.has(wanted.toLowerCase())) return wanted;
  return undefined;
}

/** True when the arguments of a command hold `word`, as a part of one of them or as a name of its own. */
export function mentionsWord(command: SimpleCommand, word: string): boolean {
  return (
    namesIn(command).spoken.has(word.toLowerCase()) || command.words.some((text, at) => at > 0 && text.includes(word))
  );
}

const COPIERS = new Set(["cp", "mv", "ln", "install"]);

interface Names {
  /** What the command may start. */
  readonly startable: ReadonlySet<string>;
  /** What its arguments hold. */
  readonly spoken: ReadonlySet<string>;
}

/** Kept by command, which nobody changes: each rule asks about the same names. */
const namesOf = new WeakMap<SimpleCommand, Names>();

function namesIn(command: SimpleCommand): Names {
  const known = namesOf.get(command);
  if (known !== undefined) return known;
  const followed = command.starts.length > 0 && command.unseen === undefined;
  const words = command.words.slice(1);
  const texts = [...words, ...(command.hereText === undefined ? [] : [command.hereText])];
  // A variable such as PAGER names a program whatever the arguments are; and a copy of a program is one under another name.
  const copied = COPIERS.has(programName(command.words)) ? words.filter((word) => word.includes("/")) : [];
  const read = programName(command.words) === "sed" ? namesInSed : namesInText;
  const startable = [...(followed || takesData(command) ? [] : texts), ...command.assignments].flatMap(read);
  const made = {
    startable: new Set([...startable, ...copied.map((path) => programName([path]))]),
    spoken: new Set(words.flatMap(namesInText)),
  };
  namesOf.set(command, made);
  return made;
}

/** Everything in a text that may be the name of a program, in lower case and without a folder. */
export function namesInText(text: string): string[] {
  return text.toLowerCase().split(/[^\w.+-]+/);
}

/** The command `e` of sed starts what follows it, with nothing in between: `1etouch`. */
function namesInSed(text: string): string[] {
  return namesInText(text).flatMap((name) => {
    const behind = [...name.slice(0, MAX_SED_CHARS).matchAll(/e/g)].map(({ index }) => name.slice(index + 1));
    return [name, ...behind];
  });
}

/** A longer word of a script that has no blank is not a name behind a command. */
const MAX_SED_CHARS = 256;

const DATA_PROGRAMS = new Set(
  (
    "ls pwd cat head tail wc grep egrep fgrep rg echo printf true false which sort uniq cut tr basename dirname date diff " +
    "stat file du nl mkdir rmdir touch cp mv rm ln chmod chown cd test [ tee jq tree realpath readlink sleep seq md5sum " +
    "sha1sum sha256sum sha512sum cmp comm column rev tac fold paste join od xxd base64 strings read exit return export"
  ).split(" "),
);
const DATA_GIT = new Set(
  (
    "add blame branch checkout commit diff fetch init log ls-files merge pull push reset restore rev-parse rm show stash " +
    "status switch tag mv describe shortlog rev-list cat-file ls-tree"
  ).split(" "),
);
/** Of those, the ones that could be handed a program by an option that is not seen yet. */
const STEERABLE = new Set(["rg", "sort", "fetch", "pull", "push", "commit", "merge", "tag"]);

/** True for programs that treat their arguments as data and never start one of them. */
export function takesData({ words, unknown, open }: SimpleCommand): boolean {
  const name = programName(words);
  const unseen = open || unknown.length > 0;
  const subject = name === "git" ? (words[1] ?? "") : name;
  if (unseen && (STEERABLE.has(subject) || unknown.includes(0) || (name === "git" && unknown.includes(1))))
    return false;
  if (name === "git") return DATA_GIT.has(subject);
  return DATA_PROGRAMS.has(name) && !words.some((word) => /^--(?:pre|compress|hostname)/.test(word));
}
