/**
 * What a command starts besides itself: `env`, `timeout`, `xargs`, `sudo`, `sh -c`, `find -exec`, `git -C` and the
 * like, taken apart by their own option rules. Does not parse shell syntax; a script it finds is handed back as text.
 */

import { wordSet } from "#base";
import type { SimpleCommand } from "./command.ts";
import {
  INTERPRETERS,
  OTHER_SHELLS,
  POISONERS,
  PREFIXES,
  type PrefixRule,
  QUEUES,
  SCRIPT_OPTIONS,
  SHELL_CHANGERS,
  SHELLS,
  WRAPPERS,
} from "./launchers.ts";
import { optionScripts } from "./option-scripts.ts";
import { subscriptProblem } from "./subscripts.ts";

/** Something that is started: words of the same command line, or a script for a shell. */
export type Launch =
  | {
      readonly words: readonly string[];
      /** Where the words begin in the outer command; negative when they are not a plain tail of it. */
      readonly from: number;
      readonly assignments: readonly string[];
      /** More words come at run time. */
      readonly open: boolean;
      /** The folder it is told to run in, relative to the outer one. */
      readonly folder?: string;
    }
  | {
      readonly script: string;
      /** Perhaps no script at all: what cannot be read in it is passed over. */
      readonly guess?: true;
    };

export interface Launched {
  readonly launches: readonly Launch[];
  /** It only passes on (`timeout`, `nice`, …): what it starts decides. */
  readonly transparent: boolean;
  /** Why more may run than the launches show, through a named feature such as `git -c`. */
  readonly unseen?: string;
  /** Why the whole command line counts as not understood. */
  readonly unclear?: string;
}

export type LaunchingCommand = Pick<SimpleCommand, "words" | "hereText" | "hereDocument" | "open" | "dynamic">;

const PLAIN: Launched = { launches: [], transparent: false };

/** The program's name without its folder, lower case: file systems that fold case find it under either spelling. */
export function programName(words: readonly string[]): string {
  const word = words[0] ?? "";
  return word.slice(word.lastIndexOf("/") + 1).toLowerCase();
}

/** True when the program is named without a folder, or is in a system folder: nothing in the workspace stands in. */
export function isSystemProgram(word: string): boolean {
  return /^(?:\/usr)?\/bin\/[^/]+$/.test(word) || !word.includes("/");
}

/** True for `python3.12` as well as `python3`. */
export function isInterpreter(name: string): boolean {
  return INTERPRETERS.has(name) || (name.length < 40 && INTERPRETERS.has(name.replace(/[\d.]+$/, "")));
}

/** True for programs that start others, whatever their words are. */
export function startsPrograms(words: readonly string[]): boolean {
  const name = programName(words);
  return WRAPPERS.has(name) || SHELLS.has(name) || OTHER_SHELLS.has(name) || Object.hasOwn(SCRIPT_OPTIONS, name);
}

/** Why commands after this one in the same text may mean something else. */
export function poisons(words: readonly string[]): string | undefined {
  const name = programName(words);
  if (name === "set" && words.length > 1 && isPlainSet(words)) return undefined;
  return POISONERS.has(name) || SHELL_CHANGERS.has(name) ? `${name} changes what later commands do` : undefined;
}

/** `set -euo pipefail` and its parts only make the shell stop earlier or say more. */
export function isPlainSet(words: readonly string[]): boolean {
  return words.slice(1).every((word) => /^(?:-[eux]*o?|pipefail|errexit|nounset|xtrace)$/.test(word));
}

