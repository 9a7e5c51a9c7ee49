/** What has been used, as totals that can be added up: of a turn, of a session, of a tree of them. */
import type { EventPayload, Usage } from "#protocol";

export type Spent = NonNullable<EventPayload<"TurnEnded">["session_total"]>;

/** Of none, nothing. */
export function sumOf(...all: readonly Spent[]): Spent {
  return all.reduce(
    (sum, one) => ({
      cost_usd: sum.cost_usd + one.cost_usd,
      tokens: sum.tokens + one.tokens,
      steps: sum.steps + one.steps,
      calls: sum.calls + one.calls,
    }),
    { cost_usd: 0, tokens: 0, steps: 0, calls: 0 },
  );
}

/** Never below nothing. */
export function differenceOf(whole: Spent, part: Spent): Spent {
  const left = (name: keyof Spent): number => Math.max(0, whole[name] - part[name]);
  return { cost_usd: left("cost_usd"), tokens: left("tokens"), steps: left("steps"), calls: left("calls") };
}

/** With its delegates; undefined when they have used nothing. */
export function treeTotal(spent: Spent, delegated: Spent): Spent | undefined {
  return delegated.steps + delegated.tokens + delegated.calls === 0 ? undefined : sumOf(spent, delegated);
}

export function tokensOf({ input_tokens, output_tokens, cache_read_tokens, cache_write_tokens }: Usage): number {
  return input_tokens + output_tokens + cache_read_tokens + cache_write_tokens;
}
