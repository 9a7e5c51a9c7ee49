/** Moves out of the way what took a protected name: to the same place, under a name that nothing reads by itself. */
import { lstatSync, renameSync } from "node:fs";

const SUFFIX = ".held-back";
const MAX_HELD_BACK = 100;

export function isHeldBack(name: string): boolean {
  return /\.held-back(?:-\d+)?$/.test(name);
}

/** Says where it went. Throws when there is no way: then the call fails, and says so. */
export function moveAside(path: string): string {
  for (let number = 0; number < MAX_HELD_BACK; number++) {
    const target = `${path}${SUFFIX}${number === 0 ? "" : `-${number}`}`;
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) continue;
    renameSync(path, target);
    return `what the command put there is now ${target}`;
  }
  throw new Error(`${path} is protected and there are ${MAX_HELD_BACK} files held back beside it; remove some`);
}
