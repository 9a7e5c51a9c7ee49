/** Which kind of image something is, by how its bytes begin. */

export const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

export type ImageType = (typeof imageTypes)[number];

/** As Latin-1. */
const beginnings: readonly (readonly [ImageType, string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
];
/** Of base64: whole groups, and enough for every beginning. */
const HEAD_CHARS = 32;

/** `head`: the first bytes, read as Latin-1. */
export function imageTypeOf(head: string): ImageType | undefined {
  if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return "image/webp";
  return beginnings.find(([, magic]) => head.startsWith(magic))?.[0];
}

/** Of bytes in base64; undefined also for what is not base64. */
export function imageTypeOfBase64(data: string): ImageType | undefined {
  const head = data.slice(0, HEAD_CHARS);
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(head)
    ? imageTypeOf(atob(head))
    : undefined;
}
