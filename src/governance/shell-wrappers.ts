/**
 * What a command starts besides itself: `env`, `timeout`, `xargs`, `sudo`, `sh -c`, `find -exec`, `git -C` and the
 * like, taken apart by their own option rules. Does not parse shell syntax; a script it finds is handed back as text.
 */

/** Something that is started: words of the same command line, or a script for a shell. */
export type Launch =
  | {
      readonly words: readonly string[];
      /** Where the words begin in the outer command; negative when they are not a plain tail of it. */
      readonly from: number;
      readonly assignments: readonly string[];
      /** More words come at run time. */
      readonly open: boolean;
    }
  | { readonly script: string };

export type Launched =
  | { readonly kind: "plain" }
  | {
      readonly kind: "wrapper";
      readonly launches: readonly Launch[];
      readonly transparent: boolean;
      readonly unseen?: string;
    }
  | { readonly kind: "unknown"; readonly why: string };

const PLAIN: Launched = { kind: "plain" };

/** Programs that run what they are given as code. A glob on them would allow everything. */
export const INTERPRETERS: ReadonlySet<string> = new Set(
  (
    "sh bash dash zsh ksh mksh ash fish csh tcsh rbash python python2 python3 pypy pypy3 node nodejs deno bun tsx " +
    "ts-node perl ruby irb php lua luajit tclsh osascript pwsh powershell Rscript R ghci awk gawk mawk nawk jshell " +
    "groovy julia expect sqlite3 psql mysql"
  ).split(" "),
);

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ash", "rbash"]);
const OTHER_SHELLS = new Set(["ksh", "mksh", "fish", "csh", "tcsh"]);

/** Builtins that run text or change what later words mean. */
const SHELL_CHANGERS = new Set(
  (
    "eval source . exec trap alias unalias enable hash bind complete compgen compopt mapfile readarray fc let " +
    "coproc noglob nocorrect"
  ).split(" "),
);

/** Other programs that start programs. They are judged by their own words, and never suggested as a glob. */
export const WRAPPERS: ReadonlySet<string> = new Set(
  (
    "env timeout nice nohup time command builtin xargs sudo doas stdbuf setsid ionice busybox toybox find su runuser " +
    "chroot unshare nsenter flock watch parallel strace ltrace script ssh chrt taskset caffeinate entr npx pnpx bunx " +
    "uvx fd fdfind eval source . exec"
  ).split(" "),
);

/** The program's name without its folder, lower case: file systems that fold case find it under either spelling. */
export function programName(words: readonly string[]): string {
  const word = words[0] ?? "";
  return word.slice(word.lastIndexOf("/") + 1).toLowerCase();
}

/** True when the program is named without a folder, or is in a system folder: nothing in the workspace stands in. */
export function isSystemProgram(word: string): boolean {
  return /^(?:\/usr)?\/bin\/[^/]+$/.test(word) || !word.includes("/");
}

/** Takes one layer off. Options that are not known make it unknown, so that nothing hides behind them. */
export function launchesOf(command: {
  readonly words: readonly string[];
  readonly hereDocument: boolean;
  readonly open: boolean;
}): Launched {
  const { words } = command;
  const name = programName(words);
  if (SHELL_CHANGERS.has(name)) return unknown(`${name} changes what the shell runs`);
  if (OTHER_SHELLS.has(name)) return unknown(`${name} has a language of its own`);
  if (command.hereDocument && INTERPRETERS.has(name)) return unknown(`${name} gets its program from a here-document`);
  if (command.open && (INTERPRETERS.has(name) || name === "find")) return unknown(`${name} gets words at run time`);
  if (SHELLS.has(name)) return shell(words, name);
  if (INTERPRETERS.has(name) && readsStandardInput(words))
    return unknown(`${name} gets its program from standard input`);
  if (name === "find") return find(words);
  if (name === "git") return git(words);
  const rule = PREFIXES[name];
  if (rule === undefined) return PLAIN;
  const launched = prefix(words, name, rule);
  return command.open && launched.kind === "plain"
    ? unknown(`what ${name} starts is only known at run time`)
    : launched;
}

interface PrefixRule {
  readonly flags?: string;
  readonly valued?: string;
  /** Space separated; `name=` takes a value. */
  readonly long?: string;
  /** Operands before the program, such as the duration of `timeout`. */
  readonly operands?: number;
  readonly assignments?: boolean;
  readonly transparent?: boolean;
  readonly open?: boolean;
  /** Any of these makes it an ordinary command. */
  readonly plainWith?: string;
  readonly numeric?: boolean;
  /** Without a program it starts a shell. */
  readonly bareIsShell?: boolean;
}

const PREFIXES: Readonly<Record<string, PrefixRule>> = {
  env: {
    flags: "i0",
    valued: "uC",
    long: "ignore-environment null unset= chdir=",
    assignments: true,
    transparent: true,
  },
  timeout: {
    flags: "v",
    valued: "sk",
    long: "signal= kill-after= preserve-status foreground verbose",
    operands: 1,
    transparent: true,
  },
  nice: { valued: "n", long: "adjustment=", numeric: true, transparent: true },
  ionice: { flags: "t", valued: "cn", long: "class= classdata= ignore", transparent: true },
  time: { flags: "pv", long: "portability verbose", transparent: true },
  stdbuf: { valued: "ioe", long: "input= output= error=", transparent: true },
  command: { flags: "p", transparent: true, plainWith: "-v -V" },
  builtin: { transparent: true },
  nohup: {},
  setsid: { flags: "cfw", long: "ctty fork wait" },
  sudo: {
    flags: "nEHSkbAPis",
    valued: "ughpCTDRrt",
    long: "non-interactive preserve-env set-home stdin user= group= host= prompt= chdir= login shell background",
    assignments: true,
    plainWith: "-l -v -K --list --validate",
    bareIsShell: true,
  },
  doas: { flags: "nLs", valued: "uC", bareIsShell: true },
  xargs: {
    flags: "0rtpxo",
    valued: "nLPsdIEa",
    long:
      "null no-run-if-empty verbose interactive exit max-args= max-lines= max-procs= max-chars= delimiter= replace= " +
      "arg-file= open-tty",
    open: true,
  },
  busybox: {},
  toybox: {},
};

