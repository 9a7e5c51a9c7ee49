/**
 * The small languages in values of git options: `--format` and `--pretty` of commits, `--format` and `--sort` of refs. Some
 * placeholders make git run another program, to check a signature for example, so only known ones pass.
 */
import { wordSet } from "#base";

const COMMIT_NAMES = wordSet("oneline short medium full fuller reference email mboxrd raw");

const COMMIT_PLACEHOLDER = new RegExp(
  String.raw`%(?:%|n|x[\da-fA-F]{2}|C(?:red|green|blue|reset|\([a-z\d#, ]{1,40}\))|w\([\d, ]{0,20}\)` +
    String.raw`|(?:<|>|>>|><)\|?\([\da-zA-Z, -]{1,20}\)` +
    String.raw`|[-+ ]?(?:[HhTtPpdDsfbBeNmS]|[ac][nNeElLdDrtiIsh]|g[DdnNeEs]|\(trailers(?::[\w=,. -]{0,80})?\)))`,
  "y",
);

const REF_ATOMS = wordSet(
  "refname objecttype objectsize objectname objectmode deltabase path tree parent numparent object type tag author " +
    "authorname authoremail authordate committer committername committeremail committerdate tagger taggername taggeremail " +
    "taggerdate creator creatordate subject body trailers contents upstream push symref flag HEAD color align end if then " +
    "else worktreepath ahead-behind",
);
const REF_PLACEHOLDER = /%(?:%|[\da-fA-F]{2}|\(([^()%]{1,80})\))/y;

/** True when a value of `--format` or `--pretty` shows commits without starting anything. */
export function isHarmlessCommitFormat(value: string): boolean {
  if (value === "" || COMMIT_NAMES.has(value)) return true;
  const custom = /^t?format:/.exec(value);
  if (custom === null && !value.includes("%")) return false;
  return everyPlaceholder(value, COMMIT_PLACEHOLDER, () => true);
}

/** The same for `--format` of `branch`, `tag`, `for-each-ref` and `ls-tree`. */
export function isHarmlessRefFormat(value: string): boolean {
  return everyPlaceholder(value, REF_PLACEHOLDER, (match) => match[1] === undefined || isAtom(match[1]));
}

/** True for a `--sort` key such as `-committerdate` or `version:refname`. */
export function isHarmlessRefSort(value: string): boolean {
  return isAtom(value.replace(/^-/, "").replace(/^(?:v|version):/, ""));
}

function isAtom(text: string): boolean {
  return REF_ATOMS.has(text.replace(/^\*/, "").split(":", 1)[0] ?? "");
}

function everyPlaceholder(value: string, pattern: RegExp, isKnown: (match: RegExpExecArray) => boolean): boolean {
  for (let at = value.indexOf("%"); at >= 0; at = value.indexOf("%", pattern.lastIndex)) {
    pattern.lastIndex = at;
    const match = pattern.exec(value);
    if (match === null || !isKnown(match)) return false;
  }
  return true;
}
