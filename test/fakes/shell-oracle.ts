/**
 * Lets bash run shell commands and says what they did, in a bubblewrap without network in which nothing but the scratch
 * workspace can be written. The programs run for real, under strace; or some do and the others are stand-ins that record
 * their start; or bash records all of them, which is the fastest and shows what bash itself reads, starts and writes. Linux only.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childEnvironment } from "../../src/world/child-environment.ts";
import { REAL_PROGRAMS, standInMounts, WORD_END } from "./shell-stand-ins.ts";

export interface Observed {
  /** Names of the programs that started, without their folder; with stand-ins, only those of the stand-ins. */
  readonly programs: readonly string[];
  /** What stand-ins recorded: the name and the arguments. */
  readonly started?: readonly (readonly string[])[];
  readonly connections: readonly string[];
}

export interface Observation {
  /** One for each command; absent for those that were not reached because one before did not end. */
  readonly observed: readonly (Observed | undefined)[];
  /** A file of the workspace was made, changed or removed. */
  readonly changed: boolean;
}

export interface ShellOracle {
  run(commands: readonly string[]): Observation;
  remove(): void;
}

/** Whether this machine has what it takes. */
export function hasShellOracle(): boolean {
  const works = (file: string, ...args: string[]): boolean => spawnSync(file, args, { stdio: "ignore" }).status === 0;
  return (
    process.platform === "linux" &&
    works("strace", "--seccomp-bpf", "-f", "-o", "/dev/null", "true") &&
    works("bwrap", ...SANDBOX, "true")
  );
}

const APART = ["--unshare-all", "--die-with-parent", "--new-session"];
const SANDBOX = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", ...APART];

/** Commands that may wait, or look at the whole disk, run under a time limit of their own, which costs another process. */
const MAY_WAIT =
  /\b(?:sleep|tail|while|until|for|yes|watch|wait|read|timeout|select|coproc)\b|\s\/(?:usr|proc|lib)?\/?(?:\s|$)/;

export interface OracleOptions {
  /** Whether a command can change the workspace; otherwise only programs and connections are seen. */
  readonly writable: boolean;
  /** `recorded`: bash finds no program and writes down the name of each that it would start. `standIns`: those of `standIns`, whoever starts them. */
  readonly programs: "real" | "recorded" | "standIns";
  readonly standIns?: StandIns;
}

export interface StandIns {
  /** Programs that only record their start. */
  readonly isRecorded: (name: string) => boolean;
  /** Programs that are recorded although this machine may not have them. */
  readonly extra: readonly string[];
}

/**
 * Each command in a shell of its own, from a list that is separated by NUL; a mark stands before each. One that is still
 * there after one to two seconds is killed, unless strace would see how.
 */
const DRIVER = `
exec 8>>"$2"
folder=/usr/bin
[ "$3" = standIns ] && folder=${REAL_PROGRAMS}
limit="$folder/timeout -s KILL 1"
if [ "$3" = recorded ]; then
  export PATH=/nowhere
  command_not_found_handle() { printf 'P%s\n' "\${1//$'\n'/ }" >&8; printf 'notes.txt\n'; return $((RANDOM % 4 == 0)); }
  export -f command_not_found_handle
fi
[ "$3" = real ] || (
  exec 9<&-
  while "$folder/sleep" 1; do
    seen=$last
    read -r last <"$4"
    [ "$seen" = "$last" ] || continue
    read -r children <"/proc/$$/task/$$/children"
    for child in $children; do [ "$child" = "$BASHPID" ] || kill -KILL "$child"; done
  done
) >/dev/null 2>&1 &
number=0
while IFS= read -r -d '' -u 9 command; do
  RANDOM=$number
  [ "$3" = real ] && cd "/mark/$number" 2>/dev/null || printf 'M%s\n' "$number" >&8
  number=$((number + 1))
  printf '%s\\n' "$number" >"$4"
  case $command in
    T*) $limit /bin/bash -c "\${command:1}" ;;
    *) ( exec 9<&-; ulimit -t 1; eval "\${command:1}" ) ;;
  esac </dev/null >/dev/null 2>&1
done 9<"$1"
exit 0
`;

const BATCH_TIMEOUT_MS = 60_000;

