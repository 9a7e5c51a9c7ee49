/**
 * What the program itself keeps in a workspace is not for tools, whatever the rules say. Nobody reads or changes it, nor moves or removes
 * a folder that holds it. Knows names only: whoever opens something asks with the names under which it opens it.
 */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { EffectError } from "#base";
import { realPath } from "./real-path.ts";

export interface HiddenFiles {
  /** Relative to the root. */
  readonly paths: readonly string[];
  /** `real` is relative to the root and without links. `whole`: with all that is below it. */
  meets(real: string, whole: boolean): boolean;
  /** An `AccessDenied` error when `shown` itself, or one of the real names that it stands for, is hidden. */
  check(shown: string, reals: readonly string[], whole: boolean): void;
}

/** `root` is real; `paths`: files and folders, absolute; those outside the workspace do not matter. */
export function createHiddenFiles(root: string, paths: readonly string[]): HiddenFiles {
  const hidden = [...new Set(paths.map((path) => relative(root, realPath(path))).filter(isBelow))];
  const folded = hidden.map(fold);
  const meets = (real: string, whole: boolean): boolean => {
    if (folded.length === 0) return false;
    const name = fold(real);
    return folded.some((own) => isWithin(name, own) || (whole && isWithin(own, name)));
  };
  return {
    paths: hidden,
    meets,
    check(shown, reals, whole) {
      // What acts on an entry acts on a link itself; both names count.
      if (![...reals, relative(root, resolve(root, shown))].some((name) => meets(name, whole))) return;
      throw new EffectError("AccessDenied", `${shown} belongs to Harness itself; tools cannot use it`);
    },
  };
}

/** Names that some disk takes for the same are: on another it costs nobody anything. Upper case first, for letters that have two lower ones. */
function fold(name: string): string {
  return name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}

function isBelow(path: string): boolean {
  return path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}
