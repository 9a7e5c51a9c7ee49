/** Adds permission rules to the text of a `harness.md` or `harness.yaml` and leaves everything else as it was written. */
import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { canonicalJson } from "#base";
import { ReasonError } from "#protocol";
import { splitFrontmatter } from "./frontmatter.ts";

/** The new text. Checked by reading it again: the rules are in it, and nothing else has changed. */
export function addProjectRules(file: string, text: string, rules: readonly string[]): string {
  const { start, end } = yamlRange(file, text);
  const yaml = text.slice(start, end);
  const before = parseDocument(yaml, { uniqueKeys: false });
  const known = allowOf(before.toJS());
  const added = rules.filter((rule) => !known.includes(rule));
  if (added.length === 0) return text;
  const changed = insert(yaml, before.contents, added);
  const after: unknown = parseDocument(changed, { uniqueKeys: false }).toJS();
  const expected = withAllow(before.toJS(), [...known, ...added]);
  if (canonicalJson(after) !== canonicalJson(expected)) {
    const detail = `${file}: Harness could not add the rules without changing others; add them to permissions.allow yourself`;
    throw new ReasonError("ConfigInvalid", detail);
  }
  return text.slice(0, start) + changed + text.slice(end);
}

/** Where the YAML is: all of the file, or the head of a Markdown file. */
function yamlRange(file: string, text: string): { readonly start: number; readonly end: number } {
  if (!/\.md$/i.test(file)) return { start: 0, end: text.length };
  const split = splitFrontmatter(text);
  if (typeof split === "string") throw new ReasonError("ConfigInvalid", `${file}: the YAML head is ${split}`);
  const start = text.indexOf("\n") + 1;
  return { start, end: start + split.yaml.length - 1 };
}

function insert(yaml: string, root: unknown, rules: readonly string[]): string {
  const quoted = rules.map((rule) => JSON.stringify(rule));
  const permissions = isMap(root) ? fieldOf(root, "permissions") : undefined;
  if (!isMap(permissions)) {
    const gap = yaml === "" || yaml.endsWith("\n") ? "" : "\n";
    return `${yaml}${gap}permissions:\n  allow:\n${quoted.map((rule) => `    - ${rule}\n`).join("")}`;
  }
  const allow = fieldOf(permissions, "allow");
  if (isSeq(allow)) return allow.flow === true ? intoFlow(yaml, allow, quoted) : intoBlock(yaml, allow, quoted);
  // Before the first key of the table, as far in as that one.
  const first = rangeOf(permissions)[0];
  if (permissions.flow === true)
    return `${yaml.slice(0, first + 1)} allow: [${quoted.join(", ")}],${yaml.slice(first + 1)}`;
  const indent = indentAt(yaml, first);
  const lines = quoted.map((rule) => `${indent}  - ${rule}\n`).join("");
  const at = first - indent.length;
  return `${yaml.slice(0, at)}${indent}allow:\n${lines}${yaml.slice(at)}`;
}

function intoFlow(yaml: string, list: YAMLSeq, quoted: readonly string[]): string {
  const [start, end] = rangeOf(list);
  const close = yaml.lastIndexOf("]", end - 1);
  const last = list.items.at(-1);
  const at = last === undefined ? start + 1 : rangeOf(last)[1];
  return `${yaml.slice(0, at)}${last === undefined ? "" : ", "}${quoted.join(", ")}${yaml.slice(at === close ? close : at)}`;
}

function intoBlock(yaml: string, list: YAMLSeq, quoted: readonly string[]): string {
  const [start] = rangeOf(list);
  const last = list.items.at(-1);
  const from = last === undefined ? start : rangeOf(last)[1];
  const lineEnd = yaml.indexOf("\n", Math.max(0, from - 1));
  const at = lineEnd < 0 ? yaml.length : lineEnd + 1;
  const gap = lineEnd < 0 ? "\n" : "";
  const indent = indentAt(yaml, start);
  return `${yaml.slice(0, at)}${gap}${quoted.map((rule) => `${indent}- ${rule}\n`).join("")}${yaml.slice(at)}`;
}

/** The white space before a place on its line. */
function indentAt(yaml: string, at: number): string {
  const line = yaml.slice(yaml.lastIndexOf("\n", at - 1) + 1, at);
  return /^\s*$/.test(line) ? line : "";
}

function fieldOf(map: YAMLMap, key: string): unknown {
  return map.get(key, true);
}

function rangeOf(node: unknown): readonly [number, number] {
  const { range } = node as { readonly range?: readonly [number, number, number] | null };
  if (range == null) throw new Error("a node that was parsed has its place");
  return [range[0], range[1]];
}

function allowOf(root: unknown): readonly unknown[] {
  const { permissions } = (root ?? {}) as { readonly permissions?: { readonly allow?: unknown } };
  const { allow } = permissions ?? {};
  // A rule may be a table with examples beside it.
  return Array.isArray(allow) ? allow : [];
}

function withAllow(root: unknown, allow: readonly unknown[]): unknown {
  const { permissions, ...rest } = (root ?? {}) as { readonly permissions?: object };
  return { ...rest, permissions: { ...permissions, allow } };
}
