/**
 * The programs that start other programs, and how each is taken apart. Pure data: an option that is not in a table makes
 * the command one that is not understood, so that nothing hides behind it.
 */
import { wordSet } from "#base";
/** Programs that run what they are given as code. A glob on them would allow everything. */
export const INTERPRETERS: ReadonlySet<string> = wordSet(
  "sh bash dash zsh ksh mksh ash fish csh tcsh rbash yash python python2 python3 pypy pypy3 node nodejs deno bun tsx " +
    "ts-node perl ruby irb php lua luajit tclsh wish osascript pwsh powershell Rscript R ghci awk gawk mawk nawk jshell " +
    "groovy julia expect sqlite3 psql mysql gdb ed ex m4 bc dc erl elixir iex scala kotlin guile racket sbcl clojure",
);

/** Programs that run later what they read from standard input. */
export const QUEUES: ReadonlySet<string> = new Set(["at", "batch", "crontab"]);

export const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ash", "rbash"]);
export const OTHER_SHELLS: ReadonlySet<string> = wordSet("ksh mksh fish csh tcsh yash pwsh powershell");

/** Builtins that run text which cannot be seen, or that make words mean other programs. */
export const SHELL_CHANGERS: ReadonlySet<string> = wordSet(
  "source . alias unalias enable hash bind complete compgen compopt mapfile readarray fc let coproc noglob nocorrect " +
    "disown suspend",
);

/** Builtins that change what later commands of the same text find, read or mean. */
export const POISONERS: ReadonlySet<string> = wordSet(
  "export declare typeset local readonly set shopt unset pushd popd getopts umask ulimit dirs chdir",
);

/** Other programs that start programs. They are judged by their own words, and never suggested as a glob. */
export const WRAPPERS: ReadonlySet<string> = wordSet(
  "env timeout nice nohup time command builtin xargs sudo doas stdbuf setsid ionice busybox toybox find su runuser " +
    "chroot unshare nsenter flock watch parallel strace ltrace script ssh chrt taskset caffeinate entr npx pnpx bunx " +
    "uvx fd fdfind eval source . exec trap numactl setarch prlimit systemd-run firejail bwrap proot fakeroot rsync scp " +
    "tmux screen at batch crontab vim vi nvim view emacs less more man tar cpio zip make gmake ninja",
);

export interface PrefixRule {
  readonly flags?: string;
  readonly valued?: string;
  /** Short options with a value that can only be attached, such as `-i` and `-l` of `xargs`. */
  readonly attached?: string;
  /** Space separated; `name=` takes a value, `name[=]` an attached one or none. */
  readonly long?: string;
  /** Operands before the program, such as the duration of `timeout`. */
  readonly operands?: number;
  readonly assignments?: boolean;
  /** It only passes on: what it starts decides. */
  readonly transparent?: boolean;
  /** More words come at run time. */
  readonly open?: boolean;
  /** Any of these as the first word makes it an ordinary command. */
  readonly plainWith?: string;
  readonly numeric?: boolean;
  /** Without a program it starts a shell. */
  readonly bareIsShell?: boolean;
  /** The words are joined and read by a shell. */
  readonly joins?: boolean;
  /** Options whose value is a script for a shell. */
  readonly scripts?: string;
  /** Why more may run than can be seen. */
  readonly unseen?: string;
}

const ELSEWHERE = "it runs on another machine or in another system";

