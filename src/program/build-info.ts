/** Which build this is. A bundle carries it; from source it is read from package.json. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Replaced by the bundler; undefined when run from source. */
declare const HARNESS_BUILD: BuildInfo | undefined;

export interface BuildInfo {
  readonly version: string;
  readonly commit: string;
  readonly builtAt: string;
}

export function buildInfo(packageRoot: string): BuildInfo {
  if (typeof HARNESS_BUILD !== "undefined") return HARNESS_BUILD;
  // Our own package.json, which always has a version.
  const { version } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as { version: string };
  return { version, commit: "source", builtAt: "source" };
}
