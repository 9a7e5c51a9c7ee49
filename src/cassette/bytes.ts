/** Bytes in JSON: text where they are text, base64 where they are not. */

export type Bytes = string | { readonly base64: string };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function toBytes(content: Uint8Array): Bytes {
  try {
    return decoder.decode(content);
  } catch {
    return { base64: Buffer.from(content).toString("base64") }; // no text
  }
}

export function bytesOf(bytes: Bytes): Buffer {
  return typeof bytes === "string" ? Buffer.from(bytes) : Buffer.from(bytes.base64, "base64");
}

export function isBytes(value: object): value is { readonly base64: string } {
  return "base64" in value && typeof value.base64 === "string" && Object.keys(value).length === 1;
}
