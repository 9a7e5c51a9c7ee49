/**
 * What models cost, as data: list prices in USD per million tokens for the plain tier, as published in November 2026.
 * A price that is not here is unknown, never zero. What a vendor charges or lists itself wins over this table.
 */

export interface Price {
  readonly input: number;
  readonly output: number;
  /** Absent: billed as input. */
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Other prices for the whole request when its input is above a size. */
  readonly above?: { readonly inputTokens: number; readonly price: Price };
}

export interface PriceRow {
  readonly vendor: string;
  /** The model's name or the beginning of it; the longest that matches counts, so snapshots need no row. */
  readonly prefix: string;
  readonly price: Price;
}

export const prices: readonly PriceRow[] = [
  row("anthropic", "claude-fable-5-2", cached(8, 40, 0.2)),
  row("anthropic", "claude-fable-5-1", cached(10, 50, 0.25)),
  row("anthropic", "claude-opus-5-5", cached(4, 20, 0.2)),
  row("anthropic", "claude-sonnet-5-5", cached(2, 10, 0.2)),
  row("anthropic", "claude-haiku-5-5", {
    ...cached(0.1, 0.5, 0.01),
    above: { inputTokens: 100_000, price: cached(0.5, 2.5, 0.05) },
  }),
  row("anthropic", "claude-opus-5", cached(5, 25, 0.5)),
  row("anthropic", "claude-sonnet-5", cached(2, 10, 0.2)),
  row("anthropic", "claude-opus-4-6", cached(5, 25, 0.5)),
  row("anthropic", "claude-opus-4-5", cached(5, 25, 0.5)),
  row("anthropic", "claude-sonnet-4-6", cached(3, 15, 0.3)),
  row("anthropic", "claude-haiku-4-5", cached(1, 5, 0.1)),
  row("openai", "gpt-6-astra", longContext(cached(10, 50, 1))),
  row("openai", "gpt-6.1-sol", longContext(cached(2, 10, 0.1))),
  row("openai", "gpt-6.1-terra", longContext(cached(1, 5, 0.05))),
  row("openai", "gpt-6-sol", longContext(cached(2, 10, 0.2))),
  row("openai", "gpt-6-luna", longContext(cached(0.1, 0.5, 0.01))),
  row("openai", "gpt-5.6-sol", longContext(cached(4, 20, 0.4))),
  row("openai", "gpt-5.6-terra", longContext(cached(2, 12, 0.2))),
  row("openai", "gpt-5.6-luna", longContext(cached(0.2, 1.2, 0.02))),
  row("openai", "gpt-4o-mini", { input: 0.15, output: 0.6, cacheRead: 0.075 }),
  row("openai", "gpt-4o", { input: 2.5, output: 10, cacheRead: 1.25 }),
  row("zai", "glm-5.3", { input: 1.4, output: 4.4, cacheRead: 0.26 }),
];

/** The row with the longest prefix of `name` among those that `isOurs`. */
export function longestPrefix<Row extends { readonly prefix: string }>(
  rows: readonly Row[],
  name: string,
  isOurs: (row: Row) => boolean,
): Row | undefined {
  let best: Row | undefined;
  for (const candidate of rows) {
    if (!isOurs(candidate) || !name.startsWith(candidate.prefix)) continue;
    if (best === undefined || candidate.prefix.length > best.prefix.length) best = candidate;
  }
  return best;
}

/** Writing to the five-minute cache costs a quarter more than input with both large vendors. */
function cached(input: number, output: number, cacheRead: number): Price {
  return { input, output, cacheRead, cacheWrite: input * 1.25 };
}

/** OpenAI: with more than 272,000 input tokens a request costs twice for input and half as much again for output. */
function longContext({ input, output, cacheRead = input, cacheWrite = input }: Price): Price {
  const above = { input: input * 2, output: output * 1.5, cacheRead: cacheRead * 2, cacheWrite: cacheWrite * 2 };
  return { input, output, cacheRead, cacheWrite, above: { inputTokens: 272_000, price: above } };
}

function row(vendor: string, prefix: string, price: Price): PriceRow {
  return { vendor, prefix, price };
}
