/** Tool middleware: what a tool returns to the model has a bound; head and tail are kept and the cut is told. */
import type { ToolMiddleware } from "#engine";
import type { ToolOutputBlock } from "#protocol";

export const OUTPUT_MAX_CHARS = 120_000;
const MAX_BLOCKS = 50;

export function createOutputLimit(maxChars = OUTPUT_MAX_CHARS): ToolMiddleware {
  return async (call, next) => {
    const given = await next(call);
    const result =
      given.content.length > MAX_BLOCKS ? { ...given, content: given.content.slice(0, MAX_BLOCKS) } : given;
    if (result.content.every((block) => block.type !== "text" || block.text.length <= maxChars)) return result;
    return { ...result, content: result.content.map((block) => cut(block, maxChars)) };
  };
}

function cut(block: ToolOutputBlock, maxChars: number): ToolOutputBlock {
  if (block.type !== "text" || block.text.length <= maxChars) return block;
  const half = Math.floor(maxChars / 2);
  const left = block.text.length - 2 * half;
  const text = `${block.text.slice(0, half)}\n… ${left} characters left out …\n${block.text.slice(-half)}`;
  return { ...block, text };
}
