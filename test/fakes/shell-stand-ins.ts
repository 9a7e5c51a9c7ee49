/**
 * Programs that write down that they were started, in the place of those of the machine, whoever starts them: a shell, `sed`, git.
 * For a scratch folder that bubblewrap mounts over the machine's program folders; that is far cheaper than following each process.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where the machine's own programs are inside. */
export const REAL_PROGRAMS = "/tmp/programs";

/** Folders that hold nothing a generated command needs, and a lot that `find /` would walk through. */
const EMPTIED = ["/usr/local", "/usr/share", "/usr/include", "/usr/src", "/usr/games", "/usr/sbin", "/opt"];

/**
 * The arguments for bubblewrap after which every program that is `recorded` appends `P`, its name and its arguments as a line to `log`
 * and succeeds. `extra` names some that this machine may not have. The shells stay what they are: the stand-ins need one.
 */
export function standInMounts(
  folder: string,
  log: string,
  recorded: (name: string) => boolean,
  extra: readonly string[],
): string[] {
  mkdirSync(folder);
  const real = realpathSync("/usr/bin");
  for (const name of new Set([...readdirSync(real), ...extra])) {
    const place = join(folder, name);
    if (SHELLS.has(name) || !recorded(name)) symlinkSync(join(REAL_PROGRAMS, name), place);
    else writeFileSync(place, standIn(name, log), { mode: 0o755 });
  }
  chmodSync(folder, 0o755);
  return [
    ...[
      "--ro-bind",
      "/usr",
      "/usr",
      "--ro-bind",
      "/etc",
      "/etc",
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      "--tmpfs",
      "/tmp",
    ],
    ...["/bin", "/sbin", "/lib", "/lib64"]
      .filter((path) => existsSync(path))
      .flatMap((path) => ["--symlink", `usr${path}`, path]),
    ...EMPTIED.filter((path) => existsSync(path)).flatMap((path) => ["--tmpfs", path]),
    ...["--ro-bind", real, REAL_PROGRAMS, "--ro-bind", folder, real],
  ];
}

const SHELLS = new Set(["bash", "dash", "sh"]);

/** Between the words of a recorded command; blanks may be inside of one. */
export const WORD_END = "\x1f";

/** Its words in one line, written at once, so that two of them do not mix. Only a word with a line break in it is split. */
function standIn(name: string, log: string): string {
  const split = `case "$*" in *'\n'*) set -- $* ;; esac`;
  return `#!${REAL_PROGRAMS}/dash\nset -f\n${split}\nset -- '${name}' "$@"\nIFS='${WORD_END}'\nprintf 'P%s\\n' "$*" >>'${log}'\n`;
}
