/** Vendors as data: a compatible vendor is one more row. No code asks which vendor it deals with. */

export interface Vendor {
  readonly name: string;
  readonly family: "anthropic" | "openai";
  /** Without a trailing slash; absent for `custom`, where the configuration gives it. */
  readonly baseUrl?: string;
  /** Environment variable that replaces the base URL. */
  readonly baseUrlVariable: string;
  /** Of the chat endpoint, after the base URL. */
  readonly path: string;
  readonly auth: "x-api-key" | "bearer";
  /** Where the key may be, in order; empty when none is needed. */
  readonly keyVariables: readonly string[];
  /** The variable is mostly set for something else: having it does not choose this vendor's models. */
  readonly keyIsShared?: true;
  readonly headers: Readonly<Record<string, string>>;
  readonly models?: { readonly default: string; readonly small: string; readonly large: string };
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
  readonly takesCacheKey: boolean;
  /** How the names of models begin that cache only what is marked. */
  readonly marksCacheFor?: readonly string[];
  /** Whether its own reasoning fields are to be sent back to it. */
  readonly echoesReasoning: boolean;
  /** Where it lists its models: relative to the base URL, or from the root with a leading slash. */
  readonly catalogPath?: string;
  /** That list says what each model reads. */
  readonly listsModalities?: true;
}

const chatCompletions = {
  family: "openai",
  path: "/chat/completions",
  auth: "bearer",
  headers: {},
  maxTokensField: "max_tokens",
  takesCacheKey: false,
  echoesReasoning: true,
} as const;

/** In the order in which `defaultModel` looks for keys. */
export const vendors: readonly Vendor[] = [
  {
    name: "anthropic",
    family: "anthropic",
    baseUrl: "https://api.anthropic.com",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    path: "/v1/messages",
    auth: "x-api-key",
    keyVariables: ["ANTHROPIC_API_KEY"],
    headers: { "anthropic-version": "2023-06-01" },
    models: { default: "claude-sonnet-5-5", small: "claude-haiku-5-5", large: "claude-opus-5-5" },
    maxTokensField: "max_tokens",
    takesCacheKey: false,
    echoesReasoning: true,
  },
  {
    ...chatCompletions,
    name: "openai",
    baseUrl: "https://api.openai.com/v1",
    baseUrlVariable: "OPENAI_BASE_URL",
    keyVariables: ["OPENAI_API_KEY"],
    models: { default: "gpt-6.1-terra", small: "gpt-6-luna", large: "gpt-6-sol" },
    maxTokensField: "max_completion_tokens",
    takesCacheKey: true,
    echoesReasoning: false,
  },
  {
    ...chatCompletions,
    name: "openrouter",
    baseUrl: "https://openrouter.ai/api/v1",
    baseUrlVariable: "OPENROUTER_BASE_URL",
    keyVariables: ["OPENROUTER_API_KEY"],
    headers: { "HTTP-Referer": "https://harness.invalid", "X-Title": "harness" },
    models: {
      default: "anthropic/claude-sonnet-5.5",
      small: "anthropic/claude-haiku-5.5",
      large: "anthropic/claude-opus-5.5",
    },
    marksCacheFor: ["anthropic/", "google/gemini"],
    catalogPath: "models",
    listsModalities: true,
  },
  {
    ...chatCompletions,
    name: "zai",
    baseUrl: "https://api.z.ai/api/paas/v4",
    baseUrlVariable: "ZAI_BASE_URL",
    keyVariables: ["ZAI_API_KEY"],
    models: { default: "glm-5.3", small: "glm-5.3-flash", large: "glm-5.3" },
  },
  {
    ...chatCompletions,
    name: "github",
    baseUrl: "https://models.github.ai/inference",
    baseUrlVariable: "GITHUB_MODELS_BASE_URL",
    keyVariables: ["GH_TOKEN", "GITHUB_TOKEN"],
    keyIsShared: true,
    models: { default: "openai/gpt-4.1", small: "openai/gpt-4.1-mini", large: "openai/gpt-4.1" },
    echoesReasoning: false,
    catalogPath: "/catalog/models",
    listsModalities: true,
  },
  {
    ...chatCompletions,
    name: "copilot",
    baseUrl: "https://api.githubcopilot.com",
    baseUrlVariable: "COPILOT_BASE_URL",
    keyVariables: ["GH_TOKEN", "GITHUB_TOKEN"],
    keyIsShared: true,
    headers: { "Editor-Version": "harness/0.1.0", "Copilot-Integration-Id": "harness" },
    models: { default: "gpt-4.1", small: "gpt-4o-mini", large: "gpt-4.1" },
    echoesReasoning: false,
    catalogPath: "models",
  },
  {
    ...chatCompletions,
    name: "ollama",
    baseUrl: "http://127.0.0.1:11434/v1",
    baseUrlVariable: "OLLAMA_BASE_URL",
    keyVariables: [],
    catalogPath: "models",
  },
  {
    ...chatCompletions,
    name: "custom",
    baseUrlVariable: "HARNESS_CUSTOM_BASE_URL",
    keyVariables: [],
    catalogPath: "models",
  },
];

/** Every variable that may hold a vendor's key. */
export function keyVariables(): readonly string[] {
  return [...new Set(vendors.flatMap((vendor) => vendor.keyVariables))];
}

export function findVendor(name: string): Vendor | undefined {
  return vendors.find((vendor) => vendor.name === name);
}
