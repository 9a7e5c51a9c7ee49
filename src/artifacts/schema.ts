/**
 * Tables of fields, and the one reader that checks a tree against them. A table is at once the check, the type of what is
 * read, and the documentation: docs/reference/artifacts.md is generated from it.
 */
import { defined, nearestName } from "#base";
import type { Problem, ScriptSource, SourceLocation, Tier } from "./project.ts";
import type { MapTree, Tree } from "./yaml-tree.ts";

/** What reading a file collects, and what every artifact in it is stamped with. */
export interface Reader {
  readonly file: string;
  /** SHA-256 of the file, hex. */
  readonly hash: string;
  readonly tier: Tier;
  /** Gives undefined, which is what a value that is wrong is read as. */
  report(problem: Problem): undefined;
}

/** A kind of value. `read` reports what is wrong and then gives undefined; it never throws. */
export interface FieldType<Value> {
  /** For people: "integer from 0 to 20". */
  readonly shown: string;
  /** What it consists of, when that has a table of its own. */
  readonly tables?: readonly Table[];
  read(tree: Tree, reader: Reader): Value | undefined;
}

export interface Field<Value = unknown> {
  readonly type: FieldType<Value>;
  readonly meaning: string;
  readonly required?: true;
  /** As people write it; absent: nothing. */
  readonly default?: string;
}

export interface Table<Fields extends FieldMap = FieldMap> {
  /** The heading in the documentation, and the word in messages. */
  readonly title: string;
  readonly about: string;
  readonly fields: Fields;
}

export type FieldMap = Readonly<Record<string, Field>>;

export type ValuesOf<Fields extends FieldMap> = {
  readonly [Key in keyof Fields]?: Fields[Key] extends Field<infer Value> ? Value : never;
};

export interface TableValues<Fields extends FieldMap> {
  readonly values: ValuesOf<Fields>;
  /** Of the value; of the whole where the field is not written. */
  at(key: keyof Fields & string): SourceLocation;
  readonly place: SourceLocation;
}

/** A field that may be left out; `unset` is what holds then, as people write it. */
export function field<Value>(type: FieldType<Value>, unset?: string) {
  return { means: (meaning: string): Field<Value> => ({ type, meaning, ...defined({ default: unset }) }) };
}

export function required<Value>(type: FieldType<Value>) {
  return { means: (meaning: string) => ({ type, meaning, required: true }) as const };
}

/** `of` keeps the types of the fields: without it they would all be `Field<unknown>`. */
export function defineTable(title: string, about: string) {
  return { of: <const Fields extends FieldMap>(fields: Fields): Table<Fields> => ({ title, about, fields }) };
}

/** Unknown keys warn, wrong values and missing required ones are errors. A field that was wrong is absent. */
export function readTable<Fields extends FieldMap>(
  { title, fields }: Table<Fields>,
  tree: MapTree,
  reader: Reader,
): TableValues<Fields> {
  const values: Record<string, unknown> = {};
  const places = new Map<string, SourceLocation>();
  for (const { key, keyPlace, value } of tree.entries) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field === undefined) {
      reader.report(unknownKey(title, key, keyPlace, Object.keys(fields)));
      continue;
    }
    places.set(key, value.place);
    // `key:` with nothing after it is the same as leaving it out.
    if (value.kind === "scalar" && value.value === null) continue;
    const read = field.type.read(value, { ...reader, report: (problem) => reader.report(underKey(key, problem)) });
    if (read !== undefined) values[key] = read;
  }
  for (const [key, field] of Object.entries(fields)) {
    const written = tree.entries.some((entry) => entry.key === key && !isNothing(entry.value));
    if (field.required && !written) {
      const expected = field.type.shown;
      const message = `${title}: "${key}" is missing.`;
      reader.report({
        severity: "error",
        code: "missing-key",
        place: places.get(key) ?? tree.place,
        message,
        expected,
      });
    }
  }
  // Each value came out of the reader of its own field.
  return { values: values as ValuesOf<Fields>, at: (key) => places.get(key) ?? tree.place, place: tree.place };
}