function prefix(words: readonly string[], name: string, rule: PrefixRule): Launched {
  if (rule.plainWith?.split(" ").includes(words[1] ?? "") === true) return PLAIN;
  const long = (rule.long ?? "").split(" ");
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
    const skip = word.startsWith("--") ? longSkip(word, long) : shortSkip(word, rule);
    if (skip === undefined) return unknown(`${name} has the option ${word}, which is not followed`);
    at += skip;
  }
  const assignments: string[] = [];
  while (rule.assignments === true && /^[A-Za-z_]\w*\+?=/.test(words[at] ?? "")) assignments.push(words[at++] ?? "");
  at += rule.operands ?? 0;
  const rest = words.slice(at);
  if (rest.length === 0) return rule.bareIsShell === true ? unknown(`${name} starts a shell`) : PLAIN;
  // `env -i` and `env -C` change the program's world; only the plain form passes on.
  const transparent = rule.transparent === true && isSystemProgram(words[0] ?? "") && !(name === "env" && options > 0);
  return {
    kind: "wrapper",
    launches: [{ words: rest, from: at, assignments, open: rule.open === true }],
    transparent,
  };
}

function longSkip(word: string, long: readonly string[]): number | undefined {
  const [option = "", value] = word.slice(2).split(/=(.*)/s);
  if (long.includes(option)) return value === undefined ? 0 : undefined;
  if (long.includes(`${option}=`)) return value === undefined ? 1 : 0;
  return undefined;
}

/** How many further words the cluster takes; undefined when a letter is not known. */
function shortSkip(word: string, rule: PrefixRule): number | undefined {
  if (rule.numeric === true && /^-{1,2}\d+$/.test(word)) return 0;
  for (let index = 1; index < word.length; index++) {
    const letter = word[index] ?? "";
    if ((rule.valued ?? "").includes(letter)) return index === word.length - 1 ? 1 : 0;
    if (!(rule.flags ?? "").includes(letter)) return undefined;
  }
  return 0;
}

function shell(words: readonly string[], name: string): Launched {
  let script = false;
  let plainOptions = name !== "zsh";
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") {
      at++;
      break;
    }
    if (word === "--version" || word === "--help") return PLAIN;
    if (!/^[-+]/.test(word) || word === "-") break;
    if (!/^(?:-[ceuxlivfn]*|\+[euxvf]*)o?$/.test(word))
      return unknown(`${name} has the option ${word}, which is not followed`);
    if (word.includes("c")) script = true;
    // -l and -i read start-up files first.
    if (/[li]/.test(word)) plainOptions = false;
    if (word.endsWith("o")) at++;
  }
  const operand = words[at];
  if (operand === undefined || operand === "-") return unknown(`${name} gets its program from standard input`);
  if (!script) return PLAIN;
  if (name === "zsh" && /(?:^|[\s;&|(])=/.test(operand)) return unknown("zsh expands words that begin with =");
  return {
    kind: "wrapper",
    launches: [{ script: operand }],
    transparent: plainOptions && isSystemProgram(words[0] ?? ""),
  };
}

function readsStandardInput(words: readonly string[]): boolean {
  const args = words.slice(1);
  return args.includes("-") || args.every((word) => /^-[a-zA-Z]$/.test(word) && !/^-[vVh]$/.test(word));
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
  return launches.length === 0 ? PLAIN : { kind: "wrapper", launches, transparent: false };
}

const GIT_HARMLESS = new Set([
  "--no-pager",
  "-P",
  "--no-optional-locks",
  "--literal-pathspecs",
  "--no-replace-objects",
]);
const GIT_PLACES = new Set(["-C", "--git-dir", "--work-tree", "--namespace", "--bare", "-p", "--paginate"]);
const GIT_STEERING = new Set(["-c", "--config-env", "--exec-path"]);
const GIT_SEPARATE_VALUE = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"]);

function git(words: readonly string[]): Launched {
  let transparent = true;
  let unseen: string | undefined;
  let at = 1;
  for (; (words[at] ?? "").startsWith("-"); at++) {
    const word = words[at] ?? "";
    const [option = ""] = word.startsWith("--") ? word.split("=") : [word];
    if (!GIT_HARMLESS.has(word)) transparent = false;
    if (GIT_STEERING.has(option)) unseen = `git ${option} can name programs to run`;
    else if (!GIT_HARMLESS.has(word) && !GIT_PLACES.has(option))
      return at === words.length - 1 ? PLAIN : gitOption(word);
    if (GIT_SEPARATE_VALUE.has(word)) at++;
  }
  if (at === 1 || at >= words.length) return PLAIN;
  const launches = [{ words: ["git", ...words.slice(at)], from: at - 1, assignments: [], open: false }];
  return {
    kind: "wrapper",
    launches,
    transparent: transparent && isSystemProgram(words[0] ?? ""),
    ...(unseen && { unseen }),
  };
}

function gitOption(word: string): Launched {
  return unknown(`git has the option ${word}, which is not followed`);
}

function unknown(why: string): Launched {
  return { kind: "unknown", why };
}