export const PREFIXES: Readonly<Record<string, PrefixRule>> = {
  env: {
    flags: "i0v",
    valued: "uC",
    long: "ignore-environment null unset= chdir= debug",
    assignments: true,
    transparent: true,
    scripts: "-S --split-string",
  },
  timeout: {
    flags: "vfp",
    valued: "sk",
    long: "signal= kill-after= preserve-status foreground verbose",
    operands: 1,
    transparent: true,
  },
  nice: { valued: "n", long: "adjustment=", numeric: true, transparent: true },
  ionice: { flags: "t", valued: "cn", long: "class= classdata= ignore", transparent: true, plainWith: "-p --pid" },
  time: { flags: "pv", long: "portability verbose", transparent: true },
  stdbuf: { valued: "ioe", long: "input= output= error=", transparent: true },
  command: { flags: "p", transparent: true, plainWith: "-v -V" },
  builtin: { transparent: true },
  exec: { flags: "cl", valued: "a" },
  nohup: {},
  setsid: { flags: "cfw", long: "ctty fork wait" },
  chrt: {
    flags: "abdfiorR",
    valued: "TPD",
    long: "batch fifo rr idle other reset-on-fork",
    operands: 1,
    plainWith: "-p -m --pid --max",
  },
  taskset: { flags: "ac", long: "all-tasks cpu-list", operands: 1, plainWith: "-p --pid" },
  numactl: {
    valued: "CNmpi",
    long: "cpunodebind= membind= interleave= physcpubind= preferred= localalloc",
    plainWith: "-s -H --show --hardware",
  },
  // A limit is attached to its option, or shown: the next word is the program.
  prlimit: {
    valued: "po",
    attached: "cdefilmnqrstuvxy",
    long:
      "pid= output= noheadings raw verbose core[=] data[=] nice[=] fsize[=] sigpending[=] memlock[=] rss[=] nofile[=] msgqueue[=] " +
      "rtprio[=] stack[=] cpu[=] nproc[=] as[=] locks[=] rttime[=]",
  },
  setarch: {
    flags: "R3BFILSTXZv",
    long: "addr-no-randomize verbose",
    operands: 1,
    unseen: "the architecture of setarch may be left out, and the word is the program then",
  },
  caffeinate: { flags: "dimsu", valued: "tw" },
  fakeroot: { valued: "lsib" },
  sudo: {
    flags: "nEHSkbAPisB",
    valued: "ughpCTDRrt",
    long:
      "non-interactive preserve-env[=] set-home stdin user= group= host= prompt= chdir= login shell background askpass " +
      "reset-timestamp close-from= role= type= command-timeout= chroot=",
    assignments: true,
    plainWith: "-l -v -K --list --validate --remove-timestamp --version -V",
    bareIsShell: true,
  },
  doas: { flags: "nLs", valued: "uC", bareIsShell: true },
  su: {
    flags: "lmpP",
    valued: "sgG",
    long: "login preserve-environment shell= group= pty",
    operands: 1,
    bareIsShell: true,
    scripts: "-c --command",
  },
  runuser: {
    flags: "lmpP",
    valued: "ugGs",
    long: "login user= group= shell=",
    bareIsShell: true,
    scripts: "-c --command",
  },
  xargs: {
    flags: "0rtpxo",
    valued: "nLPsdIEa",
    attached: "il",
    long:
      "null no-run-if-empty verbose interactive exit max-args= max-lines[=] max-procs= max-chars= delimiter= replace[=] " +
      "arg-file= open-tty",
    open: true,
  },
  parallel: {
    flags: "0kXmtvq",
    valued: "jInNLd",
    long: "jobs= keep-order null bar dry-run will-cite no-notice halt= eta max-args= colsep= delimiter= timeout= tag line-buffer",
    open: true,
    joins: true,
    unseen: "parallel builds commands at run time",
  },
  busybox: {},
  toybox: {},
  watch: {
    flags: "bcdegptwx",
    valued: "n",
    long: "interval= differences[=] beep color errexit chgexit no-title precise exec no-wrap",
    joins: true,
  },
  flock: {
    flags: "exnsuoF",
    valued: "wE",
    long: "exclusive shared nonblock wait= close unlock conflict-exit-code= no-fork verbose",
    operands: 1,
    scripts: "-c --command",
  },
  chroot: { long: "userspec= groups= skip-chdir", operands: 1, bareIsShell: true },
  unshare: {
    flags: "muinpUCTfrc",
    valued: "SGRw",
    attached: "",
    long:
      "mount[=] uts[=] ipc[=] net[=] pid[=] user[=] cgroup[=] time[=] fork map-root-user map-current-user map-auto " +
      "kill-child[=] mount-proc[=] root= wd= setuid= setgid= keep-caps",
    bareIsShell: true,
  },
  nsenter: {
    flags: "amuinpUCTFrw",
    valued: "tSG",
    long: "all target= mount[=] uts[=] ipc[=] net[=] pid[=] user[=] cgroup[=] no-fork",
    bareIsShell: true,
  },
  strace: {
    flags: "fcCdhiqrtTvxyDwzZ",
    valued: "abeEIoOpPsSuUX",
    long: "follow-forks output= trace= string-limit= summary quiet[=]",
  },
  ltrace: { flags: "bcCfhirStTV", valued: "aDelnopsuwx" },
  script: {
    flags: "aefqv",
    valued: "EIOTBot",
    long: "append return flush quiet output-limit= log-out= log-in= log-io= log-timing=",
    operands: 1,
    bareIsShell: true,
    scripts: "-c --command",
  },
  "systemd-run": {
    flags: "GPrqtdS",
    valued: "pEuMH",
    long: "user system scope unit= property= setenv= pty pipe wait quiet collect uid= gid= slice= working-directory= same-dir shell",
    bareIsShell: true,
  },
  firejail: { long: "quiet noprofile net= private[=] noroot seccomp[=] caps.drop=", bareIsShell: true },
  proot: { flags: "0", valued: "rbwqk", bareIsShell: true },
  ssh: {
    flags: "46AaCfGgKkMNnqsTtVvXxYy",
    valued: "BbcDEeFIiJLlmOopQRSWw",
    operands: 1,
    joins: true,
    unseen: ELSEWHERE,
  },
  npx: {
    flags: "yqc",
    valued: "p",
    long: "yes no quiet package= call= no-install prefer-online ignore-existing offline",
    unseen: "npx runs a package",
  },
  pnpx: { unseen: "pnpx runs a package" },
  bunx: { long: "bun", unseen: "bunx runs a package" },
  uvx: { valued: "pw", long: "from= with= python= quiet offline", unseen: "uvx runs a package" },
  entr: { flags: "acdnpr", open: true, scripts: "-s" },
};

