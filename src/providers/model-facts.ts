/** How large models are and what they refuse, as data. A model that is not here is used without these checks. */

export interface ModelFacts {
  readonly vendor: string;
  /** The model's name or the beginning of it; the longest that matches counts, so snapshots need no row. */
  readonly prefix: string;
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** The model refuses sampling parameters. */
  readonly fixedSampling?: true;
  /** The model thinks by default and shows it, and its remarks between tool calls, only when asked. */
  readonly hidesThinking?: true;
  /** The model refuses its earlier thinking once anything before it has changed, unless asked to drop it instead. */
  readonly bindsThinking?: true;
  /** The model calls functions over this wire only with its reasoning switched off. */
  readonly toolsNeedNoEffort?: true;
  /** The model reads no images, by the documentation of its vendor. Lists and refusals add to that (`image-support.ts`). Holds for the prefix itself and what follows it behind a hyphen: other names are other models. */
  readonly textOnly?: true;
}

const claude = {
  vendor: "anthropic",
  contextTokens: 1_000_000,
  maxOutputTokens: 128_000,
  fixedSampling: true,
  hidesThinking: true,
} as const;
const bound = { ...claude, bindsThinking: true } as const;
const claude4 = {
  vendor: "anthropic",
  contextTokens: 1_000_000,
  maxOutputTokens: 128_000,
  fixedSampling: true,
} as const;
const olderClaude = { vendor: "anthropic", contextTokens: 200_000, maxOutputTokens: 64_000 } as const;
const gpt = { vendor: "openai", contextTokens: 1_050_000, maxOutputTokens: 128_000, fixedSampling: true } as const;

export const modelFacts: readonly ModelFacts[] = [
  { prefix: "claude-opus-5-5", ...bound },
  { prefix: "claude-sonnet-5-5", ...bound },
  { prefix: "claude-haiku-5-5", ...bound },
  { prefix: "claude-fable-5-2", ...bound },
  { prefix: "claude-fable-5-1", ...bound },
  { prefix: "claude-mythos-5-2", ...bound },
  { prefix: "claude-mythos-5-1", ...bound },
  { prefix: "claude-opus-5", ...claude },
  { prefix: "claude-sonnet-5", ...claude },
  { prefix: "claude-fable-5", ...claude },
  { prefix: "claude-mythos-5", ...claude },
  { prefix: "claude-opus-4-8", ...claude4 },
  { prefix: "claude-opus-4-7", ...claude4 },
  { prefix: "claude-opus-4-6", vendor: "anthropic", contextTokens: 1_000_000, maxOutputTokens: 128_000 },
  { prefix: "claude-opus-4-5", ...olderClaude },
  { prefix: "claude-haiku-4-5", ...olderClaude },
  { prefix: "gpt-6-astra", ...gpt },
  { prefix: "gpt-6.1-sol", ...gpt },
  { prefix: "gpt-6.1-terra", ...gpt, toolsNeedNoEffort: true },
  { prefix: "gpt-6-sol", ...gpt, toolsNeedNoEffort: true },
  { prefix: "gpt-6-luna", ...gpt, toolsNeedNoEffort: true },
  { prefix: "gpt-5.6-sol", ...gpt, toolsNeedNoEffort: true },
  { prefix: "gpt-5.6-terra", ...gpt, toolsNeedNoEffort: true },
  { prefix: "gpt-5.6-luna", ...gpt, toolsNeedNoEffort: true },
  { prefix: "gpt-4o-mini", vendor: "openai", contextTokens: 128_000, maxOutputTokens: 16_384 },
  { prefix: "gpt-4o", vendor: "openai", contextTokens: 128_000, maxOutputTokens: 16_384 },
  { prefix: "glm-5.3-flash", vendor: "zai", contextTokens: 1_048_576, maxOutputTokens: 131_072, textOnly: true },
  { prefix: "glm-5.3", vendor: "zai", contextTokens: 1_048_576, maxOutputTokens: 131_072, textOnly: true },
];

/** By the facts alone. */
export function readsNoImages(vendor: string, name: string): boolean {
  return modelFacts.some(({ prefix, ...row }) => {
    return row.textOnly === true && row.vendor === vendor && (name === prefix || name.startsWith(`${prefix}-`));
  });
}
