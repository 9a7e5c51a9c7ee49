/** The page about the vendors. */
import { defaultTimeouts } from "#artifacts";
import { vendors } from "#providers";
import { GENERATED, page, table } from "./markdown.ts";

export function providersPage(): string {
  const seconds = (ms: number): string => `${ms / 1000} s`;
  const code = (text: string | undefined): string => (text === undefined ? "–" : `\`${text}\``);
  return page([
    "# Providers",
    GENERATED,
    "A model is named `provider:name`; the name is the vendor's own and may contain `/` and `:`. Without a name, the first " +
      "provider of this list whose key is set gives its default model. `harness models` shows which keys are set, " +
      "`harness models <provider>` the models.",
    table(
      ["provider", "key", "default model", "small", "large"],
      vendors.map(({ name, keyVariables, models }) => [
        `\`${name}\``,
        keyVariables.length === 0 ? "none needed" : keyVariables.map((variable) => `\`${variable}\``).join(" or "),
        code(models?.default),
        code(models?.small),
        code(models?.large),
      ]),
    ),
    "## Addresses",
    "The variable, or `base_url` in the configuration, replaces the address; `base_url` wins.",
    table(
      ["provider", "wire family", "address", "variable", "key sent as", "lists its models"],
      vendors.map(({ name, family, baseUrl, baseUrlVariable, auth, catalogPath }) => [
        `\`${name}\``,
        family,
        code(baseUrl),
        code(baseUrlVariable),
        auth === "bearer" ? "`authorization: Bearer`" : "`x-api-key`",
        catalogPath === undefined ? "no; the program has a list" : "yes",
      ]),
    ),
    "`custom` is any server that speaks one of the two families; `family` in the configuration says which (default `openai`). " +
      "It and `ollama` send a key only when `api_key_env` names a variable.",
    "## Images",
    "An input with an image is refused for a model that reads none (`ImagesUnsupported`). Harness knows that from the documentation of " +
      "z.ai, from the lists of OpenRouter and GitHub, which it fetches before the first image, and from the provider itself: when the " +
      "provider refuses an image because the model reads none, the turn ends with `ImagesUnsupported`, and the program remembers it " +
      "until it ends. Images that are already in the conversation, or that tools return, become a line of text for such a model. " +
      "A model that ignores images in silence is not noticed.",
    "## Time limits",
    "Every limit is a key of `timeouts` in the table of a model, in [config.toml](configuration.md#model-table) and in " +
      "[harness.md](artifacts.md#timeouts). They apply whether the program or the credential helper sends the request.",
    table(
      ["key", "default", "what it limits", "when it is exceeded"],
      [
        [
          "`headers_s`",
          seconds(defaultTimeouts.headersMs),
          "From the start of an attempt to the response headers: reaching the credential helper, connecting, sending, waiting.",
          "`ProviderTimeout`, then the usual retries",
        ],
        [
          "`first_token_s`",
          seconds(defaultTimeouts.firstTokenMs),
          "From the start of an attempt to the first word, thought or piece of a tool call.",
          "`ProviderTimeout`, then the usual retries",
        ],
        [
          "`chunk_s`",
          seconds(defaultTimeouts.chunkMs),
          "Silence on the stream after the first token.",
          "`ProviderTimeout`, then the usual retries",
        ],
        [
          "`step_s`",
          seconds(defaultTimeouts.stepMs),
          "All attempts of a step together: retries, fallbacks, waits for a `Retry-After` and for a rate limit.",
          "the turn ends with the reason of whatever it was waiting for",
        ],
      ],
    ),
    "Keep-alives only show that the vendor is still there. A comment, a ping or an empty delta ends a silence (`chunk_s`), because vendors " +
      "send them while a model thinks. A keep-alive is not a first token, and the step budget keeps running: a stream of keep-alives " +
      "ends with `step_s`.",
    "Time in which the answer flows does not count against `step_s`, so that a long answer is not cut off. An answer flows while its pieces " +
      "arrive less than a fifteenth of `chunk_s` apart (2 s by default); a slower stream counts in full. After an hour of flow the " +
      "budget runs anyway.",
    "The model that is asked first sets `step_s`; each model has its own other limits. While fallbacks are left, a model that stays " +
      "silent does not use up the step. With `n` models left, including this one, the model and its retries get an `n`th of the remaining " +
      "time to begin an answer. Then the next model is asked. The last model gets all the remaining time, and an answer " +
      "that has begun is not cut off. So with the defaults and one fallback, a silent model has 150 s; for more, raise " +
      "`step_s`. A local model that loads for more than a minute before it answers needs a larger `headers_s`.",
    "While the model is silent, `ModelWaiting` says so after 10 s and then every 15 s: a line on the terminal, an event everywhere else. Harness " +
      "does not wait for a `Retry-After` longer than 60 s or than the rest of the step: the message says how long " +
      "the vendor asked for. A cancel takes effect in every phase at once.",
    "`scripted:<name>` is a scenario that ships with the program, `scripted:<file.yaml>` is your own: " +
      "[scenarios.md](scenarios.md).",
  ]);
}
