/** Images for a model that reads none: an input with one is refused before; what is left, from files and tools, becomes a line of text. */
import type { ModelRequest } from "#engine";
import type { Message } from "#protocol";

const NOTE = { type: "text", text: "[an image that this model cannot read]" } as const;

export function withoutImages(request: ModelRequest): ModelRequest {
  return { ...request, messages: request.messages.map(withNotes) };
}

function withNotes(message: Message): Message {
  if (message.role === "assistant") return message;
  const content = message.content.map((block) => {
    if (block.type === "image") return NOTE;
    if (block.type !== "tool_result") return block;
    return { ...block, content: block.content.map((part) => (part.type === "image" ? NOTE : part)) };
  });
  return { ...message, content };
}
