/**
 * The program as an installed package runs it. A package has no sources: the launcher of a clone looks whether they are newer than
 * the bundle, which takes time that no user spends.
 */
import { execFileSync } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** Builds the bundle. Returns the launcher. */
export function installInto(folder: string): string {
  execFileSync("npm", ["run", "-s", "build"], { cwd: root });
  for (const part of ["bin", "dist", "profiles", "templates", "scenarios", "skills", "package.json"]) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return join(folder, "bin", "harness.cjs");
}