export function createShellOracle(root: string, { writable, programs, standIns }: OracleOptions): ShellOracle {
  const scratch = mkdtempSync(join(tmpdir(), "harness-oracle-"));
  const [list, trace, driver] = [join(scratch, "list"), join(scratch, "trace"), join(scratch, "driver")];
  writeFileSync(driver, DRIVER);
  const env = childEnvironment({ ...process.env, PATH: "/usr/local/bin:/usr/bin:/bin" }, root);
  const place = [writable ? "--bind" : "--ro-bind", root, root, "--bind", scratch, scratch, "--chdir", root];
  const traced = ["-f", "-qq", "-s", "200", "--seccomp-bpf", "-e", "trace=execve,connect,chdir", "-o", trace];
  const log = programs === "real" ? "/dev/null" : trace;
  const machine =
    standIns === undefined
      ? SANDBOX
      : [...standInMounts(join(scratch, "bin"), trace, standIns.isRecorded, standIns.extra), ...APART];
  const sandboxed = ["bwrap", ...machine, ...place, "/bin/bash", driver, list, log, programs, join(scratch, "number")];
  const [file = "", ...args] = programs === "real" ? ["strace", ...traced, ...sandboxed] : sandboxed;
  let before = treeHash(root);
  return {
    run(commands) {
      writeFileSync(list, commands.map((command) => `${MAY_WAIT.test(command) ? "T" : "E"}${command}\0`).join(""));
      writeFileSync(trace, "");
      spawnSync(file, args, { env, stdio: "ignore", timeout: BATCH_TIMEOUT_MS, killSignal: "SIGKILL" });
      const after = writable ? treeHash(root) : before;
      const changed = after !== before;
      before = after;
      const text = readFileSync(trace, "utf8");
      const observed =
        programs === "real" ? readTrace(text, commands.length) : readRecord(text, commands.length, programs);
      return { observed, changed };
    },
    remove: () => rmSync(scratch, { recursive: true, force: true }),
  };
}

function readRecord(text: string, count: number, programs: OracleOptions["programs"]): (Observed | undefined)[] {
  const observed: ({ programs: string[]; started: string[][]; connections: string[] } | undefined)[] = Array.from({
    length: count,
  });
  let at = -1;
  for (const line of text.split("\n")) {
    const rest = line.slice(1);
    if (line.startsWith("M")) {
      at = Number(rest);
      observed[at] = { programs: [], started: [], connections: [] };
    } else if (line.startsWith("P") && programs === "standIns") {
      const words = rest.split(WORD_END);
      observed[at]?.programs.push(words[0] ?? "");
      observed[at]?.started.push(words);
    } else if (line.startsWith("P")) observed[at]?.programs.push(rest.slice(rest.lastIndexOf("/") + 1));
  }
  return observed;
}

function readTrace(text: string, count: number): (Observed | undefined)[] {
  const observed: ({ programs: string[]; connections: string[] } | undefined)[] = Array.from({ length: count });
  const unfinished = new Map<string, string>();
  let at = -1;
  for (const line of text.split("\n")) {
    const [, pid = "", rest = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const marked = /^chdir\("\/mark\/(\d+)"/.exec(rest)?.[1];
    if (marked !== undefined) {
      at = Number(marked);
      if (at < count) observed[at] = { programs: [], connections: [] };
      continue;
    }
    const current = observed[at];
    if (rest.endsWith("<unfinished ...>")) unfinished.set(pid, rest);
    const call = /^<\.\.\. (\w+) resumed>/.test(rest) ? `${unfinished.get(pid) ?? ""}${rest}` : rest;
    if (current === undefined) continue;
    const path = /^execve\("([^"]*)".* = 0$/s.exec(call)?.[1];
    if (path !== undefined) current.programs.push(path.slice(path.lastIndexOf("/") + 1));
    if (/^connect\(/.test(call) && !/nscd|systemd/.test(call)) current.connections.push(call.slice(0, 120));
  }
  return observed;
}

/** Names, kinds, sizes, times and contents of all files; git's own files by name and size only. */
function treeHash(root: string): string {
  const hash = createHash("sha1");
  const visit = (path: string): void => {
    const info = lstatSync(path);
    hash.update(`${path}\0${info.mode}\0${info.size}\0${info.isDirectory() ? 0 : info.mtimeMs}\0`);
    if (info.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (info.isDirectory()) for (const name of readdirSync(path).toSorted()) visit(join(path, name));
    else if (!path.includes("/.git/")) hash.update(readFileSync(path));
  };
  visit(root);
  return hash.digest("hex");
}
