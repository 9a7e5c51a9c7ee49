/** How a secret can be written: as it is, line by line, JSON-escaped, in hex, URL-encoded, and in base64 at any alignment. */

/** A shorter value occurs in ordinary text; to cut it out would destroy that and tell the value. */
export const SECRET_MIN_CHARS = 8;
const SECRET_MIN_DISTINCT = 4;
/** Lines of a value with several, such as a key file, are looked for one by one. */
const LINE_MIN_CHARS = 16;

export interface SecretForm {
  readonly text: string;
  /** Characters at its ends that hold some bits of the secret and some of what is beside it. */
  readonly before: number;
  readonly after: number;
}

/** Whether a value can be looked for at all. */
export function isSearchable(value: string): boolean {
  return value.length >= SECRET_MIN_CHARS && new Set(value).size >= SECRET_MIN_DISTINCT;
}

export function secretForms(value: string): SecretForm[] {
  const bytes = Buffer.from(value, "utf8");
  const plain = [value, ...value.split(/\r?\n/).filter((line) => line !== value && line.length >= LINE_MIN_CHARS)];
  const hex = bytes.toString("hex");
  const url = encodeURIComponent(value);
  const exact = [
    ...plain,
    ...plain.map((text) => JSON.stringify(text).slice(1, -1)),
    hex,
    hex.toUpperCase(),
    url,
    url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    url.replaceAll("%20", "+"),
    url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
  ].map((text) => ({ text, before: 0, after: 0 }));
  const seen = new Set<string>();
  return [...exact, ...base64Forms(bytes)].filter(({ text }) => !seen.has(text) && seen.add(text));
}

/** Base64 of the secret after 0, 1 or 2 other bytes: the characters that are the same whatever stands around it. */
function base64Forms(bytes: Buffer): SecretForm[] {
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const start = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    const text = encoded.slice(start, end);
    const form = { before: offset === 0 ? 0 : 1, after: ((offset + bytes.length) * 8) % 6 === 0 ? 0 : 1 };
    return [text, text.replaceAll("+", "-").replaceAll("/", "_")].map((variant) => ({ ...form, text: variant }));
  });
}
