/** Counts tokens: with the tokenizer of the family where there is one, else by an estimate that says so. */

export interface TokenCounter {
  count(text: string): number;
  /** For people. */
  readonly how: string;
}

/** Bytes of English text and code to one token, about. */
const BYTES_PER_TOKEN = 3.7;
/** Models whose tokenizer is known: those of OpenAI, by any vendor. */
const OPENAI_MODEL = /(?:^|[:/])(?:gpt-(?:4o|4\.1|5|6)|o[1-9]|chatgpt)/i;

/** `model` is `provider:name`. */
export async function tokenCounter(model: string): Promise<TokenCounter> {
  if (!OPENAI_MODEL.test(model)) {
    return {
      count: (text) => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN),
      how: `estimated (${BYTES_PER_TOKEN} bytes to a token)`,
    };
  }
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  return { count: (text) => countTokens(text), how: "counted with o200k_base" };
}
