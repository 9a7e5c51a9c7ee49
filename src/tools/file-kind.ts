/** What bytes are, from the bytes alone: text, an image a model can see, or something to name and refuse. */
import type { ImageBlock } from "#protocol";

const SNIFF_BYTES = 8 * 1024;

/** The first bytes, read as Latin-1. */
const IMAGES: readonly (readonly [ImageBlock["media_type"], string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
];

const BINARIES: readonly (readonly [string, string])[] = [
  ["PDF document", "%PDF-"],
  ["ZIP archive (or a document in one)", "PK\x03\x04"],
  ["gzip archive", "\x1f\x8b"],
  ["program (ELF)", "\x7fELF"],
  ["SQLite database", "SQLite format 3\0"],
  ["WebAssembly module", "\0asm"],
  ["UTF-16 text", "\xff\xfe"],
  ["UTF-16 text", "\xfe\xff"],
];

export function imageType(bytes: Uint8Array): ImageBlock["media_type"] | undefined {
  const head = headOf(bytes);
  if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return "image/webp";
  return IMAGES.find(([, magic]) => head.startsWith(magic))?.[0];
}

/** The text, a byte order mark kept, or undefined for what is not UTF-8 text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, SNIFF_BYTES).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The only thing a fatal decoder throws for is invalid input.
    return undefined;
  }
}

/** A name for bytes that are no text. */
export function binaryKind(bytes: Uint8Array): string {
  const head = headOf(bytes);
  const known = BINARIES.find(([, magic]) => head.startsWith(magic))?.[0] ?? imageType(bytes);
  if (known) return known;
  return bytes.subarray(0, SNIFF_BYTES).includes(0) ? "binary data" : "not valid UTF-8";
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function headOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 64)).toString("latin1");
}
