/** Whether the folders of the program are its user's alone: mode and owner, those inside them, and those around them. Looks only. */
import { accessSync, constants, readdirSync, type Stats, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { errnoOf } from "#base";
import { type Finding, ok, warning, wrong } from "./doctor-finding.ts";

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const EVERYBODY_WRITES = 0o002;
/** Set, names in a folder can be taken away by their owners alone. */
const STICKY = 0o1000;
/** Folders inside one that are looked at; the program makes a handful. */
const MAX_INNER = 100;

/** One finding when all is well; else one for each folder that is not. */
export function checkFolder(path: string): readonly Finding[] {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) return [ok(`${path} will be created when needed`), ...foldersAround(path)];
  if (!info.isDirectory()) return [wrong(`${path} is not a folder`, `Move it away: mv ${path} ${path}.old`)];
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    const isReadOnly = errnoOf(error) === "EROFS";
    const fix = isReadOnly ? "The file system is mounted read-only. Mount it read-write." : `Run: chmod u+w ${path}`;
    return [wrong(`${path} cannot be written to`, fix), ...notOurs(path, info)];
  }
  if (process.platform === "win32") return [ok(path)];
  const found = [...notOurs(path, info), ...foldersIn(path), ...foldersAround(path)];
  return found.length === 0 ? [ok(path)] : found;
}

/** Sockets of the program are in it only when it is the user's own: what is wrong with it is told, since they are elsewhere then. */
export function checkRuntimeFolder(path: string | undefined): readonly Finding[] {
  if (path === undefined || process.platform === "win32") return [];
  const info = isAbsolute(path) ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (info === undefined) return [warning(`XDG_RUNTIME_DIR is not a folder: ${path}`, "Run: unset XDG_RUNTIME_DIR")];
  return [...ownerFinding(path, info), ...((info.mode & OTHERS_WRITE) === 0 ? [] : [modeFinding(path, info)])];
}

function notOurs(path: string, info: Stats): readonly Finding[] {
  return [...ownerFinding(path, info), ...((info.mode & OTHERS) === 0 ? [] : [modeFinding(path, info)])];
}

function ownerFinding(path: string, { uid }: Stats): readonly Finding[] {
  const { uid: own, username } = userInfo();
  if (uid === own) return [];
  return [warning(`${path} belongs to another user (${uid})`, `Run: sudo chown -R ${username} ${path}`)];
}

function modeFinding(path: string, { mode }: Stats): Finding {
  const may = (mode & OTHERS_WRITE) === 0 ? "look into" : "change files in";
  return warning(`others can ${may} ${path} (${modeText(mode)})`, `Run: chmod 700 ${path}`);
}

function foldersIn(path: string): readonly Finding[] {
  let names: string[];
  try {
    names = readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (error) {
    return [wrong(`${path} cannot be listed: ${String(error)}`, `Run: chmod u+rx ${path}`)];
  }
  return names.slice(0, MAX_INNER).flatMap((name) => {
    const info = statSync(join(path, name), { throwIfNoEntry: false });
    return info === undefined ? [] : notOurs(join(path, name), info);
  });
}

/** Whoever can rename one of these can put another folder in the place of ours. */
function foldersAround(path: string): readonly Finding[] {
  if (process.platform === "win32") return [];
  const found: Finding[] = [];
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
    const info = statSync(above, { throwIfNoEntry: false });
    if (info === undefined || (info.mode & EVERYBODY_WRITES) === 0 || (info.mode & STICKY) !== 0) continue;
    const detail = `everybody can replace the folders in ${above} (${modeText(info.mode)})`;
    found.push(warning(detail, `Run: chmod o-w ${above}`));
  }
  return found;
}

function modeText(mode: number): string {
  return (mode & 0o777).toString(8);
}
