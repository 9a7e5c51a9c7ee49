/**
 * The head of a file that was written for other agents. Many of those read a line of it as text although YAML does not, such as
 * `argument-hint: [file] [line]` or a description with a colon in it. Strict YAML counts first; only what it refuses is read that way.
 */
import type { Problem } from "./project.ts";
import { type MapTree, parseYaml } from "./yaml-tree.ts";

/** `key: text`, with the lines that go on with it. */
const ENTRY = /^([A-Za-z_][\w-]*):[ \t]+(\S.*(?:\n[ \t]+\S.*)*)$/gm;
/** A block of lines, an alias, an anchor, a tag, a list that has no end: not text that somebody forgot to quote. */
const OTHER_FORM = /^(?:[|>&*!]|\[[^\]]*$|\{[^}]*$)/;

export function parseForeignHead(file: string, yaml: string, problems: Problem[]): MapTree | undefined {
  const strict: Problem[] = [];
  const tree = parseYaml(file, yaml, strict);
  if (tree === undefined) {
    const quoted = yaml.replace(ENTRY, (entry, key: string, value: string) => {
      if (OTHER_FORM.test(value) || parseYaml(file, entry, []) !== undefined) return entry;
      const lines = value.split("\n");
      // As many lines as before: places are those of the file.
      return `${key}: ${JSON.stringify(lines.map((line) => line.trim()).join(" "))}${"\n".repeat(lines.length - 1)}`;
    });
    const lenient: Problem[] = [];
    const read = quoted === yaml ? undefined : parseYaml(file, quoted, lenient);
    if (read !== undefined) {
      problems.push(...lenient);
      return read;
    }
  }
  problems.push(...strict);
  return tree;
}
