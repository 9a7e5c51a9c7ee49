/** Blocks of content as text. */

type Block = { readonly type: string; readonly text?: string };

/** What is not text is left out. */
export function textIn(content: readonly Block[], between = "\n"): string {
  return content.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])).join(between);
}

/** For people: what is not text is named by its type. */
export function displayText(content: readonly Block[], between = "\n"): string {
  return content.map(({ type, text }) => (type === "text" ? text : `[${type}]`)).join(between);
}
