/** Models in `config.toml`: their table, their prices, and how often they and the tools are asked. */
import { defined } from "#base";
import { isShorthand, makeModel, modelTable, readShorthand } from "./model-table.ts";
import { globFault } from "./name-glob.ts";
import {
  amount,
  byName,
  defineTable,
  type FieldType,
  field,
  forms,
  integer,
  nested,
  positive,
  type Reader,
  readTable,
  required,
  text,
  type ValuesOf,
  words,
} from "./schema.ts";
import type { ModelSettings, PriceSettings, RateSettings, Settings } from "./settings.ts";
import type { Tree } from "./yaml-tree.ts";

const MAX_CALLS_PER_MINUTE = 1_000_000;

const { provider, name, ...modelFields } = modelTable.fields;

const userModelTable = defineTable(
  "Model table",
  "A model with options. `provider` and `name` together name the model `provider:name`.",
).of({
  provider: required(provider.type).means(provider.meaning),
  name,
  ...modelFields,
  credential: field(words("the name of a stored key"), "the stored key for its address").means(
    "The name of a [stored key](../guide/credentials.md) of the provider. Harness then ignores environment variables with keys for this model.",
  ),
  headers: field(byName(text(), "header"), "none").means("HTTP headers for every request to this model."),
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

const priceTable = defineTable(
  "Price",
  "The price of a model in USD per million tokens. The key is `provider:name` or a prefix of it; the longest matching prefix applies. It overrides the price in the vendor's catalogue.",
).of({
  input: required(amount).means("Input tokens."),
  output: required(amount).means("Output tokens."),
  cache_read: field(amount, "as `input`").means("Input tokens read from the vendor's cache."),
  cache_write: field(amount, "as `input`").means("Input tokens written to the vendor's cache."),
});

export const priceType: FieldType<PriceSettings> = nested(priceTable, ({ values }) => {
  const { input, output, cache_read: cacheRead, cache_write: cacheWrite } = values;
  if (input === undefined || output === undefined) return undefined;
  return { input, output, ...defined({ cacheRead, cacheWrite }) };
});

const rateFields = {
  requests_per_minute: field(positive, "none").means(
    "Requests per minute. A call that has to wait publishes a `RateLimited` notice.",
  ),
  tokens_per_minute: field(positive, "none").means("Tokens per minute, with the same notice."),
} as const;

const rateTable = defineTable(
  "Rate of a model",
  "The limits for one model of `model` or `models`, or for a model named with `--model`.",
).of(rateFields);

const toolRateTable = defineTable(
  "Rate of a tool",
  "How often a tool may be called. Harness refuses calls above the limit and says how long to wait.",
).of({
  calls_per_minute: required(integer(1, MAX_CALLS_PER_MINUTE)).means("The number of calls in any 60 seconds."),
});

const rateLimitsTable = defineTable(
  "Rate limits",
  "How often Harness may call models and tools. The first two fields are limits for all models together.",
).of({
  ...rateFields,
  models: field(
    byName(
      nested(rateTable, ({ values }) => toRate(values)),
      "model",
    ),
    "none",
  ).means("The limits for one model."),
  tools: field(
    byName(
      nested(toolRateTable, ({ values }) => values.calls_per_minute),
      "tool name, with `*`, `?` or `[a-z]` for parts of it",
      (written) => globFault(written) === undefined,
    ),
    "none",
  ).means('The limit for one tool, or for all tools that match a pattern: `[rate_limits.tools."web.*"]`.'),
});

function toRate(values: ValuesOf<typeof rateFields>): RateSettings {
  return defined({ requestsPerMinute: values.requests_per_minute, tokensPerMinute: values.tokens_per_minute });
}

export const rateLimitsType: FieldType<Settings["rateLimits"]> = nested(rateLimitsTable, ({ values }) => ({
  global: toRate(values),
  models: values.models ?? {},
  tools: Object.entries(values.tools ?? {}).map(([tool, callsPerMinute]) => ({ tool, callsPerMinute })),
}));