/** Takes one layer off. Options that are not known make it unclear, so that nothing hides behind them. */
export function launchesOf(command: LaunchingCommand): Launched {
  const { words, hereText } = command;
  const name = programName(words);
  if (name === "eval") return joined(words.slice(1), "eval runs text");
  if (name === "trap") return trap(words);
  if (name === "alias") return alias(words);
  if (SHELL_CHANGERS.has(name)) return unknown(`${name} changes what the shell runs`);
  if (OTHER_SHELLS.has(name)) return { ...shell(words, name), unclear: `${name} has a language of its own` };
  if ((SHELLS.has(name) || QUEUES.has(name)) && command.hereDocument) {
    const launches = hereText === undefined ? [] : [{ script: hereText }];
    return { launches, transparent: false, unclear: `${name} gets its program from a here-document` };
  }
  if (isProgramDynamic(command, name)) {
    const launches = SHELLS.has(name) ? shell(words, name).launches : [];
    return { launches, transparent: false, unclear: `${name} gets its program at run time` };
  }
  if (command.hereDocument && isInterpreter(name)) return unknown(`${name} gets its program from a here-document`);
  if (SHELLS.has(name)) {
    const launched = shell(words, name);
    return command.open ? { ...launched, unclear: `${name} gets words at run time` } : launched;
  }
  if (QUEUES.has(name)) return unknown(`${name} gets its program from standard input`);
  if (command.open && (isInterpreter(name) || name === "find")) return unknown(`${name} gets words at run time`);
  if (isInterpreter(name) && readsStandardInput(words)) return unknown(`${name} gets its program from standard input`);
  const code = subscriptProblem(name, words, command.dynamic);
  if (code !== undefined) return unknown(code);
  if (name === "find") return find(words);
  if (name === "git") return git(words);
  const rule = Object.hasOwn(PREFIXES, name) ? PREFIXES[name] : undefined;
  if (rule === undefined) return optionScripts(words, name);
  const launched = withOptions(prefix(words, name, rule), words, name);
  return command.open && launched.launches.length === 0 && launched.unclear === undefined
    ? unknown(`what ${name} starts is only known at run time`)
    : launched;
}

function prefix(words: readonly string[], name: string, rule: PrefixRule): Launched {
  if (rule.plainWith?.split(" ").includes(words[1] ?? "") === true) return PLAIN;
  const long = (rule.long ?? "").split(" ");
  const scripts: Launch[] = [];
  let at = 1;
  let options = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") {
      at++;
      break;
    }
    if (!word.startsWith("-") || (word === "-" && name !== "env")) break;
    options++;
    const script = scriptValue(words, at, rule);
    if (script !== undefined) {
      scripts.push({ script: script.text });
      at += script.skip;
      continue;
    }
    const skip = word.startsWith("--") ? longSkip(word, long) : shortSkip(word, rule);
    if (skip === undefined)
      return leftover(words.slice(at + 1), `${name} has the option ${word}, which is not followed`);
    at += skip;
  }
  const assignments: string[] = [];
  while (rule.assignments === true && (words[at] ?? "").includes("=")) assignments.push(words[at++] ?? "");
  const odd = assignments.find((assignment) => !/^[A-Za-z_]\w*\+?=/.test(assignment));
  if (odd !== undefined)
    return leftover(words.slice(at), `${name} sets ${odd.split("=", 1)[0]}, which is not followed`);
  at += scripts.length > 0 ? 0 : (rule.operands ?? 0);
  // Options may also stand behind the operand, as with `flock FILE -c …`.
  const late = scripts.length === 0 ? scriptValue(words, at, rule) : undefined;
  if (late !== undefined) scripts.push({ script: late.text });
  if (scripts.length > 0) return { launches: scripts, transparent: false, unclear: `${name} runs text` };
  const rest = words.slice(at);
  if (rest.length === 0) return rule.bareIsShell === true ? unknown(`${name} starts a shell`) : PLAIN;
  // `env -i` and `env -C` change the program's world; only the plain form passes on.
  const transparent = rule.transparent === true && isSystemProgram(words[0] ?? "") && !(name === "env" && options > 0);
  const launches: Launch[] =
    rule.joins === true
      ? [
          { script: rest.join(" "), guess: true },
          { words: rest, from: at, assignments, open: rule.open === true },
        ]
      : [{ words: rest, from: at, assignments, open: rule.open === true }];
  const mark = name === "xargs" ? replacedMark(words.slice(1, at)) : undefined;
  const runsInput =
    mark !== undefined && rest.some((word, index) => word.includes(mark) && (index === 0 || startsPrograms(rest)));
  return {
    launches,
    transparent,
    ...(rule.unseen && { unseen: rule.unseen }),
    ...(runsInput && { unclear: "xargs runs what it reads" }),
  };
}

/** What `xargs` replaces by the words that it reads; undefined when it only adds them. */
function replacedMark(options: readonly string[]): string | undefined {
  for (const [index, word] of options.entries()) {
    const [, long, attached] = /^--rep[a-z]*(=(.*))?$/s.exec(word) ?? [];
    if (/^--rep/.test(word)) return long === undefined ? "{}" : (attached ?? "{}");
    const [, letter, value] = /^-[0rtpxo]*([Ii])(.*)$/s.exec(word) ?? [];
    if (letter === "I") return value === "" ? (options[index + 1] ?? "") : value;
    if (letter === "i") return value === "" ? "{}" : value;
  }
  return undefined;
}

