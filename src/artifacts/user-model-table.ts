/** Models in `config.toml`: their table, their prices, and how often they and the tools are asked. */
import { defined } from "#base";
import { isShorthand, makeModel, modelTable, readShorthand } from "./model-table.ts";
import { globFault } from "./name-glob.ts";
import {
  amount,
  byName,
  defineTable,
  type FieldType,
  forms,
  integer,
  nested,
  positive,
  type Reader,
  readTable,
  text,
  type ValuesOf,
  words,
} from "./schema.ts";
import type { ModelSettings, PriceSettings, RateSettings, Settings } from "./settings.ts";
import type { Tree } from "./yaml-tree.ts";

const MAX_CALLS_PER_MINUTE = 1_000_000;

const { provider, name, ...modelFields } = modelTable.fields;

const userModelTable = defineTable({
  title: "Model table",
  about: "A model with options. `provider` and `name` together name the model `provider:name`.",
  fields: {
    provider: { type: provider.type, required: true, meaning: provider.meaning },
    name,
    ...modelFields,
    credential: {
      type: words("the name of a stored key"),
      default: "the stored key for its address",
      meaning:
        "The name of a [stored key](../guide/credentials.md) of the provider. Harness then ignores environment variables with keys for this model.",
    },
    headers: {
      type: byName(text(), "header"),
      default: "none",
      meaning: "HTTP headers for every request to this model.",
    },
  },
});

export const userModelType = forms<ModelSettings>(
  "`provider:name`, or a table with provider and name",
  [userModelTable],
  (tree) => {
    if (tree.kind === "map") return readModel;
    return isShorthand(tree) ? (short) => withoutPlace(readShorthand(short)) : undefined;
  },
);

function readModel(tree: Tree, reader: Reader): ModelSettings | undefined {
  if (tree.kind !== "map") return undefined;
  const read = readTable(userModelTable, tree, reader);
  const { credential, headers } = read.values;
  const made = withoutPlace(makeModel(read, reader));
  return made && { ...made, ...defined({ credential, headers }) };
}

function withoutPlace<Value extends object>(value: (Value & { place: unknown }) | undefined) {
  if (value === undefined) return undefined;
  const { place: _, ...rest } = value;
  return rest;
}

const priceTable = defineTable({
  title: "Price",
  about:
    "The price of a model in USD per million tokens. The key is `provider:name` or a prefix of it; the longest matching prefix applies. It overrides the price in the vendor's catalogue.",
  fields: {
    input: { type: amount, required: true, meaning: "Input tokens." },
    output: { type: amount, required: true, meaning: "Output tokens." },
    cache_read: { type: amount, default: "as `input`", meaning: "Input tokens read from the vendor's cache." },
    cache_write: { type: amount, default: "as `input`", meaning: "Input tokens written to the vendor's cache." },
  },
});

export const priceType: FieldType<PriceSettings> = nested(priceTable, ({ values }) => {
  const { input, output, cache_read: cacheRead, cache_write: cacheWrite } = values;
  if (input === undefined || output === undefined) return undefined;
  return { input, output, ...defined({ cacheRead, cacheWrite }) };
});

const rateFields = {
  requests_per_minute: {
    type: positive,
    default: "none",
    meaning: "Requests per minute. A call that has to wait publishes a `RateLimited` notice.",
  },
  tokens_per_minute: { type: positive, default: "none", meaning: "Tokens per minute, with the same notice." },
} as const;

const rateTable = defineTable({
  title: "Rate of a model",
  about: "The limits for one model of `model` or `models`, or for a model named with `--model`.",
  fields: rateFields,
});

const toolRateTable = defineTable({
  title: "Rate of a tool",
  about: "How often a tool may be called. Harness refuses calls above the limit and says how long to wait.",
  fields: {
    calls_per_minute: {
      type: integer(1, MAX_CALLS_PER_MINUTE),
      required: true,
      meaning: "The number of calls in any 60 seconds.",
    },
  },
});

const rateLimitsTable = defineTable({
  title: "Rate limits",
  about: "How often Harness may call models and tools. The first two fields are limits for all models together.",
  fields: {
    ...rateFields,
    models: {
      type: byName(
        nested(rateTable, ({ values }) => toRate(values)),
        "model",
      ),
      default: "none",
      meaning: "The limits for one model.",
    },
    tools: {
      type: byName(
        nested(toolRateTable, ({ values }) => values.calls_per_minute),
        "tool name, with `*`, `?` or `[a-z]` for parts of it",
        (written) => globFault(written) === undefined,
      ),
      default: "none",
      meaning: 'The limit for one tool, or for all tools that match a pattern: `[rate_limits.tools."web.*"]`.',
    },
  },
});

function toRate(values: ValuesOf<typeof rateFields>): RateSettings {
  return defined({ requestsPerMinute: values.requests_per_minute, tokensPerMinute: values.tokens_per_minute });
}

export const rateLimitsType: FieldType<Settings["rateLimits"]> = nested(rateLimitsTable, ({ values }) => ({
  global: toRate(values),
  models: values.models ?? {},
  tools: Object.entries(values.tools ?? {}).map(([tool, callsPerMinute]) => ({ tool, callsPerMinute })),
}));
