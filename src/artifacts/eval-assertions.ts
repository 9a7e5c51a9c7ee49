/** What an eval can assert: one table for each type, which checks it and documents it. */
import { defined } from "#base";
import type { SourceLocation } from "./project.ts";
import {
  choice,
  defineTable,
  error,
  type FieldMap,
  type FieldType,
  field,
  nearestTo,
  plainValue,
  type Reader,
  readTable,
  required,
  type Table,
  text,
  words,
  wrongValue,
} from "./schema.ts";
import type { MapTree, Tree } from "./yaml-tree.ts";

const MAX_TOKENS = 1_000_000_000;
const MAX_USD = 1_000_000;
const MAX_DEPTH = 100;
const MAX_DURATION_MS = 24 * 60 * 60 * 1000;
const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

export type Assertion =
  | { readonly type: "response_contains" | "response_not_contains"; readonly value: string }
  | { readonly type: "tool_called" | "tool_not_called"; readonly tool: string }
  | { readonly type: "hook_blocked" | "hook_not_blocked"; readonly hook: string }
  | { readonly type: "no_errors" }
  | { readonly type: "completed_within"; readonly withinMs: number }
  | { readonly type: "tokens_under"; readonly tokens: number }
  | { readonly type: "delegation_depth"; readonly depth: number }
  | {
      readonly type: "event_emitted";
      readonly event: string;
      /** Fields that the payload must have, with these values. */
      readonly payload: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "file_exists"; readonly path: string }
  | { readonly type: "file_contains"; readonly path: string; readonly value: string }
  | { readonly type: "json_schema"; readonly schema: Readonly<Record<string, unknown>> | { readonly file: string } }
  | { readonly type: "cost_under"; readonly usd: number }
  | { readonly type: "verified"; readonly agent?: string };

export type AssertionType = Assertion["type"];

export interface PlacedAssertion {
  readonly assertion: Assertion;
  /** As a person would say it: `tool_called read_file`. */
  readonly label: string;
  readonly place: SourceLocation;
}

export const duration: FieldType<number> = {
  shown: "a time such as `500ms`, `15s` or `2m`",
  read(tree, reader) {
    const [, amount, unit] =
      (tree.kind === "scalar" && /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(String(tree.value).trim())) || [];
    const ms = Number(amount) * (UNIT_MS[unit as keyof typeof UNIT_MS] ?? Number.NaN);
    if (ms > 0 && ms <= MAX_DURATION_MS) return ms;
    return reader.report(wrongValue(tree, `${this.shown}, at most 24h`));
  },
};

/** Numbers may stand in quotes. */
function limit(shown: string, max: number, isWhole: boolean): FieldType<number> {
  return {
    shown,
    read(tree, reader) {
      const written = tree.kind === "scalar" && /^\d+(?:\.\d+)?$/.test(String(tree.value).trim()) ? tree.value : "";
      const number = written === "" ? Number.NaN : Number(written);
      if (number >= 0 && number <= max && (!isWhole || Number.isSafeInteger(number))) return number;
      return reader.report(wrongValue(tree, shown));
    },
  };
}

/** A path inside the workspace of the case. */
export const workspacePath: FieldType<string> = {
  shown: "a path in the workspace",
  read(tree, reader) {
    const written = words(this.shown).read(tree, reader);
    if (written === undefined || isInner(written)) return written;
    return reader.report(wrongValue(tree, "a path in the workspace, without `..`"));
  },
};

export function isInner(path: string): boolean {
  return !/^[/\\]|^[A-Za-z]:|[\0\\]/.test(path) && !path.split("/").includes("..") && path !== ".";
}

const record: FieldType<Readonly<Record<string, unknown>>> = {
  shown: "a table",
  read(tree, reader) {
    if (tree.kind === "map") return Object.fromEntries(tree.entries.map(({ key, value }) => [key, plainValue(value)]));
    return reader.report(wrongValue(tree, this.shown));
  },
};

