/** The folder of one session outside its workspace: its scratch files, which it sees as `/tmp`, and its proxy's socket. */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errnoOf } from "#base";

const PREFIX = "harness-sandbox-";
/** What a killed program left is removed when it is older. */
const LEFTOVER_MS = 24 * 60 * 60 * 1000;

export interface SessionFolder {
  readonly tmp: string;
  readonly socket: string;
  /** Stands for every file that is hidden. */
  readonly emptyFile: string;
  remove(): void;
}

export function createSessionFolder(nowMs: number): SessionFolder {
  const parent = realpathSync(tmpdir());
  removeLeftovers(parent, nowMs);
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  const tmp = join(folder, "tmp");
  mkdirSync(tmp, { mode: 0o700 });
  const emptyFile = join(folder, "empty");
  writeFileSync(emptyFile, "", { mode: 0o444 });
  return {
    tmp,
    emptyFile,
    socket: join(folder, "egress.sock"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function removeLeftovers(parent: string, nowMs: number): void {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(PREFIX))) {
    const path = join(parent, name);
    const info = lstatSync(path, { throwIfNoEntry: false });
    const isOurs = info?.isDirectory() === true && info.uid === process.getuid?.();
    if (isOurs && nowMs - info.mtimeMs > LEFTOVER_MS && !isAlive(Number(name.slice(PREFIX.length).split("-")[0]))) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== "ESRCH";
  }
}
