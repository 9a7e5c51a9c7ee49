/**
 * Runs programs with the real awk, sed, jq, find and git in a sandbox whose folders may be written, and says whether one of
 * them changed a file or started a program there. `/bin/sh` and the programs that git may call leave a mark and do nothing.
 */
import { execFileSync, spawn } from "node:child_process";
import { accessSync, chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { childEnvironment } from "#world";

/** A program's name and its words. */
export type Argv = readonly string[];

export interface SmallLanguageOracle {
  /** The commands that had an effect. At most `MAX_CULPRITS` are looked for. */
  effects(batch: readonly Argv[]): Promise<readonly Argv[]>;
  remove(): void;
}

/** Where the commands run, inside the sandbox. */
export const ORACLE_ROOT = "/mnt/w";

const MAX_CULPRITS = 20;
const MARKED = ["gpg", "gpgsm", "ssh", "ssh-keygen", "less", "more", "pager", "vi", "vim", "editor", "touch"];

const DRIVER = `
exec 2>/dev/null
cp -a /mnt/template ${ORACLE_ROOT}; cd ${ORACLE_ROOT}
# "git diff" writes the times of the copied files into the index, even where locks are optional.
git update-index -q --refresh
# Scratch files in /tmp that are gone again do not count: "tac" and "sort" make some.
look() { { find /mnt/w -printf '%p %y %s %m %T@ %l\\n'; find /tmp -mindepth 1 -printf '%p %s\\n'; } | LC_ALL=C sort; }
before=$(look)
mapfile -d '' -t all < /mnt/batch
ulimit -v 1000000
at=0
while ((at < \${#all[@]})); do
  count=\${all[at]}
  (ulimit -t 1; exec "\${all[@]:at+1:count}") </dev/null >/dev/null 2>&1
  ((at += count + 1))
done
[[ "$before" == "$(look)" ]] && echo unchanged || echo changed
`;

/** Undefined where bubblewrap is missing, or where `sh` is the bash that drives the commands. */
export function createSmallLanguageOracle(): SmallLanguageOracle | undefined {
  const shell = realpathSync("/bin/sh");
  if (!isInstalled("bwrap") || !isInstalled("bash") || !isInstalled("git") || shell.endsWith("bash")) return undefined;
  const home = mkdtempSync(join(tmpdir(), "small-languages-"));
  prepare(home);
  let batches = 0;

  const run = async (batch: readonly Argv[]): Promise<boolean> => {
    const file = join(home, `batch-${batches++}`);
    writeFileSync(
      file,
      batch
        .flatMap((argv) => [String(argv.length), ...argv])
        .map((word) => `${word}\0`)
        .join(""),
    );
    const mounts = [
      ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/mnt"],
      ...["--ro-bind", join(home, "template"), "/mnt/template", "--ro-bind", join(home, "stubs"), "/mnt/stubs"],
      ...["--ro-bind", file, "/mnt/batch", "--ro-bind", join(home, "stubs/sh"), shell],
    ];
    const path = `/mnt/stubs:${process.env.PATH ?? "/usr/bin:/bin"}`;
    const variables = childEnvironment({ PATH: path, HOME: "/tmp" }, ORACLE_ROOT);
    const options = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"];
    const set = Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]);
    const bash = execPath("bash");
    const answer = await output("bwrap", [...options, ...set, ...mounts, bash, "-c", DRIVER]);
    rmSync(file);
    if (!/^(?:un)?changed$/.test(answer)) throw new Error(`the sandbox did not run the batch: ${answer}`);
    return answer === "changed";
  };

  const culprits = async (batch: readonly Argv[], found: Argv[]): Promise<Argv[]> => {
    if (found.length >= MAX_CULPRITS || batch.length === 0 || !(await run(batch))) return found;
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) return [...found, only];
    const half = Math.ceil(batch.length / 2);
    return culprits(batch.slice(half), await culprits(batch.slice(0, half), found));
  };

  return {
    effects: (batch) => culprits(batch, []),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** The programs of this machine that speak a language, each as the words that stand in front of the rest. */
export function implementationsOf(language: string): readonly Argv[] {
  const all: Readonly<Record<string, readonly Argv[]>> = {
    awk: [["gawk"], ["mawk"], ["busybox", "awk"], ["original-awk"]],
    sed: [["sed"], ["sed", "-n"], ["sed", "-E"], ["sed", "--posix"], ["busybox", "sed"]],
    jq: [["jq"]],
    find: [["find"]],
    git: [["git"]],
    options: [[]],
  };
  return (all[language] ?? []).filter(([program]) => program === undefined || isInstalled(program));
}

function prepare(home: string): void {
  const template = join(home, "template");
  mkdirSync(join(template, "sub"), { recursive: true });
  writeFileSync(join(template, "in.txt"), 'a b c\nx/y,1;2\n"quoted" text\naab 12 e\n');
  writeFileSync(join(template, "in.json"), '{"a": [1, {"b": "c"}], "env": 2}');
  writeFileSync(join(template, "sub/two.txt"), "two\n");
  const git = (...args: string[]): void => {
    const identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
    execFileSync("git", ["-C", template, ...identity, ...args], { stdio: "ignore" });
  };
  git("init");
  git("add", ".");
  git("commit", "-m", "one");
  git("tag", "v1");
  writeFileSync(join(template, "in.txt"), "stashed\n");
  git("stash");
  writeFileSync(join(template, "sub/two.txt"), "three\n");
  git("commit", "-am", "two");
  mkdirSync(join(home, "stubs"));
  for (const name of ["sh", ...MARKED]) {
    const stub = join(home, "stubs", name);
    writeFileSync(stub, `#!${execPath("bash")}\n: > "${ORACLE_ROOT}/mark-${name}-$$"\n`);
    chmodSync(stub, 0o755);
  }
}

function execPath(name: string): string {
  const found = (process.env.PATH ?? "/usr/bin:/bin").split(delimiter).find((folder) => canRun(join(folder, name)));
  return found === undefined ? name : join(found, name);
}

function isInstalled(name: string): boolean {
  return execPath(name) !== name;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, 1);
    return true;
  } catch {
    return false;
  }
}

function output(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", () => resolve(Buffer.concat(chunks).toString("utf8").trim()));
  });
}
