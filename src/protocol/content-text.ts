/** Blocks of content as text. */
import { visibleLine } from "#base";

type Block = { readonly type: string; readonly text?: string; readonly name?: string };

/** What is not text is left out. */
export function textIn(content: readonly Block[], between = "\n"): string {
  return content.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])).join(between);
}

/** For people: what is not text is named by its type, and a file also by its name and size. */
export function displayText(content: readonly Block[], between = "\n"): string {
  return content.map((block) => (block.type === "text" ? block.text : blockLabel(block))).join(between);
}

/** For people, in the place of a file that a client sent. */
export function fileLabel({ name, text }: { readonly name: string; readonly text: string }): string {
  return `[file ${visibleLine(name)}, ${new TextEncoder().encode(text).length} bytes]`;
}

function blockLabel({ type, text = "", name = "" }: Block): string {
  return type === "file" ? fileLabel({ name, text }) : `[${type}]`;
}
