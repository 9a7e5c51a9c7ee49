/** What tells a secret from something that only looks like one: entropy, placeholders, code, checksums. Pure functions. */
import { wordSet } from "#base";
import { charSet, codeAt, has } from "./char-set.ts";
import { createWordTest } from "./keyword-scan.ts";

/** A value is judged by its beginning: enough to tell, and the same whether or not the rest has arrived. */
export const JUDGED_CHARS = 64;

/** A value without digits is no secret that can be told by itself when it is shorter. */
export const LEAST_LETTERS_ONLY_CHARS = 12;

/** The part of a value that it is judged by. */
export function judgedPart(text: string, from: number, to: number): string {
  return text.slice(from, Math.min(to, from + JUDGED_CHARS));
}

/** What a value is made of. */
export interface Makeup {
  readonly length: number;
  readonly lower: number;
  readonly upper: number;
  readonly digits: number;
  /** Everything else. */
  readonly marks: number;
  /** Whether one of the marks is another than `-`, `_`, `=`, `+` and `/`: only then it can be code. */
  readonly hasCodeMarks: boolean;
  readonly distinct: number;
  /** Shannon entropy in bits for each character. */
  readonly entropy: number;
}

/** Counts of up to {@link JUDGED_CHARS} in one number: lowercase letters, capitals, digits, marks of code. */
const SORT_BITS = 7;
const SORT_MASK = 2 ** SORT_BITS - 1;
const SORTS = Int32Array.from({ length: 129 }, (_, code) => {
  const sets = [charSet("a-z"), charSet("A-Z"), charSet("0-9"), charSet("^A-Za-z0-9_=+/-")];
  return 2 ** (SORT_BITS * sets.findIndex((set) => has(set, code)));
});

/** By how much `n log2 n` grows with one more of a character. */
const GROWTH = Float64Array.from({ length: JUDGED_CHARS + 1 }, (_, count) =>
  count === 0 ? 0 : (count + 1) * Math.log2(count + 1) - count * Math.log2(count),
);
/**
 * Scratch of {@link makeup}, which runs often enough for an allocation to show: how often it has met a character, on top of a base that
 * grows with each call, so that what an earlier one has left counts as nothing.
 */
const counts = new Int32Array(129);
const BASE_STEP = JUDGED_CHARS + 1;
const MAX_BASE = 2 ** 30;
let base = 0;

/** Of the first {@link JUDGED_CHARS} characters; `length` is that of the whole. */
export function makeup(text: string, from: number, to: number): Makeup {
  const end = Math.min(to, from + JUDGED_CHARS);
  let sorts = 0;
  let distinct = 0;
  let sum = 0;
  base += BASE_STEP;
  if (base > MAX_BASE) {
    base = BASE_STEP;
    counts.fill(0);
  }
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at);
    const slot = code < 128 ? code : 128;
    const known = counts[slot]!;
    if (known > base) {
      sum += GROWTH[known - base]!;
      counts[slot] = known + 1;
    } else {
      distinct += 1;
      counts[slot] = base + 1;
    }
    sorts += SORTS[slot]!;
  }
  const judged = end - from;
  const entropy = judged === 0 ? 0 : Math.log2(judged) - sum / judged;
  const lower = sorts & SORT_MASK;
  const upper = (sorts >> SORT_BITS) & SORT_MASK;
  const digits = (sorts >> (2 * SORT_BITS)) & SORT_MASK;
  const hasCodeMarks = sorts >> (3 * SORT_BITS) > 0;
  return {
    length: to - from,
    lower,
    upper,
    digits,
    marks: judged - lower - upper - digits,
    hasCodeMarks,
    distinct,
    entropy,
  };
}

const isPlaceholderWord = createWordTest(
  [
    "example sample placeholder your dummy changeme change-me change_me changeit replace insert- insert_ todo fixme fake",
    "foobar not-real not_real notreal goes-here goes_here masked hidden xxxxxx *** ... … #### abcdefghij lorem",
  ].flatMap((line) => line.split(" ")),
);

/** `xxxx`, `your-key-here`, `***`: what people write where a secret belongs. */
export function isPlaceholder(value: string, { distinct }: Pick<Makeup, "distinct">): boolean {
  return distinct <= 2 || isPlaceholderWord(value);
}

