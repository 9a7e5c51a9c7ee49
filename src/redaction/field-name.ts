/** Where the name of a field ends: behind a number, and behind what says which of several secrets it is. */
import { wordSet } from "#base";
import { charSet, codeAt, DIGIT, has, NAME, runEnd } from "./char-set.ts";
import type { Probe } from "./probe.ts";

/** How far a name may begin in front of the word that says that it is secret. */
export const LOOK_BACK = 48;

/** `PASSWORD2`, `api_key_1`. */
export function skipNumber(text: string, after: number, end: number): number {
  const code = codeAt(text, after);
  const digits = code === 95 || code === 45 ? after + 1 : after;
  if (!has(DIGIT, codeAt(text, digits))) return after;
  const to = runEnd(DIGIT, text, digits, Math.min(end, digits + 3));
  return to > digits ? to : after;
}

/**
 * Behind `_PROD` of `PASSWORD_PROD`; `after` for a name that says more about the secret than that it is one. Remembers where the name
 * begins and ends, because several words of it may be asked about.
 */
export function createSuffixEnd(): (probe: Probe, at: number, after: number) => number {
  let generation = -1;
  let from = 0;
  let nameEnd = 0;
  return (probe, at, after) => {
    const { text, end } = probe;
    if (codeAt(text, after) !== UNDERSCORE || !has(UPPER_NAME, codeAt(text, after - 1))) return after;
    const least = Math.max(0, at - LOOK_BACK);
    if (generation !== probe.generation || at < from || after > nameEnd) {
      generation = probe.generation;
      nameEnd = runEnd(UPPER_NAME, text, after, end);
      from = after;
      while (from > least && has(UPPER_NAME, text.charCodeAt(from - 1))) from -= 1;
    }
    const to = Math.min(nameEnd, after + MAX_SUFFIX_CHARS);
    if (to < end && !has(BEHIND_NAME, codeAt(text, to))) return after;
    const start = Math.max(from, least);
    if (start > at || has(NAME, codeAt(text, start - 1))) return after;
    // A later word of the name that says the same is looked at by itself.
    if (SECRET_WORD.test(text.slice(after, to))) return after;
    const mayBeWord = to < end && !has(DIGIT, text.charCodeAt(to - 1));
    return mayBeWord && ABOUT_SECRET.has(text.slice(text.lastIndexOf("_", to - 1) + 1, to)) ? after : to;
  };
}

const UNDERSCORE = 95;
const SECRET_WORD = /_(?:TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|PASSPHRASE)_/;
const UPPER_NAME = charSet("A-Z0-9_");
const BEHIND_NAME = charSet(" \\t=:\"'\x1b");
const MAX_SUFFIX_CHARS = 40;
/** What follows is a name, a place or a number, not the secret; or the last word is one that says that it is secret itself. */
export const ABOUT_SECRET: ReadonlySet<string> = wordSet(
  "ID IDS NAME NAMES URL URLS URI URIS FILE FILES PATH PATHS DIR TYPE TYPES HOST PORT USER LEN LENGTH SIZE TTL AGE EXPIRY EXPIRES " +
    "EXPIRATION TIMEOUT COUNT LIMIT MIN MAX HASH ALG ALGO ALGORITHM ARN VERSION FIELD HEADER PREFIX SUFFIX FORMAT ENABLED REQUIRED REGEX " +
    "PATTERN POLICY PROVIDER ISSUER AUDIENCE SCOPE SCOPES ENDPOINT REGION BUCKET ENV VAR INTERVAL LABEL CLASS MODE SOURCE STORE TABLE " +
    "COLUMN PROMPT MESSAGE ERROR KEY TOKEN SECRET SECRETS PASSWORD PASSWD PASS PWD PASSPHRASE CREDENTIALS AUTHORIZATION JWT",
);
