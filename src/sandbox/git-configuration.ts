/**
 * What git's configuration names: further files of it, and folders of hooks. Reads text alone and starts no git. Every condition of an
 * include counts as met, because a command can switch branches and move folders.
 */
import { dirname, join, resolve } from "node:path";
import { realPathIfThere } from "#world";
import { smallText } from "./straight-folder.ts";

const MAX_CONFIG_BYTES = 256 * 1024;
/** Git's own bound. */
const MAX_INCLUDE_DEPTH = 10;
const MAX_FILES = 256;

export interface GitConfiguration {
  /** The text of every file that was found, in the order in which it was read. */
  readonly texts: readonly string[];
  /** Included files, absolute; some may not exist. */
  readonly included: readonly string[];
  /** Values of `core.hooksPath`; a relative one counts from the top of the work tree. */
  readonly hooksPaths: readonly string[];
}

/** `files` are absolute, and some may not exist. `home` stands for `~`. */
export function readGitConfiguration(files: readonly string[], home: string): GitConfiguration {
  const texts: string[] = [];
  const included = new Set<string>();
  const hooksPaths = new Set<string>();
  let level = [...new Set(files)];
  for (let depth = 0; depth <= MAX_INCLUDE_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const file of level) {
      const text = textOf(file);
      if (text === undefined) continue;
      texts.push(text);
      for (const value of configuredPaths(text, "hookspath", home)) hooksPaths.add(value);
      for (const value of configuredPaths(text, "path", home)) {
        const path = resolve(dirname(file), value);
        if (included.has(path) || included.size >= MAX_FILES) continue;
        included.add(path);
        next.push(path);
      }
    }
    level = next;
  }
  return { texts, included: [...included], hooksPaths: [...hooksPaths] };
}

/** The values of a key, whatever the section: a name too many is held, one too few is not. */
export function configuredPaths(text: string, key: "hookspath" | "path" | "worktree", home: string): string[] {
  const lines = text.replace(/\\\r?\n/g, "");
  const pattern = new RegExp(String.raw`(?:^|\])[ \t]*${key}[ \t]*=[ \t]*(.*)$`, "gim");
  return [...lines.matchAll(pattern)]
    .map((match) => plainValue(match[1] ?? ""))
    .filter((value) => value !== "")
    .map((value) => (value === "~" || value.startsWith("~/") ? join(home, value.slice(1)) : value));
}

/** As git reads a value: quotes go, a comment ends it, and a backslash escapes. */
function plainValue(raw: string): string {
  let value = "";
  let kept = 0;
  let isQuoted = false;
  for (let at = 0; at < raw.length; at++) {
    const letter = raw[at] ?? "";
    if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (letter === "#" || letter === ";")) break;
    else if (letter === "\\") value += raw[++at] ?? "";
    else value += letter;
    if (isQuoted || !/\s/.test(letter)) kept = value.length;
  }
  return value.slice(0, kept);
}

/** A link is followed: people keep their settings elsewhere, and git reads them there. */
function textOf(file: string): string | undefined {
  const real = realPathIfThere(file);
  return real === undefined ? undefined : smallText(real, MAX_CONFIG_BYTES);
}
