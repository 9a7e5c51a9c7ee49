/**
 * Which tools a hook runs for. Words between bars or commas are a list of names in upper or lower case; anything else is a regular
 * expression that may match anywhere in the name, as in Claude Code. What could never match is refused: such a guard guards nothing.
 * In linear time (RE2), so that no pattern is slow.
 */
import { RE2JS } from "re2js";
import type { ShellHook } from "#artifacts";
import { messageOf } from "#base";
import { ReasonError } from "#protocol";

const NAMES = /^[\w\s|,-]*\w[\w\s|,-]*$/;
/** `mcp__SERVER`, which stands for all tools of the server. */
const SERVER = /^mcp__(?!.*__)/;

export type Matcher = (names: readonly string[]) => boolean;

/** Throws ConfigInvalid, with the place, for a matcher that is not a regular expression or can match no name. */
export function compileMatcher({ matcher, source }: Pick<ShellHook, "matcher" | "source">): Matcher {
  if (matcher === undefined) return () => true;
  const wanted = NAMES.test(matcher) ? matcher.split(/[|,]/).map((name) => name.trim().toLowerCase()) : [matcher];
  if (wanted.some((name) => /\s/.test(name))) {
    const detail = `${source}: the matcher of the hook has a space, so it matches no tool. Write names such as Bash or Edit|Write, and "if" for arguments: if = "Bash(git push *)".`;
    throw new ReasonError("ConfigInvalid", detail);
  }
  if (NAMES.test(matcher)) {
    const isWanted = (name: string): boolean =>
      wanted.some((one) => one === name || (SERVER.test(one) && name.startsWith(`${one}__`)));
    return (names) => names.some((name) => isWanted(name.toLowerCase()));
  }
  try {
    const pattern = RE2JS.compile(matcher);
    return (names) => names.some((name) => pattern.matcher(name).find());
  } catch (cause) {
    const detail = `${source}: the matcher of the hook is not a regular expression that Harness can use: ${messageOf(cause)}. Use RE2 syntax (no look-around, no back-references), or a name such as Bash or Edit|Write.`;
    throw new ReasonError("ConfigInvalid", detail, { cause });
  }
}
