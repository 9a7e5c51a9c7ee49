/** A difference that a person saves for a look at it with other tools; where nobody else reads it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { harnessPaths } from "#stores";
import { makePrivateDirectory } from "#world";
import type { CliPorts } from "./cli-ports.ts";

const NAME_CHARS = 100;

/** Gives the path of the file. */
export function saveReview({ env, clock }: Pick<CliPorts, "env" | "clock">, file: string, text: string): string {
  const folder = join(harnessPaths(env).stateDir, "reviews");
  makePrivateDirectory(folder);
  const name = file.replaceAll(/[^A-Za-z0-9._-]+/g, "_").slice(-NAME_CHARS);
  const path = join(folder, `${clock.now()}-${name}.diff`);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}
