/**
 * YAML as a small tree in which every key and every value knows where it is written. Nothing in here throws: what the parser
 * refuses, and what would grow beyond its bounds, becomes a problem.
 */

import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument, Scalar, type YAMLMap } from "yaml";
import { beginningOf } from "#base";
import { readPlainYaml } from "./plain-yaml.ts";
import type { Problem, SourceLocation } from "./project.ts";

export type Tree = ScalarTree | ListTree | MapTree;

export interface ScalarTree {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
  readonly place: SourceLocation;
  /** Where the first character of a text is: after the quote, or on the line below `|`. */
  readonly textPlace: SourceLocation;
  /** False when lines of the text are not lines of the file: folded, or quoted over several lines. */
  readonly linesHold: boolean;
}

export interface ListTree {
  readonly kind: "list";
  readonly items: readonly Tree[];
  readonly place: SourceLocation;
}

export interface MapTree {
  readonly kind: "map";
  /** Each key once: of a key that is written twice the last one holds. */
  readonly entries: readonly MapEntry[];
  readonly place: SourceLocation;
}

export interface MapEntry {
  readonly key: string;
  readonly keyPlace: SourceLocation;
  readonly value: Tree;
}

/** What aliases stand for counts each time they are used, so a few lines cannot stand for millions of values. */
const MAX_EXPANDED_NODES = 20_000;
const MAX_DEPTH = 64;
/** A file that is no YAML at all has an error on every line; the first ones say it. */
const MAX_YAML_PROBLEMS = 10;

/** The root is always a map; an empty document is an empty one. Undefined: there was an error, and it is in `problems`. */
export function parseYaml(file: string, text: string, problems: Problem[]): MapTree | undefined {
  return readPlainYaml(file, text) ?? parseAnyYaml(file, text, problems);
}

/** By the parser alone. */
export function parseAnyYaml(file: string, text: string, problems: Problem[]): MapTree | undefined {
  const before = problems.length;
  const placeAt = createPlaces(file, text);
  const fail = (code: string, place: SourceLocation, message: string): undefined => {
    problems.push({ severity: "error", code, place, message });
  };
  let document: ReturnType<typeof parseDocument>;
  try {
    document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: "error" });
  } catch (error) {
    // The parser recurses; nesting of thousands of levels ends its stack.
    const why = error instanceof RangeError ? "is nested too deeply" : `cannot be read (${String(error)})`;
    return fail("yaml", { file, line: 1, column: 1 }, `The YAML ${why}.`);
  }
  let lastLine = 0;
  for (const { message, pos } of document.errors.slice(0, MAX_YAML_PROBLEMS)) {
    const place = placeAt(pos[0]);
    // What follows on the same line follows from the first.
    if (place.line > lastLine) fail("yaml", place, `The YAML is not valid: ${sentence(message)}`);
    lastLine = place.line;
  }
  for (const { message, pos } of document.warnings.slice(0, MAX_YAML_PROBLEMS)) {
    problems.push({ severity: "warning", code: "yaml", place: placeAt(pos[0]), message: sentence(message) });
  }
  if (problems.length > before && document.errors.length > 0) return undefined;
  const root = { file, line: 1, column: 1 };
  const converted = createConverter(text, placeAt, problems).convert(document.contents, root);
  if (converted === undefined) return undefined;
  if (converted.kind === "map") return converted;
  if (converted.kind === "scalar" && converted.value === null) return { kind: "map", entries: [], place: root };
  return fail("not-a-map", converted.place, "This is not a table: write lines of the form `key: value`.");
}

/** Offset → place. Counted here: the parser's own counter knows only the lines that it has got to when an error occurs. */
function createPlaces(file: string, text: string): (offset: number) => SourceLocation {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    const at = Math.min(Math.max(offset, 0), text.length);
    let low = 0;
    for (let high = starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle;
    }
    return { file, line: low + 1, column: at - (starts[low] ?? 0) + 1 };
  };
}

interface Converter {
  convert(node: unknown, fallback: SourceLocation): Tree | undefined;
}