/** What its options start besides. */
function withOptions(launched: Launched, words: readonly string[], name: string): Launched {
  const { launches, unseen } = optionScripts(words, name);
  if (launches.length === 0) return launched;
  return { ...launched, launches: [...launched.launches, ...launches], transparent: false, ...(unseen && { unseen }) };
}

/** A shell or interpreter whose program is a pipe or a variable: `bash <(…)`, `python3 "$x"`. */
function isProgramDynamic({ words, dynamic }: LaunchingCommand, name: string): boolean {
  if (dynamic.length === 0 || !(SHELLS.has(name) || isInterpreter(name))) return false;
  const operand = words.findIndex((word, index) => index > 0 && !/^[-+]./.test(word));
  return dynamic.some((index) => index > 0 && (operand < 0 || index <= operand));
}

/** What is left behind an option that is not known: each word may be the program, so each tail is looked at. */
function leftover(words: readonly string[], why: string): Launched {
  const launches = words.slice(0, MAX_TAILS).map((_, index) => ({
    words: words.slice(index),
    from: -1,
    assignments: [],
    open: false,
  }));
  return {
    launches: launches.filter(({ words: [first = ""] }) => !first.startsWith("-")),
    transparent: false,
    unclear: why,
  };
}

const MAX_TAILS = 4;

function scriptValue(
  words: readonly string[],
  at: number,
  rule: PrefixRule,
): { text: string; skip: number } | undefined {
  const word = words[at] ?? "";
  for (const option of rule.scripts?.split(" ") ?? []) {
    if (word === option) return { text: words[at + 1] ?? "", skip: 1 };
    const attached = option.startsWith("--") ? `${option}=` : option;
    if (word.startsWith(attached)) return { text: word.slice(attached.length), skip: 0 };
    // A cluster such as `-lc`, and the beginning of a long name, which getopt completes.
    if (!option.startsWith("--") && new RegExp(`^-[a-zA-Z]+${option[1]}$`).test(word))
      return { text: words[at + 1] ?? "", skip: 1 };
    const cut = word.indexOf("=");
    const stem = cut < 0 ? word : word.slice(0, cut);
    if (option.startsWith("--") && stem.length > 3 && option.startsWith(stem)) {
      return cut < 0 ? { text: words[at + 1] ?? "", skip: 1 } : { text: word.slice(cut + 1), skip: 0 };
    }
  }
  return undefined;
}

function longSkip(word: string, long: readonly string[]): number | undefined {
  const [option = "", value] = word.slice(2).split(/=(.*)/s);
  if (long.includes(option)) return value === undefined ? 0 : undefined;
  if (long.includes(`${option}[=]`)) return 0;
  if (long.includes(`${option}=`)) return value === undefined ? 1 : 0;
  return undefined;
}

/** How many further words the cluster takes; undefined when a letter is not known. */
function shortSkip(word: string, rule: PrefixRule): number | undefined {
  if (rule.numeric === true && /^-{1,2}\d+$/.test(word)) return 0;
  for (let index = 1; index < word.length; index++) {
    const letter = word[index] ?? "";
    if ((rule.attached ?? "").includes(letter)) return 0;
    if ((rule.valued ?? "").includes(letter)) return index === word.length - 1 ? 1 : 0;
    if (!(rule.flags ?? "").includes(letter)) return undefined;
  }
  return 0;
}

function shell(words: readonly string[], name: string): Launched {
  let script = false;
  let plainOptions = name !== "zsh";
  let odd: string | undefined;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") {
      at++;
      break;
    }
    if (word === "--version" || word === "--help") return PLAIN;
    if (!/^[-+]/.test(word) || word === "-") break;
    if (!/^(?:-[ceuxlivfn]*|\+[euxvf]*)o?$/.test(word)) odd ??= `${name} has the option ${word}, which is not followed`;
    if (/^--(?:rcfile|init-file)$/.test(word) || /^-[A-Za-z]*O$/.test(word)) at++;
    if (/^-[A-Za-z]*c/.test(word)) script = true;
    // -l and -i read start-up files first.
    if (/[li]/.test(word)) plainOptions = false;
    if (/^[-+][a-z]*o$/.test(word)) at++;
  }
  const operand = words[at];
  if (operand === undefined || operand === "-") return unknown(odd ?? `${name} gets its program from standard input`);
  if (!script) return odd === undefined ? PLAIN : unknown(odd);
  if (name === "zsh" && /(?:^|[\s;&|(])=/.test(operand)) odd ??= "zsh expands words that begin with =";
  const launches = [{ script: operand }];
  if (odd !== undefined) return { launches, transparent: false, unclear: odd };
  return { launches, transparent: plainOptions && isSystemProgram(words[0] ?? "") };
}

