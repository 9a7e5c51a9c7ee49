/**
 * Which tools a hook runs for. A word, or words between bars, is a list of names in upper or lower case; anything else is a regular
 * expression that may match anywhere in the name, as in Claude Code. What could never match is refused: such a guard guards nothing. In linear time (RE2), so that no pattern is slow.
 */
import { RE2JS } from "re2js";
import type { ShellHook } from "#artifacts";
import { messageOf } from "#base";
import { ReasonError } from "#protocol";

const NAMES = /^[\s|]*\w[\w|\s]*$/;

export type Matcher = (names: readonly string[]) => boolean;

/** Throws ConfigInvalid, with the place, for a matcher that is not a regular expression or can match no name. */
export function compileMatcher({ matcher, source }: Pick<ShellHook, "matcher" | "source">): Matcher {
  if (matcher === undefined) return () => true;
  if (NAMES.test(matcher)) {
    const wanted = new Set(matcher.split("|").map((name) => name.trim().toLowerCase()));
    return (names) => names.some((name) => wanted.has(name.toLowerCase()));
  }
  if (/\s/.test(matcher)) {
    const detail = `${source}: the matcher of the hook has a space, so it matches no tool. Write names such as Bash or Edit|Write; the hook reads the arguments itself.`;
    throw new ReasonError("ConfigInvalid", detail);
  }
  try {
    const pattern = RE2JS.compile(matcher);
    return (names) => names.some((name) => pattern.matcher(name).find());
  } catch (cause) {
    const detail = `${source}: the matcher of the hook is not a regular expression that Harness can use: ${messageOf(cause)}. Use RE2 syntax (no look-around, no back-references), or a name such as Bash or Edit|Write.`;
    throw new ReasonError("ConfigInvalid", detail, { cause });
  }
}