/** A wrong value is told with its key, and with those of the tables around it. */
function underKey(key: string, problem: Problem): Problem {
  if (!problem.code.startsWith("wrong-")) return problem;
  const inner = problem.key === undefined ? ": " : ".";
  return {
    ...problem,
    key: problem.key === undefined ? key : `${key}.${problem.key}`,
    message: key + inner + problem.message,
  };
}

export function error(
  code: string,
  place: SourceLocation,
  message: string,
  more: Pick<Problem, "expected" | "nearest"> = {},
): Problem {
  return { severity: "error", code, place, message, ...more };
}

export function warning(
  code: string,
  place: SourceLocation,
  message: string,
  more: Pick<Problem, "expected" | "nearest"> = {},
): Problem {
  return { severity: "warning", code, place, message, ...more };
}

/** `{ nearest }` when there is one, for spreading into a problem. */
export function nearestTo(written: string, known: Iterable<string>): { readonly nearest?: string } {
  const nearest = nearestName(written, known);
  return nearest === undefined ? {} : { nearest };
}

export function wrongValue(tree: Tree, expected: string): Problem {
  return error("wrong-value", tree.place, `${describe(tree)} is not valid here.`, { expected });
}

export const text = (shown = "text"): FieldType<string> =>
  scalar(shown, (value) => (typeof value === "string" ? value : undefined));

/** Text with something in it. */
export const words = (shown = "text"): FieldType<string> =>
  scalar(shown, (value) => (typeof value === "string" && value.trim() !== "" ? value : undefined));

export const flag: FieldType<boolean> = scalar("true or false", (value) =>
  typeof value === "boolean" ? value : undefined,
);

