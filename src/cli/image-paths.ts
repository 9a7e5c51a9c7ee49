/** The paths of images in a text as terminals paste it when files are dropped on them: quoted, with backslashes, as URLs. Reads no file. */
import { fileURLToPath } from "node:url";

const IMAGE_NAME = /\.(png|jpe?g|gif|webp)$/i;
const MAX_CHARS = 8192;
/** A quoted part, an escaped character, or anything else that is not between words. */
const PART = /"((?:\\[\s\S]|[^"\\])*)"|'([^']*)'|\\([\s\S])|([^\s"'\\]+)/g;
const WORD = new RegExp(`(?:${PART.source.replaceAll(/\((?!\?)/g, "(?:")})+`, "g");

/**
 * The ways to read the whole text as paths of images, the most likely first; each is a list of paths. Empty for every other text.
 * `home` stands for `~`.
 */
export function imagePathsIn(text: string, home: string): readonly (readonly string[])[] {
  const all = text.trim();
  if (all === "" || all.length > MAX_CHARS || all.includes("\0")) return [];
  const asWords = all.replace(WORD, "").trim() === "" ? [(all.match(WORD) ?? []).map(unquoted)] : [];
  // Not every terminal escapes the blanks of a path.
  const asOnePath = all.includes("\n") ? [] : [[all]];
  return [...asWords, ...asOnePath].flatMap((words) => {
    const paths = words.map((word) => located(word, home));
    return paths.every((path) => path !== undefined && IMAGE_NAME.test(path)) ? [paths as string[]] : []; // all are defined
  });
}

/** As a shell reads one word. */
function unquoted(word: string): string {
  return word.replace(PART, (_, double?: string, single?: string, escaped?: string, plain?: string) => {
    return double?.replace(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? plain ?? "";
  });
}

/** Undefined for a URL that is no file of this machine. */
function located(word: string, home: string): string | undefined {
  if (word.startsWith("~/")) return `${home}${word.slice(1)}`;
  if (!/^file:/i.test(word)) return word;
  try {
    return fileURLToPath(word);
  } catch {
    return undefined;
  }
}
