/** How large the next request is: estimates, corrected by what the provider said of the last one. */
import { blocksTokens, estimateTokens, fixedTokens, type RequestMiddleware } from "#engine";

/** An estimate is never raised by more than this: what a provider says may be wrong as well. */
const MAX_RATIO = 4;

export interface Sizes {
  /** Sees each request as it is sent, and what it used. Innermost of the chain. */
  readonly middleware: RequestMiddleware;
  /** Real tokens for each estimated one; never less than 1, because providers refuse by estimates too. */
  ratioOf(model: string): number;
  /** What requests have besides the conversation, as estimated; 0 before the first one. */
  readonly fixed: number;
  /** The size of the last request that was refused as too long: the window of this model is smaller. */
  refusedAt(model: string): number | undefined;
}

export function createSizes(): Sizes {
  const ratios = new Map<string, number>();
  const refused = new Map<string, number>();
  let fixed = 0;
  return {
    ratioOf: (model) => ratios.get(model) ?? 1,
    refusedAt: (model) => refused.get(model),
    get fixed() {
      return fixed;
    },
    async middleware(call, next) {
      const { system, tools, model } = call.request;
      fixed = fixedTokens(system, tools);
      const estimate = fixed + call.history.reduce((sum, { content }) => sum + blocksTokens(content), 0);
      const outcome = await next(call);
      if (outcome.type === "failed" && outcome.reason === "ContextOverflow") refused.set(model, estimate);
      if (outcome.type === "failed" || outcome.model !== model) return outcome;
      const { input_tokens, cache_read_tokens, cache_write_tokens } = outcome.usage;
      const real = input_tokens + cache_read_tokens + cache_write_tokens;
      // Delimiters and framing are in the request and not in the conversation.
      const size = Math.max(real, estimateTokens(call.request), estimate);
      ratios.set(model, Math.min(MAX_RATIO, size / Math.max(1, estimate)));
      return outcome;
    },
  };
}
