/**
 * Secrets whose value is known, from the environment or the credential store: found exactly, also as base64 at any alignment,
 * base64url, hex, URL-encoded and JSON-escaped.
 */
import { makeup } from "./checks.ts";
import { ARMED, found, type Matcher, NOTHING, type Probe } from "./probe.ts";
import { type CompiledRule, RANK_LITERAL } from "./rule-table.ts";

export interface LiteralSecret {
  readonly value: string;
  /** Stands in the marker; default {@link LITERAL_KIND}. */
  readonly kind?: string;
}

export const LITERAL_KIND = "known-secret";
/** A shorter value occurs in ordinary text; to cut it out would destroy that and tell the value. */
export const LITERAL_MIN_CHARS = 8;
const LITERAL_MIN_DISTINCT = 4;
/** Lines of a value with several, such as a key file, are looked for one by one. */
const LINE_MIN_CHARS = 16;
/** How much of a form is looked for in the first pass; the rest is compared where that was found. */
const KEYWORD_CHARS = 10;

interface Form {
  readonly text: string;
  /** Characters at its ends that hold some bits of the secret and some of what is beside it. */
  readonly before: number;
  readonly after: number;
}

export interface CompiledLiterals {
  readonly rules: readonly CompiledRule[];
  readonly active: number;
  /** Values too short or too plain to look for. */
  readonly skipped: number;
}

export function compileLiterals(literals: readonly LiteralSecret[]): CompiledLiterals {
  const usable = literals.filter(({ value }) => isUsable(value));
  const rules = usable.flatMap(({ value, kind = LITERAL_KIND }) =>
    formsOf(value).map((form) => ({
      kind,
      rank: RANK_LITERAL,
      keywords: [form.text.slice(0, KEYWORD_CHARS)],
      match: matcherOf(form),
    })),
  );
  return { rules, active: usable.length, skipped: literals.length - usable.length };
}

function isUsable(value: string): boolean {
  return value.length >= LITERAL_MIN_CHARS && makeup(value, 0, value.length).distinct >= LITERAL_MIN_DISTINCT;
}

function matcherOf({ text: form, before, after }: Form): Matcher {
  return (probe: Probe, at) => {
    const { text, end, final } = probe;
    if (!text.startsWith(form, at)) {
      const isCut = !final && end - at < form.length && form.startsWith(text.slice(at, end));
      return isCut ? ARMED : NOTHING;
    }
    const to = at + form.length;
    if (to + after > end && !final) return ARMED;
    return found(probe, at - Math.min(before, at), Math.min(end, to + after));
  };
}

function formsOf(value: string): Form[] {
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
function base64Forms(bytes: Buffer): Form[] {
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const start = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    const text = encoded.slice(start, end);
    const form = { before: offset === 0 ? 0 : 1, after: ((offset + bytes.length) * 8) % 6 === 0 ? 0 : 1 };
    return [text, text.replaceAll("+", "-").replaceAll("/", "_")].map((variant) => ({ ...form, text: variant }));
  });
}
