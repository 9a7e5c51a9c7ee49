/** Redaction of JSON values: strings and keys as text, and whole values where the name of the field decides. */
import { redactionMarker } from "#base";
import { isDullWord, isPlaceholder, isReference, judgedPart } from "./checks.ts";
import { findMarkers } from "./marker.ts";
import type { FieldRow, RuleRow } from "./rule.ts";
import { RuleError } from "./rule-error.ts";
import type { Finding } from "./scanner.ts";

const MAX_DEPTH = 256;
/** Values that may be one token are looked at together with their name. */
const TOKEN_MIN_CHARS = 4;
const TOKEN_MAX_CHARS = 512;
/** The end of a name says what its values are; each of them is looked at with it. */
const NAMING_CHARS = 256;
const CARD_MIN_DIGITS = 13;
const CLEAN_MAX_CHARS = 256;
const MAX_CLEAN = 4_096;

/** `kinds`: of each secret that was in it. */
export interface RedactedText {
  readonly text: string;
  readonly kinds: readonly string[];
}

export type JsonWalk = <T>(value: T) => { readonly value: T; readonly kinds: readonly string[] };

/** `find`: what a text holds, in order and without overlaps. */
export function createJsonWalk(
  rows: readonly RuleRow[],
  find: (text: string) => readonly Finding[],
  redactText: (text: string) => RedactedText,
  kinds: ReadonlySet<string>,
): JsonWalk {
  const deciding = createNameTable(rows);
  /** Short strings that have nothing to redact, with their name: most of them come again and again. */
  const clean = new Set<string>();
  const isMarker = (text: string): boolean => {
    const [first] = findMarkers(text, 0, kinds);
    return first?.from === 0 && first.to === text.length;
  };

  return (value) => {
    const found: string[] = [];
    const whole = (kind: string): string => {
      found.push(kind);
      return redactionMarker(kind);
    };
    const replace = (text: string): string => {
      const redacted = redactText(text);
      for (const kind of redacted.kinds) found.push(kind);
      return redacted.text;
    };

    const walk = (item: unknown, key: string, depth: number): unknown => {
      if (depth > MAX_DEPTH) throw new RuleError(`the value is nested deeper than ${MAX_DEPTH}`);
      if (typeof item === "string") return redactString(item, key);
      if (typeof item === "number" || typeof item === "bigint") return redactNumber(item, key);
      if (item === null || typeof item !== "object") return item;
      if (!Array.isArray(item)) return redactObject(item, depth);
      const items = item.map((element) => walk(element, key, depth + 1));
      return items.some((element, index) => element !== item[index]) ? items : item;
    };

    const redactObject = (item: object, depth: number): object => {
      let changed = false;
      const entries = Object.entries(item).map(([key, field]): [string, unknown] => {
        const name = key.length < TOKEN_MIN_CHARS ? key : redactString(key, "");
        const redacted = walk(field, key.slice(-NAMING_CHARS), depth + 1);
        changed ||= name !== key || redacted !== field;
        return [name, redacted];
      });
      return changed ? Object.fromEntries(entries) : item;
    };

    const redactString = (text: string, key: string): string => {
      if (text.length > CLEAN_MAX_CHARS) return redactAnew(text, key);
      const named = `${key}\0${text}`;
      if (clean.has(named)) return text;
      const redacted = redactAnew(text, key);
      if (redacted === text) {
        if (clean.size >= MAX_CLEAN) clean.clear();
        clean.add(named);
      }
      return redacted;
    };

    const redactAnew = (text: string, key: string): string => {
      const kind = deciding(key);
      if (kind !== undefined && isMeant(text) && !isMarker(text)) return whole(kind);
      if (key === "" || text.length < TOKEN_MIN_CHARS || text.length > TOKEN_MAX_CHARS || /[\s"\\]/.test(text)) {
        return replace(text);
      }
      const prefix = `"${key}": "`;
      const inValue = find(`${prefix}${text}"`).find(({ to }) => to > prefix.length);
      return inValue === undefined ? text : whole(inValue.kind);
    };

    const redactNumber = (number: number | bigint, key: string): unknown => {
      const kind = deciding(key);
      if (kind !== undefined) return whole(kind);
      const text = String(number);
      return text.length >= CARD_MIN_DIGITS && find(text).length > 0 ? replace(text) : number;
    };

    // What comes out has the form of what went in, but for strings and numbers that were replaced.
    return { value: walk(value, "", 0) as typeof value, kinds: found };
  };
}

/** The kind of a name whose value is secret whatever it is: passwords, codes, phrases. */
function createNameTable(rows: readonly RuleRow[]): (key: string) => string | undefined {
  const fields = rows
    .filter((row): row is FieldRow => row.type === "field" && (row.value === "any" || row.value === "password"))
    .flatMap(({ kind, names, whole }) => names.map((name) => ({ kind, name: name.replace(/[-_.]/g, ""), whole })));
  const known = new Map<string, string | undefined>();
  return (key) => {
    if (key === "" || key.length > MAX_NAME_CHARS) return undefined;
    if (known.has(key)) return known.get(key);
    const plain = key.toLowerCase().replace(/[-_. ]/g, "");
    const field = fields.find(({ name, whole }) => (whole ? plain === name : plain.endsWith(name)));
    if (known.size < MAX_KNOWN_NAMES) known.set(key, field?.kind);
    return field?.kind;
  };
}

const MAX_NAME_CHARS = 64;
const MAX_KNOWN_NAMES = 2_000;

/** Something was put there: not nothing, a placeholder, a reference, or a word that says that there is none. */
function isMeant(text: string): boolean {
  if (text.trim() === "") return false;
  const value = judgedPart(text, 0, text.length);
  return !isDullWord(value) && !isReference(value) && !isPlaceholder(value, { distinct: 3 });
}
