/** Bundles: text for the prompt, and tools and hooks that come with it, in `.harness/{plugins,builtins,overrides}`. */
import { defined } from "#base";
import { checkedName } from "./artifact-name.ts";
import { hookType } from "./hook-table.ts";
import type { BundleArtifact, BundleType, HookArtifact, ToolArtifact } from "./project.ts";
import {
  choice,
  defineTable,
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

export const bundleTable = defineTable({
  title: "Bundle",
  about:
    "A file in `.harness/plugins`, `.harness/builtins` or `.harness/overrides`. The body joins the prompt while the condition holds.",
  fields: {
    name: { type: words("a name"), default: "the file name", meaning: "What it is called." },
    type: {
      type: choice("plugin", "builtin", "harness", "override"),
      default: "by its folder",
      meaning: "`harness` is the identity, of which there is one.",
    },
    version: { type: text(), meaning: "For people." },
    description: { type: text(), meaning: "For people." },
    tags: { type: list(words("a tag"), { max: MAX_TAGS }), default: "none", meaning: "For people." },
    priority: {
      type: integer(-MAX_BUNDLE_PRIORITY, MAX_BUNDLE_PRIORITY),
      default: Object.entries(bundlePriorities)
        .map(([type, priority]) => `${type} \`${priority}\``)
        .join(", "),
      meaning: "Higher comes later in the prompt.",
    },
    condition: {
      type: script,
      default: "always",
      meaning: "A Starlark expression over `ctx`; body, tools and hooks count only in turns where it is true.",
    },
    tools: { type: list(toolType, { max: MAX_INLINE }), default: "none", meaning: "Tools, each with a `name`." },
    hooks: {
      type: list(hookType, { max: MAX_INLINE }),
      default: "none",
      meaning: "Hooks, each with a `name` or `handler`.",
    },
  },
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
    const message = `A bundle of type "${type}" is looked for in another folder; it counts all the same.`;
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
