/** Eval cases: the tables of the file, and what the program uses of it. Which files there are, and running them, is elsewhere. */
import { defined } from "#base";
import { builtinToolNames } from "#tools";
import { checkedName } from "./artifact-name.ts";
import { assertionKinds, assertionType, duration, isInner, type PlacedAssertion } from "./eval-assertions.ts";
import { hookType } from "./hook-table.ts";
import { MAX_OUTPUT_TOKENS } from "./model-table.ts";
import type { HookArtifact, PolicyPattern, SourceLocation, ToolArtifact } from "./project.ts";
import {
  choice,
  defineTable,
  error,
  type FieldType,
  field,
  forms,
  integer,
  list,
  nearestTo,
  nested,
  type Placed,
  placed,
  type Reader,
  readTable,
  required,
  type Table,
  text,
  words,
  wrongValue,
} from "./schema.ts";
import type { PermissionRule } from "./settings.ts";
import { toolType } from "./tool-table.ts";
import type { MapTree, Tree } from "./yaml-tree.ts";

const MAX_TURNS = 100;
const MAX_ASSERTIONS = 200;
const MAX_PARTS = 100;
const MAX_FILES = 200;
const MAX_RULES = 100;
const MAX_CONTEXT_VALUES = 100;

export interface EvalCase {
  readonly name: string;
  readonly place: SourceLocation;
  readonly description?: string;
  readonly category?: string;
  readonly model?: Placed<string>;
  /** Cap on the output of each model call. */
  readonly maxTokens?: number;
  /** Of each turn. */
  readonly timeoutMs?: number;
  readonly setup: EvalSetup;
  /** What the user says, in order. */
  readonly turns: readonly string[];
  readonly grade: readonly PlacedAssertion[];
}

export interface EvalSetup {
  readonly systemPrompt?: string;
  readonly tools: readonly ToolArtifact[];
  /** Tools of the program that are there besides. */
  readonly builtinTools: readonly PolicyPattern[];
  readonly hooks: readonly HookArtifact[];
  /** A project file instead of tools and hooks. */
  readonly config?: Placed<string>;
  readonly files: readonly SetupFile[];
  readonly scenario?: Scenario;
  readonly rules: readonly PermissionRule[];
  readonly context: Readonly<Record<string, string | number | boolean>>;
}

export interface SetupFile {
  /** Relative to the workspace. */
  readonly path: string;
  readonly place: SourceLocation;
  /** What is in it, or the file or folder to copy, from the case. */
  readonly content: { readonly text: string } | { readonly from: string };
}

/** A file beside the case, or a table in it. */
export type Scenario =
  | { readonly file: string; readonly place: SourceLocation }
  /** Where the table begins; the lines of the case from there on are the text. */
  | { readonly inline: true; readonly place: SourceLocation };

const fromTable = defineTable("Copied file", "A file or folder that Harness copies into the workspace.").of({
  from: required(words("a path, from the case")).means("The file or folder to copy."),
});

const files: FieldType<readonly SetupFile[]> = {
  shown: "a table of paths",
  tables: [fromTable],
  read(tree, reader) {
    if (tree.kind !== "map") return reader.report(wrongValue(tree, "a table: `path: text`, or `path: { from: file }`"));
    if (tree.entries.length > MAX_FILES) {
      return reader.report(
        error("wrong-length", tree.place, `A case has at most ${MAX_FILES} files. Copy a folder instead.`),
      );
    }
    return tree.entries.flatMap(({ key, keyPlace, value }): SetupFile[] => {
      if (!isInner(key)) {
        const message = `"${key.slice(0, 80)}" is not a path in the workspace.`;
        reader.report(error("bad-path", keyPlace, message, { expected: "a relative path without `..`" }));
        return [];
      }
      const content = readContent(value, reader);
      return content === undefined ? [] : [{ path: key, place: keyPlace, content }];
    });
  },
};

