/**
 * Results of read-only calls, kept for the length of a turn. It decides what is fit to keep; when to look, to remember
 * and to clear (at every call that is not read-only) is up to the tool chain.
 */
import type { ToolOutput } from "#engine";

const MAX_ENTRIES = 64;
const MAX_BYTES = 4 * 1024 * 1024;

export interface CallMemo {
  lookup(name: string, args: unknown): ToolOutput | undefined;
  /** Keeps text results that are no errors; the oldest make room. */
  remember(name: string, args: unknown, output: ToolOutput): void;
  clear(): void;
}

export function createCallMemo(): CallMemo {
  // A Map iterates in the order of insertion, so the first key is the oldest.
  const entries = new Map<string, { readonly output: ToolOutput; readonly sizeBytes: number }>();
  let totalBytes = 0;
  const forget = (key: string) => {
    totalBytes -= entries.get(key)?.sizeBytes ?? 0;
    entries.delete(key);
  };
  return {
    lookup: (name, args) => entries.get(keyOf(name, args))?.output,
    remember(name, args, output) {
      const sizeBytes = textBytes(output);
      if (output.isError || sizeBytes === undefined || sizeBytes > MAX_BYTES) return;
      const key = keyOf(name, args);
      forget(key);
      entries.set(key, { output, sizeBytes });
      totalBytes += sizeBytes;
      for (const oldest of entries.keys()) {
        if (entries.size <= MAX_ENTRIES && totalBytes <= MAX_BYTES) break;
        forget(oldest);
      }
    },
    clear() {
      entries.clear();
      totalBytes = 0;
    },
  };
}

function textBytes(output: ToolOutput): number | undefined {
  let bytes = 0;
  for (const block of output.content) {
    if (block.type !== "text") return undefined;
    bytes += Buffer.byteLength(block.text, "utf8");
  }
  return bytes;
}

function keyOf(name: string, args: unknown): string {
  return `${name} ${canonicalJson(args)}`;
}

/** JSON with the keys of every object sorted, so that equal arguments have one spelling. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
