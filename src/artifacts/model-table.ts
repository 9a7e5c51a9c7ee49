/** Models: `provider:name`, or a table. Which providers and models exist is not known here. */
import { defined } from "#base";
import type { ModelConfig } from "./project.ts";
import {
  choice,
  defineTable,
  error,
  type FieldType,
  field,
  forms,
  integer,
  list,
  nested,
  number,
  type Reader,
  readTable,
  required,
  type TableValues,
  words,
} from "./schema.ts";
import { defaultTimeouts, MAX_TIMEOUT_S, MIN_TIMEOUT_S, type RetrySettings, type TimeoutSettings } from "./settings.ts";
import type { Tree } from "./yaml-tree.ts";

const MAX_RETRIES = 20;
const MAX_BACKOFF_MS = 600_000;
const MAX_MULTIPLIER = 100;
/** The largest cap on the output of a call that a file may set. */
export const MAX_OUTPUT_TOKENS = 10_000_000;
const MIN_CONTEXT_TOKENS = 1_000;
const MAX_CONTEXT_TOKENS = 100_000_000;
export const MAX_MODELS = 50;
const DEFAULT_PROVIDER = "openai";
const PROVIDER = /^[a-z][a-z0-9_-]*$/i;

export const retryTable = defineTable("Retry", "How Harness retries failed calls to the model.").of({
  max_retries: field(integer(0, MAX_RETRIES), "`3`").means(
    "How often a failed call is retried. `0` turns retries off.",
  ),
  max_attempts: field(integer(0, MAX_RETRIES)).means(
    "Another name for `max_retries`. If both are set, `max_retries` takes precedence.",
  ),
  initial_backoff_ms: field(integer(0, MAX_BACKOFF_MS), "`250`").means(
    "The wait before the first retry. The actual wait is random, between half and all of this time.",
  ),
  max_backoff_ms: field(integer(0, MAX_BACKOFF_MS), "`8000`").means(
    "The longest wait between two retries. If the vendor sends `Retry-After`, Harness waits that long instead, up to 60 s and up to the rest of `timeouts.step_s`. If `Retry-After` is longer, the call fails and the message shows the requested time.",
  ),
  multiplier: field(number(0, MAX_MULTIPLIER), "`2`").means("The factor by which the wait grows after each retry."),
});

const retryType: FieldType<RetrySettings> = nested(retryTable, ({ values }) => {
  const maxRetries = values.max_retries ?? values.max_attempts;
  return {
    ...defined({
      maxRetries,
      initialBackoffMs: values.initial_backoff_ms,
      maxBackoffMs: values.max_backoff_ms,
      multiplier: values.multiplier,
    }),
  };
});

const seconds = number(MIN_TIMEOUT_S, MAX_TIMEOUT_S);

const inSeconds = (ms: number): string => `\`${ms / 1000}\``;

export const timeoutsTable = defineTable("Timeouts", "Time limits for model calls, in seconds.").of({
  headers_s: field(seconds, inSeconds(defaultTimeouts.headersMs)).means(
    "From the start of an attempt to the response headers. Includes fetching the key, connecting and sending the request.",
  ),
  first_token_s: field(seconds, inSeconds(defaultTimeouts.firstTokenMs)).means(
    "From the start of an attempt to the first piece of text, thinking or a tool call. Keep-alives do not count.",
  ),
  chunk_s: field(seconds, inSeconds(defaultTimeouts.chunkMs)).means(
    "The longest time without any data after the first token. Keep-alives count as data.",
  ),
  step_s: field(seconds, inSeconds(defaultTimeouts.stepMs)).means(
    "Time limit for a whole step: all attempts, retries, fallbacks and waits together. Time during which the answer is streaming does not count. The value of the first model applies to its fallbacks as well.",
  ),
});

const timeoutsType: FieldType<TimeoutSettings> = nested(timeoutsTable, ({ values }) => ({
  ...(values.headers_s === undefined ? {} : { headersMs: values.headers_s * 1000 }),
  ...(values.first_token_s === undefined ? {} : { firstTokenMs: values.first_token_s * 1000 }),
  ...(values.chunk_s === undefined ? {} : { chunkMs: values.chunk_s * 1000 }),
  ...(values.step_s === undefined ? {} : { stepMs: values.step_s * 1000 }),
}));