const schema: FieldType<Extract<Assertion, { type: "json_schema" }>["schema"]> = {
  shown: "a JSON Schema, or the path of a file with one, from the case",
  read(tree, reader) {
    if (tree.kind === "map") return record.read(tree, reader);
    const file = words(this.shown).read(tree, reader);
    return file === undefined ? undefined : { file };
  },
};

interface AssertionKind {
  readonly table: Table;
  /** The word after the type in reports. */
  readonly about?: string;
  read(tree: MapTree, reader: Reader): Assertion | undefined;
}

/** `make` is called when every required field is there and right. */
function kind<const Fields extends FieldMap>(
  type: AssertionType,
  about: string,
  fields: Fields,
  make: (values: Complete<Fields>) => Assertion,
): AssertionKind {
  const typeField = required(choice(type)).means(`\`${type}\`.`);
  const table = defineTable(type, about).of({ type: typeField, ...fields });
  return {
    table,
    read(tree, reader) {
      const { values } = readTable<FieldMap>(table, tree, reader);
      const isComplete = Object.entries(fields).every(([key, field]) => !field.required || values[key] !== undefined);
      // Each value came out of the reader of its own field.
      return isComplete ? make(values as Complete<Fields>) : undefined;
    },
  };
}

type Complete<Fields extends FieldMap> = {
  readonly [Key in keyof Fields]: Fields[Key]["type"] extends FieldType<infer Value>
    ? Fields[Key] extends { readonly required: true }
      ? Value
      : Value | undefined
    : never;
};

const substring = {
  value: required(text()).means(
    "The text, case-sensitive. Because logs contain no secrets, a secret in this text matches any secret of the same kind.",
  ),
} as const;
const tool = {
  tool: required(words("the name of a tool")).means("The canonical name of the tool, or its label."),
} as const;
const hook = {
  value: required(words("the name of a hook")).means("The name of a hook of the setup or the project."),
} as const;
const path = {
  path: required(workspacePath).means("The path, relative to the workspace."),
} as const;

