/** The files of a workspace, for people who name one: the same ones that `fs.glob` finds. */
import type { EffectPorts } from "#base";
import { runRipgrep } from "./ripgrep.ts";

/** Of a larger workspace the files that are found first. */
const MAX_PATHS = 50_000;
/** A name that would break out of its line is none that can be typed. */
const UNTYPABLE = /[\p{Cc}"]/u;

/** Relative to the workspace, in no order. Rejects with a ToolError when the search fails or is cancelled. */
export async function listWorkspacePaths(
  ports: Pick<EffectPorts, "files" | "processes">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const paths: string[] = [];
  const onRecord = (path: string): boolean => {
    if (!UNTYPABLE.test(path)) paths.push(path);
    return paths.length < MAX_PATHS;
  };
  await runRipgrep(ports, { args: ["--files", "--null"], cwd: ".", separator: "\0", onRecord }, signal);
  return paths;
}
