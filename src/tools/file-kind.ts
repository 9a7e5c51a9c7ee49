/** What bytes are, from the bytes alone: text, an image a model can see, or something to name and refuse. */
import { type ImageType, imageTypeOf } from "#protocol";

const SNIFF_BYTES = 8 * 1024;

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

export function imageType(bytes: Uint8Array): ImageType | undefined {
  return imageTypeOf(headOf(bytes));
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