export const assertionKinds: Readonly<Record<AssertionType, AssertionKind>> = {
  response_contains: kind("response_contains", "The final response contains this text.", substring, ({ value }) => {
    return { type: "response_contains", value };
  }),
  response_not_contains: kind(
    "response_not_contains",
    "The final response does not contain this text.",
    substring,
    ({ value }) => {
      return { type: "response_not_contains", value };
    },
  ),
  tool_called: kind(
    "tool_called",
    "The agent called the tool at least once. A call that was blocked or denied also counts.",
    tool,
    (values) => ({ type: "tool_called", tool: values.tool }),
  ),
  tool_not_called: kind(
    "tool_not_called",
    "The agent did not call the tool, not even with a call that was blocked or denied.",
    tool,
    (values) => {
      return { type: "tool_not_called", tool: values.tool };
    },
  ),
  hook_blocked: kind("hook_blocked", "The hook returned `block` at least once.", hook, ({ value }) => {
    return { type: "hook_blocked", hook: value };
  }),
  hook_not_blocked: kind(
    "hook_not_blocked",
    "The hook never returned `block`, and it never blocked because of a failure.",
    hook,
    ({ value }) => ({ type: "hook_not_blocked", hook: value }),
  ),
  no_errors: kind(
    "no_errors",
    "No tool call returned an error (a denied call is an error), and every turn ended with an answer.",
    {},
    () => ({ type: "no_errors" }),
  ),
  completed_within: kind(
    "completed_within",
    "All turns together took at most this time. In a replay, the times of the recording count.",
    { value: required(duration).means("The limit.") },
    ({ value }) => ({ type: "completed_within", withinMs: value }),
  ),
  tokens_under: kind(
    "tokens_under",
    "All model calls together used fewer tokens than this. Input, output, cached tokens and the tokens of delegates count.",
    { value: required(limit("a whole number", MAX_TOKENS, true)).means("The limit.") },
    ({ value }) => ({ type: "tokens_under", tokens: value }),
  ),
  delegation_depth: kind(
    "delegation_depth",
    "Delegates were nested at most this deep. Without a delegate the depth is 0.",
    {
      value: required(limit("a whole number", MAX_DEPTH, true)).means("The largest allowed depth."),
    },
    ({ value }) => ({ type: "delegation_depth", depth: value }),
  ),
  event_emitted: kind(
    "event_emitted",
    "The log contains the event: an event of the [protocol](protocol.md#events), or one that a script emitted.",
    {
      event: required(words("the name of an event")).means("For example `PermissionRequested` or `custom.deployed`."),
      payload: field(record).means("Fields and values that the payload must contain. It may contain more."),
    },
    ({ event, payload = {} }) => ({ type: "event_emitted", event, payload }),
  ),
  file_exists: kind(
    "file_exists",
    "The workspace contains this file or folder after the last turn.",
    path,
    (values) => {
      return { type: "file_exists", path: values.path };
    },
  ),
  file_contains: kind(
    "file_contains",
    "This file of the workspace contains this text after the last turn.",
    { ...path, ...substring },
    (values) => ({ type: "file_contains", path: values.path, value: values.value }),
  ),
  json_schema: kind(
    "json_schema",
    "The final response is JSON that matches a JSON Schema (draft 2020-12). A code fence around the JSON is allowed.",
    { schema: required(schema).means("The schema.") },
    (values) => ({ type: "json_schema", schema: values.schema }),
  ),
  cost_under: kind(
    "cost_under",
    "All model calls together cost less than this. The assertion fails if the price of a model is unknown.",
    { value: required(limit("a number of US dollars", MAX_USD, false)).means("The limit.") },
    ({ value }) => ({ type: "cost_under", usd: value }),
  ),
  verified: kind(
    "verified",
    "The agent delegated work, and in the end the verifiers accepted the result of every delegate.",
    {
      agent: field(words("the name of an agent"), "all").means("Checks only the delegates with this agent name."),
    },
    ({ agent }) => ({ type: "verified", ...defined({ agent }) }),
  ),
};

export const assertionType: FieldType<PlacedAssertion> = {
  shown: "an assertion",
  tables: Object.values(assertionKinds).map(({ table }) => table),
  read(tree, reader) {
    if (tree.kind !== "map") return reader.report(wrongValue(tree, "a table with `type`"));
    const written = tree.entries.find(({ key }) => key === "type")?.value;
    if (written === undefined) {
      return reader.report(
        error("missing-key", tree.place, 'Assertion: "type" is missing.', { expected: someTypes() }),
      );
    }
    const found = kindOf(written);
    if (found === undefined) {
      const near = written.kind === "scalar" ? nearestTo(String(written.value), Object.keys(assertionKinds)) : {};
      return reader.report({ ...wrongValue(written, someTypes()), code: "unknown-assertion", ...near });
    }
    const assertion = found.read(tree, reader);
    return assertion && { assertion, label: labelOf(assertion), place: tree.place };
  },
};

function kindOf(tree: Tree): AssertionKind | undefined {
  const name = tree.kind === "scalar" ? String(tree.value) : "";
  return Object.hasOwn(assertionKinds, name) ? assertionKinds[name as AssertionType] : undefined;
}

function someTypes(): string {
  return `one of ${Object.keys(assertionKinds).join(", ")}`;
}

/** Whole: whoever shows it redacts it before it is cut. */
function labelOf(assertion: Assertion): string {
  const { type, ...values } = assertion;
  const about = Object.entries(values).flatMap(([key, value]): string[] => {
    if (key === "withinMs") return [`${value}ms`];
    return typeof value === "string" || typeof value === "number" ? [String(value).replaceAll(/\s+/g, " ")] : [];
  });
  return [type, ...about].join(" ");
}