function createConverter(text: string, placeAt: (offset: number) => SourceLocation, problems: Problem[]): Converter {
  const anchors = new Map<string, { readonly tree: Tree; readonly size: number }>();
  let size = 0;
  let failed = false;

  function fail(code: string, place: SourceLocation, message: string): undefined {
    failed = true;
    problems.push({ severity: "error", code, place, message });
  }

  function convert(node: unknown, fallback: SourceLocation, depth: number): Tree | undefined {
    // One report is enough: everything above it is given up as well.
    if (failed) return undefined;
    const place = isNode(node) && node.range ? placeAt(node.range[0]) : fallback;
    if (++size > MAX_EXPANDED_NODES) {
      return fail("too-many-values", place, `There are more than ${MAX_EXPANDED_NODES} values, counting aliases.`);
    }
    if (depth > MAX_DEPTH) return fail("too-deep", place, `The value is nested more than ${MAX_DEPTH} levels deep.`);
    if (isAlias(node)) return useAnchor(node.source, place);
    const sizeBefore = size;
    const tree = convertNew(node, place, depth);
    const anchor = isNode(node) && "anchor" in node ? node.anchor : undefined;
    if (tree !== undefined && typeof anchor === "string") anchors.set(anchor, { tree, size: size - sizeBefore + 1 });
    return tree;
  }

  function useAnchor(name: string, place: SourceLocation): Tree | undefined {
    const found = anchors.get(name);
    if (found === undefined) return fail("unknown-alias", place, `The alias *${name} has no anchor before it.`);
    size += found.size;
    if (size <= MAX_EXPANDED_NODES) return found.tree;
    return fail("too-many-values", place, `There are more than ${MAX_EXPANDED_NODES} values, counting aliases.`);
  }

  function convertNew(node: unknown, place: SourceLocation, depth: number): Tree | undefined {
    if (isMap(node)) return convertMap(node, place, depth);
    if (isSeq(node)) {
      const items = node.items.map((item) => convert(item, place, depth + 1));
      return failed ? undefined : { kind: "list", items: items.filter((item) => item !== undefined), place };
    }
    if (isScalar(node)) return convertScalar(node, place);
    if (node === null) return { kind: "scalar", value: null, place, textPlace: place, linesHold: true };
    return fail("yaml", place, "This kind of value is not supported.");
  }

  function convertMap(node: YAMLMap, place: SourceLocation, depth: number): Tree | undefined {
    const entries = new Map<string, MapEntry>();
    for (const pair of node.items) {
      const keyPlace = isNode(pair.key) && pair.key.range ? placeAt(pair.key.range[0]) : place;
      if (!isScalar(pair.key) || pair.key.value === null || typeof pair.key.value === "object") {
        return fail("bad-key", keyPlace, "A key must be plain text.");
      }
      const key = String(pair.key.value);
      const first = entries.get(key);
      if (first !== undefined) {
        const message = `"${key}" appears twice (first on line ${first.keyPlace.line}). The last value applies.`;
        problems.push({ severity: "warning", code: "duplicate-key", place: keyPlace, message });
        // Where the one that holds is written is also where it stands in the order.
        entries.delete(key);
      }
      const value = convert(pair.value, keyPlace, depth + 1);
      if (value === undefined) return undefined;
      entries.set(key, { key, keyPlace, value });
    }
    return { kind: "map", entries: [...entries.values()], place };
  }

  function convertScalar(node: Scalar, place: SourceLocation): Tree | undefined {
    const { value } = node;
    if (typeof value === "number" && !Number.isFinite(value))
      return fail("bad-number", place, "The number is not finite.");
    if (value !== null && typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
      return fail("yaml", place, "This kind of value is not supported.");
    }
    return { kind: "scalar", value, place, ...textPosition(text, node, place) };
  }

  return { convert: (node, fallback) => convert(node, fallback, 0) };
}

function textPosition(text: string, node: Scalar, place: SourceLocation): Pick<ScalarTree, "textPlace" | "linesHold"> {
  const start = node.range?.[0];
  if (typeof node.value !== "string" || start == null) return { textPlace: place, linesHold: true };
  switch (node.type) {
    case Scalar.BLOCK_LITERAL:
    case Scalar.BLOCK_FOLDED: {
      const column = blockIndent(text, start, node.value) + 1;
      const linesHold = node.type === Scalar.BLOCK_LITERAL || isOneLine(text.slice(start, node.range?.[1]).trim(), 1);
      return { textPlace: { file: place.file, line: place.line + 1, column }, linesHold };
    }
    case Scalar.QUOTE_SINGLE:
    case Scalar.QUOTE_DOUBLE:
      return {
        textPlace: { ...place, column: place.column + 1 },
        linesHold: isOneLine(text.slice(start, node.range?.[1])),
      };
    default:
      return { textPlace: place, linesHold: isOneLine(text.slice(start, node.range?.[1])) };
  }
}

/** How far the lines of a block are indented: what the first line with text has in the file and not in the value. */
function blockIndent(text: string, header: number, value: string): number {
  let at = text.indexOf("\n", header);
  for (const line of value.split("\n")) {
    if (at < 0) return 0;
    const end = text.indexOf("\n", at + 1);
    const written = text.slice(at + 1, end < 0 ? text.length : end);
    // A folded line is longer in the value than in the file.
    const indent = written.endsWith(line) ? written.length - line.length : written.search(/\S/);
    if (line.trim() !== "") return Math.max(0, indent);
    at = end;
  }
  return 0;
}

/** A block has the line of its `>` besides. */
function isOneLine(written: string, besides = 0): boolean {
  return written.split("\n").length - besides <= 1;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "range" in value;
}

/** The parser ends some messages with the text it stumbled over, which may be the whole file. */
function sentence(message: string): string {
  const line = message.split("\n")[0] ?? "";
  return line.length > 200 ? `${beginningOf(line, 200)}…` : line;
}
