/** A Node of this machine that is too old for the program, if there is one: the only way to see what the program says to it. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export function findOldNode(): string | undefined {
  for (const folder of (process.env.PATH ?? "").split(":").concat("/usr/bin", "/usr/local/bin")) {
    const node = join(folder, "node");
    if (!existsSync(node)) continue;
    const version = execFileSync(node, ["--version"], { encoding: "utf8" });
    if (Number(version.slice(1).split(".")[0]) < 24) return node;
  }
  return undefined;
}