export const integer = (min: number, max: number): FieldType<number> =>
  scalar(`integer from ${min} to ${max}`, (value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined,
  );

export const number = (min: number, max: number): FieldType<number> =>
  scalar(`number from ${min} to ${max}`, (value) =>
    typeof value === "number" && value >= min && value <= max ? value : undefined,
  );

/** Any number that has an end. */
export const positive: FieldType<number> = scalar("number above 0", (value) =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined,
);

export const amount: FieldType<number> = scalar("number from 0", (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined,
);

/** A text that `isFit`. */
export const textThat = (shown: string, isFit: (value: string) => boolean): FieldType<string> =>
  scalar(shown, (value) => (typeof value === "string" && isFit(value) ? value : undefined));

/** A table whose keys are names of the user's choice. */
export function byName<Value>(
  of: FieldType<Value>,
  names: string,
  isName: (name: string) => boolean = () => true,
): FieldType<Readonly<Record<string, Value>>> {
  const shown = `table by ${names}, each ${of.shown}`;
  return {
    shown,
    ...defined({ tables: of.tables }),
    read(tree, reader) {
      if (tree.kind !== "map") return reader.report(wrongValue(tree, shown));
      const read = tree.entries.map(({ key, keyPlace, value }): [string, Value | undefined] => {
        if (!isName(key))
          reader.report(error("wrong-value", keyPlace, `"${key}" is not valid here.`, { expected: names }));
        return [key, of.read(value, reader)];
      });
      // What could not be read was reported.
      return Object.fromEntries(read.filter((entry): entry is [string, Value] => entry[1] !== undefined));
    },
  };
}

/** One of a few words; a misspelled one is told the nearest. */
export function choice<const Word extends string>(...of: readonly Word[]): FieldType<Word> {
  const shown = of.map((word) => `\`${word}\``).join(" or ");
  return {
    shown,
    read(tree, reader) {
      const found = of.find((word) => tree.kind === "scalar" && tree.value === word);
      if (found !== undefined) return found;
      const near = tree.kind === "scalar" ? nearestTo(String(tree.value), of) : {};
      return reader.report({ ...wrongValue(tree, shown), ...near });
    },
  };
}

export function list<Value>(
  of: FieldType<Value>,
  bounds: { readonly min?: number; readonly max: number },
): FieldType<readonly Value[]> {
  const shown = `list, each ${of.shown}`;
  return {
    shown,
    ...defined({ tables: of.tables }),
    read(tree, reader) {
      if (tree.kind !== "list") return reader.report(wrongValue(tree, shown));
      if (tree.items.length > bounds.max || tree.items.length < (bounds.min ?? 0)) {
        const expected = `${bounds.min ?? 0} to ${bounds.max} entries`;
        return reader.report(
          error("wrong-length", tree.place, `There are ${tree.items.length} entries.`, { expected }),
        );
      }
      return tree.items.map((item) => of.read(item, reader)).filter((item) => item !== undefined);
    },
  };
}

/** Several forms of one value, told apart by what is written. `choose` gives undefined for what is none of them. */
export function forms<Value>(
  shown: string,
  tables: readonly Table[],
  choose: (tree: Tree) => ((tree: Tree, reader: Reader) => Value | undefined) | undefined,
): FieldType<Value> {
  return {
    shown,
    tables,
    read(tree, reader) {
      const read = choose(tree);
      if (read !== undefined) return read(tree, reader);
      return reader.report(wrongValue(tree, shown));
    },
  };
}

/** A table inside a table, made into what the program uses. */
export function nested<Fields extends FieldMap, Value>(
  table: Table<Fields>,
  make: (read: TableValues<Fields>, reader: Reader, tree: MapTree) => Value | undefined,
): FieldType<Value> {
  return forms("a table", [table], (tree) =>
    tree.kind === "map" ? (_, reader) => make(readTable(table, tree, reader), reader, tree) : undefined,
  );
}

export interface Placed<Value> {
  readonly value: Value;
  readonly place: SourceLocation;
}

export function placed<Value>(of: FieldType<Value>): FieldType<Placed<Value>> {
  return {
    ...of,
    read(tree, reader) {
      const value = of.read(tree, reader);
      return value === undefined ? undefined : { value, place: tree.place };
    },
  };
}

/** Starlark with the place of its first character. */
export const script: FieldType<ScriptSource> = {
  shown: "Starlark",
  read(tree, reader) {
    if (tree.kind !== "scalar" || typeof tree.value !== "string") {
      return reader.report(wrongValue(tree, "Starlark, as a literal block after `|`"));
    }
    if (tree.value.trim() === "") return reader.report(error("empty-script", tree.place, "The script is empty."));
    if (!tree.linesHold) {
      const message =
        "YAML joins these lines, so line numbers in messages about the script are not exact. Write the script as a literal block.";
      reader.report(warning("script-style", tree.place, message, { expected: "a literal block after `|`" }));
    }
    return { text: tree.value, place: tree.textPlace };
  },
};

/** Any data; `null` stays null. */
export const data: FieldType<unknown> = {
  shown: "any value",
  read: plainValue,
};

export function plainValue(tree: Tree): unknown {
  switch (tree.kind) {
    case "scalar":
      return tree.value;
    case "list":
      return tree.items.map(plainValue);
    case "map":
      return Object.fromEntries(tree.entries.map(({ key, value }) => [key, plainValue(value)]));
  }
}

export function unknownKey(title: string, key: string, place: SourceLocation, known: readonly string[]): Problem {
  const near = nearestTo(key, known);
  return warning("unknown-key", place, `${title}: the key "${key}" is unknown and has no effect.`, near);
}

function scalar<Value>(
  shown: string,
  accept: (value: string | number | boolean | null) => Value | undefined,
): FieldType<Value> {
  return {
    shown,
    read(tree, reader) {
      const value = tree.kind === "scalar" ? accept(tree.value) : undefined;
      if (value === undefined) reader.report(wrongValue(tree, shown));
      return value;
    },
  };
}

function isNothing(tree: Tree): boolean {
  return tree.kind === "scalar" && tree.value === null;
}

function describe(tree: Tree): string {
  if (tree.kind !== "scalar") return tree.kind === "list" ? "A list" : "A table";
  if (tree.value === null) return "Nothing";
  const shown = JSON.stringify(tree.value);
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown;
}