function readsStandardInput(words: readonly string[]): boolean {
  const args = words.slice(1);
  return args.includes("-") || args.every((word) => /^-[a-zA-Z]$/.test(word) && !/^-[vVh]$/.test(word));
}

function joined(words: readonly string[], unseen: string): Launched {
  return words.length === 0 ? PLAIN : { launches: [{ script: words.join(" ") }], transparent: false, unseen };
}

/** `trap 'script' SIGNAL…`; `trap - SIGNAL` and `trap -p` only restore or show. */
function trap(words: readonly string[]): Launched {
  const at = words[1] === "--" ? 2 : 1;
  const script = words[at] ?? "";
  if (words.length <= at + 1 || script === "-" || script === "" || script.startsWith("-")) return PLAIN;
  return { launches: [{ script }], transparent: false, unclear: "trap runs text later" };
}

function alias(words: readonly string[]): Launched {
  const values = words.slice(1).flatMap((word) => (word.includes("=") ? [word.slice(word.indexOf("=") + 1)] : []));
  const launches = values.filter((value) => value.trim() !== "").map((script) => ({ script }));
  return { launches, transparent: false, unclear: "alias changes what the shell runs" };
}

function find(words: readonly string[]): Launched {
  const launches: Launch[] = [];
  for (let at = 1; at < words.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(words[at] ?? "")) continue;
    const end = words.findIndex(
      (word, index) => index > at && (word === ";" || (word === "+" && words[index - 1] === "{}")),
    );
    const inner = words.slice(at + 1, end < 0 ? words.length : end);
    if (inner.length === 0 || (inner[0] ?? "").includes("{}")) return unknown("find runs what it finds");
    launches.push({ words: inner, from: -1, assignments: [], open: true });
    if (end < 0) break;
    at = end;
  }
  return { launches, transparent: false };
}

const GIT_HARMLESS = wordSet("--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects");
const GIT_PLACES = new Set(["-C", "--git-dir", "--work-tree", "--namespace", "--bare", "-p", "--paginate"]);
const GIT_STEERING = new Set(["-c", "--config-env", "--exec-path"]);
const GIT_SEPARATE_VALUE = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"]);
/** Configuration whose value git runs: `core.pager=x`, `alias.st=!x`. */
const GIT_PROGRAM_CONFIG = /^[\w.-]+=!?(.*)$/s;

function git(words: readonly string[]): Launched {
  let transparent = true;
  let unseen: string | undefined;
  let folder: string | undefined;
  const launches: Launch[] = [];
  let at = 1;
  for (; (words[at] ?? "").startsWith("-"); at++) {
    const word = words[at] ?? "";
    const [option = ""] = word.startsWith("--") ? word.split("=") : [word];
    if (GIT_STEERING.has(option) || /^-c./.test(word)) {
      unseen = `git ${option.slice(0, 40)} can name programs to run`;
      const setting = word === "-c" ? (words[at + 1] ?? "") : word.slice(2);
      const script = GIT_PROGRAM_CONFIG.exec(setting)?.[1];
      if (script) launches.push({ script, guess: true });
      // What an alias stands for is a subcommand, unless it is a program of its own.
      if (script && /^alias\./i.test(setting)) launches.push({ script: `git ${script}`, guess: true });
    } else if (word === "-C") {
      folder = folder === undefined ? (words[at + 1] ?? ".") : `${folder}/${words[at + 1] ?? "."}`;
    } else if (!GIT_HARMLESS.has(word)) {
      transparent = false;
      if (!GIT_PLACES.has(option))
        return at === words.length - 1
          ? PLAIN
          : leftover(words.slice(at + 1), `git has the option ${word}, which is not followed`);
    }
    if (GIT_SEPARATE_VALUE.has(word)) at++;
  }
  if (at === 1) return optionScripts(words, "git");
  if (at >= words.length)
    return launches.length > 0 ? { launches, transparent: false, ...(unseen && { unseen }) } : PLAIN;
  const inner = { words: ["git", ...words.slice(at)], from: at - 1, assignments: [], open: false };
  launches.push(folder === undefined ? inner : { ...inner, folder });
  return {
    launches,
    transparent: transparent && unseen === undefined && isSystemProgram(words[0] ?? ""),
    ...(unseen && { unseen }),
  };
}

function unknown(why: string): Launched {
  return { launches: [], transparent: false, unclear: why };
}
