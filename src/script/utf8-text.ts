/** Bytes as text, without losing any: what is not UTF-8 is refused, since writing it back would change it. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function decodeText(bytes: Uint8Array, what: string): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new Error(`${what} ${what.endsWith("s") ? "are" : "is"} not UTF-8 text`, { cause });
  }
}
