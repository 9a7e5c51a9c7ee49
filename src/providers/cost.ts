/** Usage → USD. An unknown price gives no number: a cost of zero would be a lie. */
import type { Usage } from "#protocol";
import { longestPrefix, type Price, prices } from "./prices.ts";

const MILLION = 1_000_000;

/** Prices by model, as `provider:name` or the beginning of it. The longest that matches counts. */
export type PriceOverrides = Readonly<Record<string, Price>>;

/** What the user says comes first, then what the vendor's catalog says, then the table. */
export function priceOf(
  vendor: string,
  name: string,
  overrides: PriceOverrides = {},
  listed?: Price,
): Price | undefined {
  const rows = Object.entries(overrides).map(([prefix, price]) => ({ prefix, price }));
  const said = longestPrefix(rows, `${vendor}:${name}`, () => true)?.price;
  return said ?? listed ?? longestPrefix(prices, name, (row) => row.vendor === vendor)?.price;
}

export function costUsd(usage: Usage, price: Price | undefined): number | undefined {
  if (price === undefined) return undefined;
  const inputTokens = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  const tier = price.above !== undefined && inputTokens > price.above.inputTokens ? price.above.price : price;
  const total =
    usage.input_tokens * tier.input +
    usage.output_tokens * tier.output +
    usage.cache_read_tokens * (tier.cacheRead ?? tier.input) +
    usage.cache_write_tokens * (tier.cacheWrite ?? tier.input);
  return total / MILLION;
}
