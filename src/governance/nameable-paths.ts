/** Which files of the workspace are offered to somebody who types a name: none that holds a secret and none that a rule hides. */
import { matchPath } from "./rule-patterns.ts";
import { namesKind, type Rule } from "./rules.ts";
import { isSecretFile } from "./sensitive-paths.ts";

/** For paths relative to `root`. A rule that denies listing, searching or reading counts, whatever labels it names. */
export function nameablePath(rules: readonly Rule[], root: string): (path: string) => boolean {
  const hiding = rules.filter((rule) => rule.effect === "deny" && namesKind(rule, "read", "list", "search"));
  return (path) => {
    if (isSecretFile(path)) return false;
    return !hiding.some(({ pattern }) => pattern === undefined || coversPath(pattern, path, root));
  };
}

/** The path itself, or a folder above it. */
function coversPath(pattern: string, path: string, root: string): boolean {
  const segments = path.split("/");
  return segments.some((_, index) => matchPath(pattern, segments.slice(0, index + 1).join("/"), "wide", root));
}
