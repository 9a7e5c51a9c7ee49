/**
 * A folder with those above it. Node's own way (`recursive`) asks for the same folder for ever where the system says that it cannot be
 * while the one above it is there, as below /proc; here each is asked for twice at most.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errnoOf } from "#base";

/** Nothing when it is there. Throws what the system says. `mode` is for all that are made. */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const above = dirname(resolve(path));
    if (errnoOf(error) === "EEXIST" && isFolder(path)) return; // somebody else was faster
    if (errnoOf(error) !== "ENOENT" || above === resolve(path)) throw error;
    makeFolder(above, mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST" || !isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // what is wrong with it, making it says
  }
}