/** Subcommands after which another command line begins: program, then the words that lead to it. */
export const RUNNING_WORDS: ReadonlyArray<readonly [program: string, words: readonly string[], flags: RegExp]> = [
  ["npm", ["exec"], /^(?:-y|--yes|--no|-q|--)$/],
  ["npm", ["x"], /^(?:-y|--yes|--no|-q|--)$/],
  ["pnpm", ["exec"], /^(?:-r|--recursive|-c|--)$/],
  ["pnpm", ["dlx"], /^(?:--)$/],
  ["yarn", ["exec"], /^(?:--)$/],
  ["yarn", ["dlx"], /^(?:-q|--)$/],
  ["bun", ["x"], /^(?:--bun|--)$/],
  ["poetry", ["run"], /^(?:--)$/],
  ["uv", ["run"], /^(?:--offline|--frozen|--locked|--)$/],
  ["pipenv", ["run"], /^(?:--)$/],
  ["bundle", ["exec"], /^(?:--)$/],
  ["rustup", ["run"], /^(?:--install|--)$/],
  ["direnv", ["exec"], /^(?:--)$/],
  ["mise", ["exec"], /^(?:--)$/],
  ["git", ["bisect", "run"], /^(?:--)$/],
  ["docker", ["exec"], /^(?:-i|-t|-it|-ti|-d|--interactive|--tty|--detach|--privileged)$/],
  ["podman", ["exec"], /^(?:-i|-t|-it|-ti|-d|--interactive|--tty|--detach|--privileged)$/],
  ["kubectl", ["exec"], /^(?:-i|-t|-it|-ti|--stdin|--tty)$/],
];

/** Of the above: how many operands stand before the command, such as the container. */
export const RUNNING_OPERANDS: Readonly<Record<string, number>> = {
  docker: 1,
  podman: 1,
  kubectl: 1,
  rustup: 1,
  direnv: 1,
};

export interface ScriptOptions {
  /** Long names, space separated; the beginning of one counts too, as getopt completes it. */
  readonly long?: string;
  /** Short options, alone or in a cluster, value attached or as the next word. */
  readonly short?: string;
  /** Other spellings: a group is the value, which otherwise is the next word. */
  readonly words?: RegExp;
  /** The part of a value that is a command line; without it the whole value. A value that does not match is none. */
  readonly value?: RegExp;
}

const EDITOR: ScriptOptions = { long: "cmd", short: "c", words: /^\+(.*)$/s };
const REMOTE_SHELL: ScriptOptions = { short: "oS", value: /^(?:[^ =]*command[= ]+)?(.*)$/is };
const FINDER: ScriptOptions = { long: "exec exec-batch", short: "xX" };

/**
 * Options that hand a program a command line or the name of a program. Held against the words as written; only used to
 * find what may be started, never to say that nothing is.
 */
export const SCRIPT_OPTIONS: Readonly<Record<string, ScriptOptions>> = {
  git: { long: "exec upload-pack receive-pack extcmd open-files-in-pager" },
  "git clone": { short: "u" },
  "git filter-branch": {
    long: "tree-filter index-filter msg-filter env-filter commit-filter parent-filter tag-name-filter setup",
  },
  tar: {
    long: "checkpoint-action to-command use-compress-program rsh-command info-script new-volume-script",
    short: "IF",
    value: /^(?:exec=)?(.*)$/s,
  },
  rsync: { long: "rsh rsync-path", short: "e" },
  scp: REMOTE_SHELL,
  sftp: REMOTE_SHELL,
  ssh: { short: "o", value: /^[^ =]*command[= ]+(.*)$/is },
  go: { words: /^--?(?:exec|toolexec|vettool)(?:=(.*))?$/s },
  rg: { long: "pre hostname-bin" },
  fd: FINDER,
  fdfind: FINDER,
  sort: { long: "compress-program" },
  man: { long: "pager html", short: "PH" },
  zip: { long: "unzip-command", words: /^-TT(.*)$/s },
  split: { long: "filter" },
  make: { words: /^(?:SHELL|--eval)=(.*)$/s },
  npm: { long: "call script-shell node-options", short: "c" },
  npx: { long: "call", short: "c" },
  vim: EDITOR,
  vi: EDITOR,
  nvim: EDITOR,
  view: EDITOR,
  ex: EDITOR,
  gdb: { words: /^--?i?(?:ex|eval-command)(?:=(.*))?$/s, value: /^\s*(?:!|sh\w*|make|pipe)(.*)$/s },
};
