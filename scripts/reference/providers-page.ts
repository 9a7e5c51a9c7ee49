/** The page about the vendors. */
import { vendors } from "#providers";
import { GENERATED, page, table } from "./markdown.ts";

export function providersPage(): string {
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
        catalogPath === undefined ? "no; a list comes with the program" : "yes",
      ]),
    ),
    "`custom` is any server that speaks one of the two families; `family` in the configuration says which (default `openai`). " +
      "It and `ollama` send a key only when `api_key_env` names a variable.",
    "`scripted:<name>` is a scenario that ships with the program, `scripted:<file.yaml>` one of your own: " +
      "[scenarios.md](scenarios.md).",
  ]);
}
