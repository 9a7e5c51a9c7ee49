/** Renders a parsed template against data. Steps and output are bounded; a template reaches its data and nothing else. */
import { nearestName } from "#base";
import { isAbsent, isRecord } from "./arguments.ts";
import { percentEncoded } from "./builtins/url.ts";
import { jsonText } from "./json-data.ts";
import type { Command, Nodes, Operand, Pipe } from "./template-parser.ts";

const MAX_STEPS = 100_000;
const MAX_OUTPUT_CHARS = 1_000_000;
/** What Go prints for a key that a map does not have. */
const NO_VALUE = "<no value>";

type TemplateFunction = (...args: readonly unknown[]) => unknown;

export function renderTemplate(nodes: Nodes, data: unknown): string {
  return new Renderer(data).render(nodes);
}

/** Names a template may call. */
export const templateFunctions: Readonly<Record<string, TemplateFunction>> = {
  len: (x) => (typeof x === "string" || Array.isArray(x) ? x.length : isRecord(x) ? Object.keys(x).length : 0),
  upper: (x) => shown(x).toUpperCase(),
  lower: (x) => shown(x).toLowerCase(),
  trim: (x) => shown(x).trim(),
  json: (x) => jsonText(x),
  quote: (x) => JSON.stringify(shown(x)),
  html: (x) => shown(x).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`),
  urlquery: (x) => percentEncoded(shown(x)),
  join: (list, separator) => (Array.isArray(list) ? list.map(shown).join(shown(separator)) : shown(list)),
  default: (fallback, x) => (isTrue(x) ? x : fallback),
  index: (x, ...keys) => keys.reduce(part, x),
  eq: (a, ...others) => others.some((b) => same(a, b)),
  ne: (a, b) => !same(a, b),
  lt: (a, b) => compare(a, b) < 0,
  le: (a, b) => compare(a, b) <= 0,
  gt: (a, b) => compare(a, b) > 0,
  ge: (a, b) => compare(a, b) >= 0,
  not: (x) => !isTrue(x),
  and: (...all) => all.find((x) => !isTrue(x)) ?? all.at(-1),
  or: (...all) => all.find(isTrue) ?? all.at(-1),
};

class Renderer {
  private readonly root: unknown;
  private out = "";
  private steps = 0;

  constructor(root: unknown) {
    this.root = root;
  }

  render(nodes: Nodes): string {
    this.nodes(nodes, this.root, new Map());
    return this.out;
  }

  private step(): void {
    this.steps += 1;
    if (this.steps > MAX_STEPS) throw new Error(`the template takes more than ${MAX_STEPS} steps`);
  }

  private write(text: string): void {
    this.out += text;
    if (this.out.length > MAX_OUTPUT_CHARS) throw new Error(`the text has more than ${MAX_OUTPUT_CHARS} characters`);
  }

  private nodes(nodes: Nodes, dot: unknown, variables: ReadonlyMap<string, unknown>): void {
    for (const node of nodes) {
      this.step();
      if (node.kind === "text") {
        this.write(node.text);
        continue;
      }
      const value = this.pipe(node.pipe, dot, variables);
      if (node.kind === "output") this.write(shown(value));
      else if (node.kind === "range") this.range(node, value, dot, variables);
      else if (isTrue(value)) this.nodes(node.body, node.kind === "with" ? value : dot, variables);
      else this.nodes(node.otherwise, dot, variables);
    }
  }

  private range(
    node: { readonly variables: readonly string[]; readonly body: Nodes; readonly otherwise: Nodes },
    value: unknown,
    dot: unknown,
    variables: ReadonlyMap<string, unknown>,
  ): void {
    const entries = entriesOf(value);
    for (const [key, element] of entries) {
      const inner = new Map(variables);
      const last = node.variables.at(-1);
      if (last !== undefined) inner.set(last, element);
      if (node.variables.length > 1) inner.set(node.variables[0] ?? "", key);
      this.nodes(node.body, element, inner);
    }
    if (entries.length === 0) this.nodes(node.otherwise, dot, variables);
  }

  private pipe(pipe: Pipe, dot: unknown, variables: ReadonlyMap<string, unknown>): unknown {
    let value: unknown;
    pipe.forEach((command, index) => {
      value = this.command(command, dot, variables, index === 0 ? [] : [value]);
    });
    return value;
  }

  private command(
    command: Command,
    dot: unknown,
    variables: ReadonlyMap<string, unknown>,
    piped: readonly unknown[],
  ): unknown {
    this.step();
    const [first, ...rest] = command;
    if (first === undefined) return undefined;
    if (first.kind !== "function") {
      if (rest.length + piped.length > 0) throw new Error("the template calls something that is not a function");
      return this.operand(first, dot, variables);
    }
    const called = Object.hasOwn(templateFunctions, first.name) ? templateFunctions[first.name] : undefined;
    if (called === undefined) {
      const near = nearestName(first.name, Object.keys(templateFunctions));
      throw new Error(
        `templates have no function ${first.name}${near === undefined ? "" : ` (did you mean ${near}?)`}`,
      );
    }
    return called(...rest.map((operand) => this.operand(operand, dot, variables)), ...piped);
  }

  private operand(operand: Operand, dot: unknown, variables: ReadonlyMap<string, unknown>): unknown {
    switch (operand.kind) {
      case "literal":
        return operand.value;
      case "pipe":
        return this.pipe(operand.pipe, dot, variables);
      case "function":
        return this.command([operand], dot, variables, []);
      case "path": {
        const { root, fields } = operand;
        if (root !== "." && root !== "$" && !variables.has(root)) throw new Error(`the template has no ${root}`);
        const start = root === "." ? dot : root === "$" ? this.root : variables.get(root);
        return fields.reduce<unknown>(part, start);
      }
    }
  }
}

/** Own fields of data only. */
function part(x: unknown, key: unknown): unknown {
  if (Array.isArray(x) && typeof key === "number") return x[key];
  return isRecord(x) && typeof key === "string" && Object.hasOwn(x, key) ? x[key] : undefined;
}

function entriesOf(x: unknown): [unknown, unknown][] {
  if (Array.isArray(x)) return x.map((element, index) => [index, element]);
  if (isRecord(x)) return Object.entries(x).sort(([a], [b]) => (a < b ? -1 : 1));
  if (isAbsent(x)) return [];
  throw new Error("range needs a list or a dict");
}

function shown(x: unknown): string {
  if (x === undefined) return NO_VALUE;
  if (x === null) return "<nil>";
  if (typeof x === "string") return x;
  return typeof x === "number" || typeof x === "boolean" || typeof x === "bigint" ? String(x) : jsonText(x);
}

/** As Go has it: zero, empty and absent are false. */
function isTrue(x: unknown): boolean {
  if (Array.isArray(x)) return x.length > 0;
  return isRecord(x) ? Object.keys(x).length > 0 : Boolean(x);
}

function same(a: unknown, b: unknown): boolean {
  return a === b || (isAbsent(a) && isAbsent(b));
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : Number(a > b);
  throw new Error("lt, le, gt and ge compare two numbers or two strings");
}
