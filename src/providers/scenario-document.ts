/**
 * A YAML document that is read field by field and collects every problem with its place in the file. Knows the shapes
 * of YAML, not what a scenario is.
 */
import type { Document, Node, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { nearestName } from "#base";
import { ReasonError } from "#protocol";

const MAX_PROBLEMS = 50;

/** A reader returns undefined after it has told a problem. */
export interface ScenarioDocument {
  readonly root: Node | null;
  problem(node: Node | null, message: string): void;
  /** The values by key. Keys must be in `known`, `required` ones must be there. */
  mapping(
    node: Node | null,
    known: readonly string[],
    required?: readonly string[],
  ): ReadonlyMap<string, Node> | undefined;
  /** The keys of a mapping, none for anything else. Tells no problem. */
  keysOf(node: Node | null): readonly string[];
  list(node: Node, maxItems: number): readonly Node[] | undefined;
  text(node: Node, maxChars: number): string | undefined;
  integer(node: Node, min: number, max: number): number | undefined;
  /** Any value, as JSON has it. */
  value(node: Node): unknown;
  /** Throws ScenarioInvalid with all problems, when there are any. */
  finish(): void;
}

/** Throws ScenarioInvalid at once for what is not YAML. `file` is only for messages. */
export async function readDocument(text: string, file: string): Promise<ScenarioDocument> {
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  const problems: { readonly offset: number; readonly message: string }[] = [];
  const tell = (offset: number, message: string): void => {
    problems.push({ offset, message });
  };
  const problem = (node: Node | null, message: string): void => tell(node?.range?.[0] ?? 0, message);

  const finish = (): void => {
    if (problems.length === 0) return;
    const told = problems.sort((a, b) => a.offset - b.offset).slice(0, MAX_PROBLEMS);
    const detail = told.map(({ offset, message }) => {
      const { line, col } = lines.linePos(offset);
      return `${file}:${Math.max(1, line)}:${Math.max(1, col)}: ${message}`;
    });
    if (problems.length > told.length) detail.push(`${file}: and ${problems.length - told.length} more`);
    throw new ReasonError("ScenarioInvalid", detail.join("\n"));
  };

  const document: Document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  for (const { pos, message } of [...document.errors, ...document.warnings]) tell(pos[0], message);
  yaml.visit(document, { Alias: (_, alias) => problem(alias, "aliases are not supported here") });
  finish();

  // Aliases were refused above and keys are strings, so what is in a collection is a node or nothing.
  const pairsOf = (map: YAMLMap) => map.items as { readonly key: Scalar<string>; readonly value: Node | null }[];
  const expected = (node: Node | null, what: string): undefined => problem(node, `expected ${what}`) as undefined;

  return {
    root: document.contents,
    problem,
    mapping(node, known, required = []) {
      if (!yaml.isMap(node)) return expected(node, `a mapping with ${known.join(", ")}`);
      const values = new Map<string, Node>();
      for (const { key, value } of pairsOf(node)) {
        if (!known.includes(key.value)) problem(key, unknownKey(key.value, known));
        else if (value === null) problem(key, `"${key.value}" has no value`);
        else values.set(key.value, value);
      }
      for (const name of required) if (!values.has(name)) problem(node, `"${name}" is missing`);
      return values;
    },
    keysOf: (node) => (yaml.isMap(node) ? pairsOf(node).map(({ key }) => key.value) : []),
    list(node, maxItems) {
      if (!yaml.isSeq(node)) return expected(node, "a list");
      if (node.items.length > maxItems) return expected(node, `at most ${maxItems} items, found ${node.items.length}`);
      // See `pairsOf`.
      return (node as YAMLSeq<Node>).items;
    },
    text(node, maxChars) {
      if (!yaml.isScalar(node) || typeof node.value !== "string") return expected(node, "a text; put it in quotes");
      if (node.value.length > maxChars) return expected(node, `a text of at most ${maxChars} characters`);
      return node.value;
    },
    integer(node, min, max) {
      const number = yaml.isScalar(node) ? node.value : undefined;
      if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
      return expected(node, `a whole number from ${min} to ${max}`);
    },
    value: (node) => node.toJS(document),
    finish,
  };
}

export function unknownKey(written: string, known: readonly string[]): string {
  const near = nearestName(written, known);
  const hint = near === undefined ? `known are ${known.join(", ")}` : `did you mean "${near}"?`;
  return `unknown key "${written}"; ${hint}`;
}
