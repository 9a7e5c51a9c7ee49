/**
 * Which refusals mean that a request was too long for its model. Few vendors have a code for it, so their words are recognised. A refusal
 * that is wrongly taken for one costs a compaction; one that is not recognised ends the turn.
 */

const CODES: ReadonlySet<string> = new Set([
  ...["context_length_exceeded", "model_context_window_exceeded", "model_max_prompt_tokens_exceeded"],
  // llama.cpp; Anthropic, for the bytes of a request; Z.ai.
  ...["exceed_context_size_error", "request_too_large", "1261"],
]);

const WORDS: readonly RegExp[] = [
  // Anthropic: "prompt is too long: 213462 tokens > 200000 maximum"; Bedrock: "Input is too long for requested model."
  /\b(prompt|input) is too long\b/i,
  // Anthropic: "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"
  /\bexceeds? context limit\b/i,
  // OpenAI, vLLM, OpenRouter: "maximum context length is 8192 tokens"; xAI: "maximum prompt length is 131072"
  /\bmaximum (context|prompt) length is\b/i,
  // OpenAI: "Your input exceeds the context window of this model"; llama.cpp: "exceeds the available context size"
  /\bexceeds? the (available |model's )?context (window|size|length)\b/i,
  // MiniMax: "context window exceeds limit"; many: "context length exceeded"
  /\bcontext (window|size|length) (exceeds limit|exceeded)\b/i,
  // LM Studio: "the number of tokens to keep from the initial prompt is greater than the context length"
  /\bgreater than the context length\b/i,
  // Gemini: "The input token count (1196265) exceeds the maximum number of tokens"; Copilot: "prompt token count of 9 exceeds the limit"
  /\btoken count\b.{0,40}\bexceeds the (maximum|limit)\b/i,
  // Kimi: "exceeded model token limit"; Groq: "Please reduce the length of the messages or completion"
  /\bexceeded model token limit\b/i,
  /\breduce the length of (the|your) (messages|prompt|input)\b/i,
  // Z.ai
  /\bprompt exceeds max(imum)? length\b/i,
];

/** `text` is what the vendor said, as long as it is. */
export function meansOverflow(code: string | undefined, text: string): boolean {
  const beginning = text.slice(0, MAX_LOOKED_CHARS);
  return (code !== undefined && CODES.has(code)) || WORDS.some((words) => words.test(beginning));
}

const MAX_LOOKED_CHARS = 2_000;