/** A reference to a secret that is kept elsewhere, or a place to put one: `${VAR}`, `<token>`, `op://…`, `/run/secrets/x`. */
const REFERENCE =
  /^(?:\$[A-Za-z_({$]|%[A-Za-z_]\w*%|\{\{|\{%|<[A-Za-z/!%]|\[[A-Za-z]|@[A-Za-z{]|!(?:Ref|Sub|vault|secret|env)|#\{|~\/|\.{1,2}\/|\/[\w.-]+\/|[A-Za-z]:\\|[a-z][a-z0-9+.-]{1,15}:\/\/|arn:aws|secretsmanager|ssm:|vault:|file:|env[:.(]|ref\+|keyring:|sha(?:1|256|384|512)[-:])/;
/** A name or an expression in code: `config.token`, `settings.get(…)`, `getPassword`. Without a digit and a mark it is no token. */
const EXPRESSION =
  /^(?:(?:process|os|self|this|env|config|settings|options|opts|args|params|req|request|res|data|state|props|ctx|context|secrets|vars|var|local|module|System|Deno|import|new|await|async|function|return|typeof|lambda|def|func|user|creds|credentials|form|body|input|flags|c|s|t|p|r|k|cfg|conf|client|session|github|inputs|steps|needs|matrix|data\.\w+)[.[(?!]|[A-Za-z_$][\w$]*\(|[A-Za-z_$][A-Za-z_$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][A-Za-z_$]*)+$)/;
const DULL_WORDS = wordSet(
  "string str text bytes none null nil undefined true false yes no on off any object bool boolean number int integer float varchar char " +
    "password passwd passphrase secret token key apikey api_key access_token refresh_token auth bearer basic default required optional missing invalid " +
    "incorrect wrong empty unset unknown not set reset forgot new old confirm current change expired field input value type name prompt " +
    "enabled disabled encrypted plain plaintext hashed hash env environment self this stdin file vault keychain prompted ask never always " +
    "credentials credential authorization identifier literal comment operator punctuation whitespace eof newline void const let var function return " +
    "test testing dummy redacted public private admin optionalstring securestring secretstr",
);

/** It stands for a value that is kept elsewhere. */
export function isReference(value: string): boolean {
  // Most values begin with a letter, and hold nothing that a reference with that letter must have.
  if (has(OPENS_ADDRESS, codeAt(value, 0)) && !value.includes(":")) return false;
  return REFERENCE.test(value);
}

/** Letters and digits; but for `env.`, `ref+`, `sha256-` and `secretsmanager`, what begins so and is a reference has a colon. */
const OPENS_ADDRESS = charSet("A-Za-df-qt-z0-9");

/** It is computed: what stands without quotes in code. */
export function isExpression(value: string): boolean {
  return EXPRESSION.test(value);
}

const DULL_MAX_CHARS = 24;
/** Length and first letter of the dull words: most values are none by these alone. */
const DULL_BEGINNINGS = new Set([...DULL_WORDS].map((word) => word.length * 128 + codeAt(word, 0)));

/** A word of documentation or a type, not a value of its own. */
export function isDullWord(value: string): boolean {
  let { length } = value;
  while (length > 0 && ENDS_SENTENCE.includes(value[length - 1]!)) length -= 1;
  if (length > DULL_MAX_CHARS || !DULL_BEGINNINGS.has(length * 128 + (codeAt(value, 0) | 32))) return false;
  return DULL_WORDS.has(value.slice(0, length).toLowerCase());
}

const ENDS_SENTENCE = ".,;:!?";
const MOST_IDENTIFIER_DIGITS = 3;
const LEAST_WORD_SHARE = 0.75;
const LEAST_WORD_CHARS = 3;
/** So many letters have a vowel among them where they can be spoken. */
const CHARS_PER_VOWEL = 7;
const NAME_CHAR = charSet("A-Za-z0-9_.$!?");
/** Words of code that cannot be spoken. */
const UNSPOKEN = new Set(
  "http https html css sql mysql xml tls ssl ssh jwt tcp dns rpc grpc npm gpg pgp pbkdf ctx cfg tmp src str ptr msg cmd pwd".split(
    " ",
  ),
);

const UNSPOKEN_NUMBERS = new Set([...UNSPOKEN].map((word) => wordNumber(word, 0, word.length)));
const MAX_UNSPOKEN_CHARS = Math.max(...[...UNSPOKEN].map(({ length }) => length));

/** A short word of letters as one number, the same in both cases: faster to look up than a part of a text. */
function wordNumber(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) number = (number << 5) | (text.charCodeAt(at) & 31);
  return number;
}

/**
 * A name in code, such as `X509Credential` or `credentials_1.Credentials`: nearly all of it is words. Letters that merely follow one
 * another are none: a third of all random values would be names.
 */
export function isCodeName(value: string, { digits, lower, upper }: Makeup): boolean {
  if (digits > MOST_IDENTIFIER_DIGITS || lower + upper === 0) return false;
  const { length } = value;
  let inWords = 0;
  let start = 0;
  let vowels = 0;
  let wasLower = false;
  let next = length === 0 ? 0 : value.charCodeAt(0);
  for (let at = 0; at < length; at++) {
    const code = next;
    next = at + 1 < length ? value.charCodeAt(at + 1) : 0;
    const isLower = code >= 97 && code <= 122;
    const isUpper = code >= 65 && code <= 90;
    if (!isLower && !isUpper && !has(NAME_CHAR, code)) return false;
    // A capital behind a small letter or in front of one begins a word; so does everything behind what is no letter.
    const begins = isUpper && (wasLower || (next >= 97 && next <= 122));
    wasLower = isLower;
    if (begins || (!isLower && !isUpper)) {
      if (isWord(value, start, at, vowels)) inWords += at - start;
      start = begins ? at : at + 1;
      vowels = 0;
    }
    if (has(VOWEL, code)) vowels += 1;
  }
  if (isWord(value, start, length, vowels)) inWords += length - start;
  return inWords >= LEAST_WORD_SHARE * (lower + upper);
}

function isWord(value: string, from: number, to: number, vowels: number): boolean {
  const length = to - from;
  if (length < LEAST_WORD_CHARS) return false;
  if (vowels * CHARS_PER_VOWEL >= length) return true;
  return length <= MAX_UNSPOKEN_CHARS && UNSPOKEN_NUMBERS.has(wordNumber(value, from, to));
}

const VOWEL = charSet("AEIOUYaeiouy");

/** The check digit of card numbers. */
export function luhnHolds(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, double = false; at >= 0; at--, double = !double) {
    const digit = codeAt(digits, at) - 48;
    const counted = double ? digit * 2 : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}

/** The check digits of an IBAN without spaces: read as one number, it leaves 1 when divided by 97. */
export function mod97Holds(iban: string): boolean {
  const { length } = iban;
  let rest = 0;
  for (let at = 0; at < length; at++) {
    const code = codeAt(iban, (at + 4) % length);
    rest = (code > 57 ? rest * 100 + code - 55 : rest * 10 + code - 48) % 97;
  }
  return rest === 1;
}
