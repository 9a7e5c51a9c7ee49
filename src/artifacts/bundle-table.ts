/** Bundles: text for the prompt, and tools and hooks that come with it, in `.harness/{plugins,builtins,overrides}`. */
import { defined } from "#base";
import { checkedName } from "./artifact-name.ts";
import { hookType } from "./hook-table.ts";
import type { BundleArtifact, BundleType, HookArtifact, ToolArtifact } from "./project.ts";
import {
  choice,
  defineTable,
  field,
  integer,
  list,
  type Reader,
  script,
  type TableValues,
  text,
  warning,
  words,
} from "./schema.ts";
import { type FileGiven, toolType } from "./tool-table.ts";

const MAX_TAGS = 50;
const MAX_INLINE = 200;
const MAX_BUNDLE_PRIORITY = 10_000;

/** Where a bundle of a type comes in the prompt: higher is later. */
export const bundlePriorities: Readonly<Record<BundleType, number>> = {
  plugin: 40,
  builtin: 60,
  harness: 80,
  override: 100,
};

export const bundleTable = defineTable(
  "Bundle",
  "A file in `.harness/plugins`, `.harness/builtins` or `.harness/overrides`. Harness adds the body to the prompt in turns where `condition` is true.",
).of({
  name: field(words("a name"), "the file name").means("The name of the bundle."),
  type: field(choice("plugin", "builtin", "harness", "override"), "from the folder").means(
    "The type of the bundle. `harness` is the identity of the agent; a project has only one.",
  ),
  version: field(text()).means("For readers; no effect."),
  description: field(text()).means("For readers; no effect."),
  tags: field(list(words("a tag"), { max: MAX_TAGS }), "none").means("For readers; no effect."),
  priority: field(
    integer(-MAX_BUNDLE_PRIORITY, MAX_BUNDLE_PRIORITY),
    Object.entries(bundlePriorities)
      .map(([type, priority]) => `${type} \`${priority}\``)
      .join(", "),
  ).means("Position in the prompt: a bundle with a higher number comes later."),
  condition: field(script, "always").means(
    "A Starlark expression over `ctx`. The body, tools and hooks of the bundle are active only in turns where it is true.",
  ),
  tools: field(list(toolType, { max: MAX_INLINE }), "none").means("Tools of the bundle, each with a `name`."),
  hooks: field(list(hookType, { max: MAX_INLINE }), "none").means(
    "Hooks of the bundle, each with a `name` or `handler`.",
  ),
});

export interface WrittenBundle {
  readonly bundle: BundleArtifact;
  readonly tools: readonly ToolArtifact[];
  readonly hooks: readonly HookArtifact[];
}

/** Undefined when it has no usable name. */
export function makeBundle(
  { values, at, place }: TableValues<typeof bundleTable.fields>,
  reader: Reader,
  given: FileGiven & { readonly folderType: BundleType },
): WrittenBundle | undefined {
  const name = checkedName(values.name ?? given.name, values.name === undefined ? place : at("name"), reader);
  if (name === undefined) return undefined;
  const { type = given.folderType, condition } = values;
  if (type !== given.folderType && type !== "harness") {
    const message = `This folder is for bundles of type "${given.folderType}", and this one has type "${type}". It is used anyway.`;
    reader.report(warning("other-folder", at("type"), message, { expected: given.folderType }));
  }
  const version = values.version;
  const owned = { bundle: name, ...defined({ condition }) };
  return {
    bundle: {
      kind: "bundle",
      name,
      place,
      hash: reader.hash,
      tier: reader.tier,
      type,
      priority: values.priority ?? bundlePriorities[type],
      tags: values.tags ?? [],
      body: given.body,
      ...defined({ version, description: values.description, condition }),
    },
    tools: (values.tools ?? []).map((tool) => ({ ...tool, ...owned })),
    hooks: (values.hooks ?? []).map((hook) => ({ ...hook, ...owned })),
  };
}