const url: FieldType<string> = {
  shown: "an http or https address",
  read(tree, reader) {
    const written = words(this.shown).read(tree, reader);
    if (written === undefined) return undefined;
    if (/^https?:$/.test(URL.parse(written)?.protocol ?? "")) return written;
    return reader.report(
      error("wrong-value", tree.place, `"${written.slice(0, 60)}" is not valid here.`, {
        expected: this.shown,
      }),
    );
  },
};

export const modelTable = defineTable("Model", "A model. The short form is `provider:name`.").of({
  provider: field(words("a provider"), `\`${DEFAULT_PROVIDER}\``).means(
    "The provider: see [providers.md](providers.md).",
  ),
  name: required(words("the vendor's name of the model")).means("The name that the vendor uses for the model."),
  max_tokens: field(
    integer(1, MAX_OUTPUT_TOKENS),
    "`4096` in `harness.md`; the provider's default in `config.toml`",
  ).means(
    "The largest number of tokens in one response. If the limit cuts a response off, Harness repeats the request with twice as many tokens.",
  ),
  temperature: field(number(0, 2), "`0.7` in `harness.md`; the provider's default in `config.toml`").means(
    "How much the answers vary. Harness does not send it to models that reject it.",
  ),
  context_tokens: field(integer(MIN_CONTEXT_TOKENS, MAX_CONTEXT_TOKENS), "from the vendor's catalogue, if known").means(
    "The largest request that the model accepts, in tokens. Set it for a model that Harness does not know, for example a local one: Harness [compacts](../guide/long-sessions.md) the conversation before it gets there.",
  ),
  base_url: field(url, "the provider's").means(
    "The address of the API, for example of a proxy or gateway. The provider `custom` needs an address, here or in `HARNESS_CUSTOM_BASE_URL`.",
  ),
  api_key_env: field(words("the name of an environment variable"), "the provider's own").means(
    "The environment variable that holds the API key. Never write the key itself here.",
  ),
  family: field(choice("openai", "anthropic"), "`openai`").means("Which API the provider `custom` speaks."),
  retry: field(retryType, "see there").means("How Harness retries failed calls."),
  timeouts: field(timeoutsType, "see there").means("Time limits for calls."),
});

function readModelTable(tree: Tree, reader: Reader): ModelConfig | undefined {
  return tree.kind === "map" ? makeModel(readTable(modelTable, tree, reader), reader) : undefined;
}

/** Undefined when it has no usable name. */
export function makeModel(
  { values, at, place }: TableValues<typeof modelTable.fields>,
  reader: Reader,
): ModelConfig | undefined {
  const { provider = DEFAULT_PROVIDER, name } = values;
  if (!PROVIDER.test(provider)) {
    return reader.report(
      error("wrong-value", at("provider"), `"${provider.slice(0, 60)}" is not a valid provider name.`, {
        expected: "a provider",
      }),
    );
  }
  if (name === undefined) return undefined;
  return {
    model: `${provider}:${name}`,
    place,
    ...defined({
      baseUrl: values.base_url,
      apiKeyEnv: values.api_key_env,
      family: values.family,
      maxTokens: values.max_tokens,
      temperature: values.temperature,
      contextTokens: values.context_tokens,
      retry: values.retry,
      timeouts: values.timeouts,
    }),
  };
}

export function readShorthand(tree: Tree): ModelConfig | undefined {
  return { model: tree.kind === "scalar" ? String(tree.value) : "", place: tree.place };
}

export function isShorthand(tree: Tree): boolean {
  const [, provider = "", name = ""] = tree.kind === "scalar" ? (/^([^:]+):(.+)$/.exec(String(tree.value)) ?? []) : [];
  return PROVIDER.test(provider) && name.trim() !== "";
}

export const modelType = forms<ModelConfig>("`provider:name`, or a table", [modelTable], (tree) => {
  if (tree.kind === "map") return readModelTable;
  return isShorthand(tree) ? readShorthand : undefined;
});

/** The model of an agent may also be a bare name, to be found among the project's models. */
export const agentModelType = forms<ModelConfig>(
  "`provider:name`, the name of a model, or a table",
  [modelTable],
  (tree) => {
    if (tree.kind === "map") return readModelTable;
    const isText = tree.kind === "scalar" && typeof tree.value === "string" && tree.value.trim() !== "";
    return isText ? readShorthand : undefined;
  },
);

export const modelListType = list(modelType, { max: MAX_MODELS });
