/**
 * Canaries: secrets made for one run, each in a text as it would stand in a file, with what must not be found anywhere afterwards.
 * Only such as the rules know wherever they stand, not because their line holds nothing else: what share of all secrets is known,
 * `bench/redaction.ts` measures.
 */
import { defined } from "#base";
import { createRedactor, literalsFromEnvironment } from "#redaction";
import { secretCases } from "../corpora/redaction-secrets.ts";
import { ALPHABETS, createSeededRandom } from "../corpora/seeded-random.ts";

export interface Canary {
  /** `number kind`, for reports. */
  readonly name: string;
  readonly kind: string;
  /** The secret in its place. Holds no line with quotes that a shell would need. */
  readonly text: string;
  /** Any of these in an exit is a leak. */
  readonly needles: readonly string[];
  /** A secret that has no form of its own: known because a variable of this name holds it. */
  readonly variable?: { readonly name: string; readonly value: string };
}

/** Shorter secrets are found by chance in any log. */
const MIN_NEEDLE_CHARS = 12;
/** One in so many canaries is known from the environment alone. */
const LITERAL_EVERY = 8;
const LITERAL_CHARS = 22;
/** Corpora from further seeds are added until there are enough. */
const MAX_SEEDS = 10;

export function makeCanaries(count: number, seed = 7_001): readonly Canary[] {
  const random = createSeededRandom(seed);
  const redactor = createRedactor();
  const found: Canary[] = [];
  const seen = new Set<string>();
  const add = (kind: string, text: string, needles: readonly string[], variable?: Canary["variable"]): void => {
    const name = `${found.length} ${kind}`;
    found.push({ name, kind, text, needles, ...defined({ variable }) });
  };
  for (let round = 0; round < MAX_SEEDS && found.length < count; round++) {
    for (const { kind, text: whole, secret } of shuffled(secretCases(seed + round), seed)) {
      const text = whole.trimEnd();
      if (found.length >= count) break;
      if (found.length % LITERAL_EVERY === 0) {
        const value = `${random.chars(ALPHABETS.lower, 3)}+${random.chars(ALPHABETS.alnum, LITERAL_CHARS)}/&`;
        const name = `CANARY_${found.length}_TOKEN`;
        add("known-secret", literalText(value), formsOf(value), { name, value });
      }
      if (secret.length < MIN_NEEDLE_CHARS || seen.has(secret) || text.includes("\r")) continue;
      const places = [text, `made ${text} again`, `made ${text} {"x":1}`];
      if (places.some((place) => redactor.redact(place).text.includes(secret))) continue;
      seen.add(secret);
      add(kind, text, [secret]);
    }
  }
  if (found.length < count) throw new Error(`there are only ${found.length} canaries`);
  return found.slice(0, count);
}

export function variablesOf(canaries: readonly Canary[]): Record<string, string> {
  return Object.fromEntries(canaries.flatMap(({ variable }) => (variable ? [[variable.name, variable.value]] : [])));
}

/** A redactor as a program that holds these variables has it. */
export function redactorFor(canaries: readonly Canary[]) {
  return createRedactor({ literals: literalsFromEnvironment(variablesOf(canaries)) });
}

/** All texts in one, as a file. */
export function sheetOf(canaries: readonly Canary[]): string {
  return `${canaries.map(({ text }) => text).join("\n\n# ----\n\n")}\n`;
}

/** The canaries that can be read in a text, be it as it is or inside a JSON string. */
export function rawIn(text: string, canaries: readonly Canary[]): readonly Canary[] {
  return canaries.filter(({ needles }) =>
    needles.some((needle) => text.includes(needle) || text.includes(JSON.stringify(needle).slice(1, -1))),
  );
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  return [
    value,
    bytes.toString("base64").replace(/=+$/, "").slice(0, -1),
    bytes.toString("hex"),
    encodeURIComponent(value),
  ];
}

/** The value in its forms, in places that tell nothing about it. */
function literalText(value: string): string {
  const bytes = Buffer.from(value, "utf8");
  return [
    `the word is ${value} here`,
    `in other words ${bytes.toString("base64")}`,
    `or ${bytes.toString("hex")}`,
    `and https://example.test/?q=${encodeURIComponent(value)}&n=1`,
  ].join("\n");
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = createSeededRandom(seed);
  const left = [...items];
  return items.map(() => left.splice(random.integer(left.length), 1)[0]!);
}