function readContent(tree: Tree, reader: Reader): SetupFile["content"] | undefined {
  if (tree.kind === "map") {
    const { values } = readTable(fromTable, tree, reader);
    return values.from === undefined ? undefined : { from: values.from };
  }
  const written = text("text, or `{ from: file }`").read(tree, reader);
  return written === undefined ? undefined : { text: written };
}

const scenario = forms<Scenario>("a scenario, or the path of a file with one, from the case", [], (tree) => {
  if (tree.kind === "map") return readInlineScenario;
  return tree.kind === "scalar" && typeof tree.value === "string" && tree.value.trim() !== ""
    ? ({ place }) => ({ file: String(tree.value), place })
    : undefined;
});

function readInlineScenario(tree: Tree, reader: Reader): Scenario | undefined {
  const [first] = tree.kind === "map" ? tree.entries : [];
  if (first !== undefined && first.keyPlace.column === tree.place.column && first.keyPlace.line === tree.place.line) {
    return { inline: true, place: tree.place };
  }
  return reader.report(wrongValue(tree, "a scenario with one key per line, or the path of a file with one"));
}

const context: FieldType<EvalSetup["context"]> = {
  shown: "a table of plain values",
  read(tree, reader) {
    if (tree.kind !== "map" || tree.entries.length > MAX_CONTEXT_VALUES) {
      return reader.report(wrongValue(tree, `a table with at most ${MAX_CONTEXT_VALUES} plain values`));
    }
    const values: Record<string, string | number | boolean> = {};
    for (const { key, value } of tree.entries) {
      if (value.kind === "scalar" && value.value !== null) values[key] = value.value;
      else reader.report(wrongValue(value, "a text, a number, true or false"));
    }
    return values;
  },
};

const tool = forms<ToolArtifact | PolicyPattern>("a tool, or the name of a built-in one", [], (tree) => {
  if (tree.kind === "map") return (given, reader) => toolType.read(given, reader);
  return tree.kind === "scalar" && typeof tree.value === "string" ? readBuiltin : undefined;
});

function readBuiltin(tree: Tree, reader: Reader): PolicyPattern | undefined {
  const name = tree.kind === "scalar" ? String(tree.value) : "";
  if (builtinToolNames.includes(name)) return { pattern: name, place: tree.place };
  const near = nearestTo(name, builtinToolNames);
  return reader.report({ ...wrongValue(tree, "a tool, or the name of a built-in one"), code: "unknown-tool", ...near });
}

const rules = list(placed(words("a permission rule")), { max: MAX_RULES });

const setupTable = defineTable(
  "Setup",
  "What the case starts with. Use `config` to test the whole agent, or `tools` and `hooks` to test single tools and hooks; `config` cannot be combined with the other two.",
).of({
  system_prompt: field(text()).means("Replaces the built-in system prompt."),
  tools: field(list(tool, { max: MAX_PARTS }), "none").means(
    "The only tools that the model sees. Each entry is a definition as in a project file ([Tool](artifacts.md#tool)), or the name of a [built-in tool](tools.md).",
  ),
  hooks: field(list(hookType, { max: MAX_PARTS })).means(
    "Hooks, defined as in a project file ([Hook](artifacts.md#hook)). `priority` is optional here.",
  ),
  config: field(placed(words("a path"))).means(
    "A project file. Harness looks for it in the folder of the case, then in the folders above. You must have acked the files of the project (`harness ack`), as for a run.",
  ),
  files: field(files, "an empty workspace").means(
    "Files to put into the workspace: `path: text`, or `path: { from: file or folder }`.",
  ),
  scenario: field(scenario).means(
    "A scripted model plays this [scenario](scenarios.md). It needs no key, costs nothing and always gives the same answers.",
  ),
  allow: field(rules).means(
    "[Permission rules](permissions.md) for calls that may run. In an eval, nobody can answer a permission request.",
  ),
  deny: field(rules).means("Permission rules for calls that Harness refuses."),
  context: field(context).means("Values that conditions and scripts read through `ctx`."),
});

