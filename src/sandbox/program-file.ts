/** Where the program of a command is: by its path, or by its name on the search path. */
import { realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { EffectError, type ProcessSpec } from "#base";
import { isExecutable } from "./probe.ts";

/** The program by its full path, looked up as the process port would: what is missing must be reported as missing. */
export function programFile(spec: ProcessSpec, root: string, searchPath: string): string {
  if (isAbsolute(spec.file)) return spec.file;
  if (spec.file.includes("/")) return realpathOr(join(root, spec.cwd ?? ".", spec.file));
  const found = (spec.env?.PATH ?? searchPath)
    .split(":")
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, spec.file))
    .find(isExecutable);
  if (found === undefined) throw new EffectError("NotFound", `the program ${spec.file} does not exist`);
  return found;
}

function realpathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new EffectError("NotFound", `the program ${path} does not exist`);
  }
}
