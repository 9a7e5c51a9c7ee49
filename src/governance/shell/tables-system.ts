/**
 * More quiet programs: shell builtins that only ask, facts about the machine, and programs that tell their version. A
 * program whose version depends on files of the project (`go`, `cargo`, `pnpm`, `yarn`) is left out: those files can make
 * it fetch and run another one. So is `java`, which writes a file beside its answer.
 */
import type { ProgramTable } from "./tables.ts";

const version: ProgramTable = {
  flags: "vV",
  words: "-version",
  long: "version",
  needs: "--version -v -V -version",
  operands: "none",
};

/** With `-v` it tells what it imports and goes on to run its standard input. */
const pythonVersion: ProgramTable = { flags: "V", long: "version", needs: "--version -V", operands: "none" };

const longVersion: ProgramTable = { long: "version", needs: "--version", operands: "none" };

/** `test` and `[` look at files and compare texts; with `-v` a subscript could run code. */
const condition: ProgramTable = { plainWords: true, operands: "text", anyOption: true };

export const SYSTEM_PROGRAMS: Readonly<Record<string, ProgramTable>> = {
  test: condition,
  "[": condition,
  type: { flags: "aftpP", operands: "text", anyOption: true },
  cd: { operands: "paths", maxOperands: 1, namesOnly: true },
  read: { flags: "r", operands: "text", variables: /^IFS=/ },
  set: { flags: "eux", valued: "o", operands: "none" },
  exit: { operands: "number" },
  return: { operands: "number" },
  break: { operands: "number" },
  continue: { operands: "number" },
  wait: { operands: "none" },
  sleep: { operands: "number" },
  shift: { operands: "number" },
  whoami: { operands: "none" },
  id: { flags: "gGnru", operands: "none" },
  groups: { operands: "none" },
  logname: { operands: "none" },
  tty: { operands: "none" },
  uname: { flags: "asnrvmpio", long: "all kernel-name kernel-release machine operating-system", operands: "none" },
  hostname: { flags: "s", operands: "none" },
  arch: { operands: "none" },
  nproc: { long: "all ignore=", operands: "none" },
  getconf: { flags: "a", operands: "text" },
  uptime: { flags: "ps", operands: "none" },
  free: { flags: "bkmghtwl", long: "human mega giga total", operands: "none" },
  df: {
    flags: "ahHiklPT",
    valued: "tx",
    long: "human-readable total inodes output[=] type= local",
    operands: "paths",
    namesOnly: true,
  },
  lscpu: { flags: "J", long: "json", operands: "none" },
  locale: { flags: "a", operands: "none" },
  cal: { flags: "13mjy", operands: "text" },
  node: version,
  nodejs: version,
  npm: { flags: "v", long: "version", needs: "--version -v", operands: "none" },
  bun: longVersion,
  deno: longVersion,
  python: pythonVersion,
  python3: pythonVersion,
  python2: pythonVersion,
  pip: longVersion,
  pip3: longVersion,
  ruby: version,
  perl: { flags: "v", long: "version", needs: "-v --version", operands: "none" },
  php: version,
  lua: { flags: "v", needs: "-v", operands: "none" },
  gcc: longVersion,
  "g++": longVersion,
  cc: longVersion,
  clang: longVersion,
  "clang++": longVersion,
  ld: longVersion,
  make: longVersion,
  cmake: longVersion,
  ninja: longVersion,
  bash: longVersion,
  zsh: longVersion,
  docker: { flags: "v", long: "version", needs: "--version -v", operands: "none" },
  podman: { flags: "v", long: "version", needs: "--version -v", operands: "none" },
  curl: { flags: "V", long: "version", needs: "--version -V", operands: "none" },
  wget: { flags: "V", long: "version", needs: "--version -V", operands: "none" },
  tar: longVersion,
  sqlite3: { words: "-version", long: "version", needs: "-version --version", operands: "none" },
  psql: { flags: "V", long: "version", needs: "--version -V", operands: "none" },
  rsync: longVersion,
  ssh: { flags: "V", needs: "-V", operands: "none" },
  ffmpeg: { words: "-version", needs: "-version", operands: "none" },
  pandoc: { flags: "v", long: "version", needs: "--version -v", operands: "none" },
  shellcheck: { flags: "V", long: "version", needs: "--version -V", operands: "none" },
};