const setup: FieldType<EvalSetup> = nested(setupTable, ({ values, at }, reader) => {
  const { config, tools: written = [], hooks = [] } = values;
  const tools = written.filter((one): one is ToolArtifact => "kind" in one);
  if (config !== undefined && (written.length > 0 || hooks.length > 0)) {
    const key = written.length > 0 ? "tools" : "hooks";
    reader.report(error("excluded", at(key), `\`config\` and \`${key}\` cannot be combined: remove one of them.`));
  }
  for (const parts of [tools, hooks]) reportTwins(parts, reader);
  const rulesOf = (effect: "allow" | "deny", of: readonly Placed<string>[] = []): PermissionRule[] =>
    of.map(({ value, place }) => ({ effect, rule: value, source: `${place.file}:${place.line}` }));
  return {
    tools,
    builtinTools: written.filter((one): one is PolicyPattern => "pattern" in one),
    hooks,
    files: values.files ?? [],
    rules: [...rulesOf("allow", values.allow), ...rulesOf("deny", values.deny)],
    context: values.context ?? {},
    ...defined({ systemPrompt: values.system_prompt, config, scenario: values.scenario }),
  };
});

function reportTwins(parts: readonly (ToolArtifact | HookArtifact)[], reader: Reader): void {
  for (const [index, { kind, name, place }] of parts.entries()) {
    const first = parts.findIndex((part) => part.name === name);
    if (first === index) continue;
    const line = parts[first]?.place.line;
    reader.report(error("duplicate-name", place, `There is another ${kind} "${name}" on line ${line}.`));
  }
}

const turnTable = defineTable(
  "Turn",
  "One message of the user. All turns run in the same session, one after the other.",
).of({
  role: field(choice("user"), "`user`").means("The sender."),
  content: required(words("text")).means("The text of the message."),
});

const turn: FieldType<string> = nested(turnTable, ({ values }) => values.content);

const caseTable = defineTable("Case", "A YAML file. The case passes if all of its assertions hold.").of({
  name: required(words("a name")).means("The name of the case, for reports and for `--case`. Unique in a suite."),
  description: field(text()).means("What the case tests. The report shows it."),
  category: field(words()).means("The group of the case, for `--category`."),
  model: field(
    placed(words("`provider:name`, or a model name that only one provider has")),
    "the project's model, otherwise as for a run",
  ).means("The model. `--model` and a scenario take precedence."),
  max_tokens: field(integer(1, MAX_OUTPUT_TOKENS)).means("The largest number of output tokens of each model call."),
  timeout: field(duration, "`120s`").means(
    "The time limit for one turn. A turn that takes longer is cancelled, and the case fails.",
  ),
  setup: field(setup).means("What the case starts with."),
  turns: required(list(turn, { min: 1, max: MAX_TURNS })).means("The messages of the user, in order."),
  grade: required(list(assertionType, { min: 1, max: MAX_ASSERTIONS })).means(
    "The assertions that must hold after the last turn.",
  ),
});

/** In the order in which they are documented. */
export const evalTables: readonly Table[] = [
  caseTable,
  setupTable,
  fromTable,
  turnTable,
  ...Object.values(assertionKinds).map(({ table }) => table),
];

const noSetup: EvalSetup = { tools: [], builtinTools: [], hooks: [], files: [], rules: [], context: {} };

/** Undefined when it has no usable name; what else is wrong is reported. */
export function readCase(tree: MapTree, reader: Reader): EvalCase | undefined {
  const { values, at, place } = readTable(caseTable, tree, reader);
  const name = values.name === undefined ? undefined : checkedName(values.name, at("name"), reader);
  if (name === undefined) return undefined;
  return {
    name,
    place,
    setup: values.setup ?? noSetup,
    turns: values.turns ?? [],
    grade: values.grade ?? [],
    ...defined({ description: values.description?.trim() }),
    ...defined({
      category: values.category,
      model: values.model,
      maxTokens: values.max_tokens,
      timeoutMs: values.timeout,
    }),
  };
}
