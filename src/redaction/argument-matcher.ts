/** Passwords that are known by their place among others: the arguments of a call that logs in, and the address of a database of Go. */
import { MARKER_CLOSES, MARKER_OPENS } from "#base";
import { charSet, codeAt, has, runEnd } from "./char-set.ts";
import { isDullWord, isPlaceholder, isReference, judgedPart, makeup } from "./checks.ts";
import { quotedSet } from "./field-syntax.ts";
import { ARMED, beginsHere, found, type Matcher, NOTHING, PENDING } from "./probe.ts";

/** How a call that takes a password begins, and which of its arguments that is. */
const PASSWORD_ARGUMENTS: Readonly<Record<string, number>> = {
  "auth=(": 2,
  "httpbasicauth(": 2,
  "networkcredential(": 2,
  "passwordauthentication(": 2,
  "basicauth(": 2,
  "setbasicauth(": 2,
  "basic_auth(": 2,
  "credentials.basic(": 2,
  "authenticationheadervalue(": 2,
  "login(": 2,
  "jwt.sign(": 2,
  "jwt.verify(": 2,
  "createhmac(": 2,
  "twilio(": 2,
  "mysqli(": 3,
  "mysqli_connect(": 3,
  "pdo(": 3,
  "getconnection(": 3,
};

export const LOGIN_CALLS: readonly string[] = Object.keys(PASSWORD_ARGUMENTS);

const BLANK = charSet("\\s");
const MAX_BLANK_CHARS = 48;
const EXPRESSION = charSet("A-Za-z0-9_.$>\\[\\]-");
const MAX_EXPRESSION_CHARS = 64;
const MAX_ARGUMENT_CHARS = 256;
const ESCAPES = charSet("\\\\");
const MAX_ESCAPES = 3;
const QUOTES = charSet("\"'");
/** Inside another string, where quotes have a backslash in front. */
const ESCAPED_TEXT = charSet("^\"'\\n\\r\\\\");
const CLOSING = charSet("\\s\"'\\\\");
const COMMA = 44;
const COLON = 58;
const AT_SIGN = 64;

/** At `mysqli(`: the password among the arguments, when it is written out. */
export const matchLoginCall: Matcher = (probe, at, after) => {
  const { text, end, final } = probe;
  if (!beginsHere(text, at)) return NOTHING;
  const wanted = PASSWORD_ARGUMENTS[text.slice(at, after).toLowerCase()] ?? 0;
  const cut = final ? NOTHING : PENDING;
  let here = after;
  for (let argument = 1; argument <= wanted; argument++) {
    here = runEnd(BLANK, text, here, Math.min(end, here + MAX_BLANK_CHARS));
    const opens = runEnd(ESCAPES, text, here, Math.min(end, here + MAX_ESCAPES));
    if (opens >= end) return cut;
    const isText = has(QUOTES, codeAt(text, opens));
    const from = isText ? opens + 1 : here;
    const set = !isText ? EXPRESSION : opens > here ? ESCAPED_TEXT : quotedSet(text.charAt(opens));
    const to = runEnd(set, text, from, Math.min(end, from + (isText ? MAX_ARGUMENT_CHARS : MAX_EXPRESSION_CHARS)));
    if (to >= end && !final) return argument === wanted && isText ? ARMED : PENDING;
    if (argument === wanted) return isText && isWrittenOut(text, from, to) ? found(probe, from, to, set) : NOTHING;
    // Escapes, the quote that ends a text, and what stands in front of the comma.
    here = runEnd(isText ? CLOSING : BLANK, text, to, Math.min(end, to + MAX_BLANK_CHARS));
    if (here >= end) return cut;
    if (codeAt(text, here) !== COMMA) return NOTHING;
    here += 1;
  }
  return NOTHING;
};

const DSN_PART = charSet("^\\s\"'`@:/()<>\\\\");
const MAX_DSN_CHARS = 128;

/** At `@tcp(`: the password in `user:password@tcp(host:3306)/database`. */
export const matchDataSource: Matcher = (probe, at) => {
  const { text } = probe;
  const least = Math.max(0, at - MAX_DSN_CHARS);
  let from = at;
  while (from > least && (has(DSN_PART, text.charCodeAt(from - 1)) || text.charCodeAt(from - 1) === AT_SIGN)) from -= 1;
  if (from === least || codeAt(text, from - 1) !== COLON || !has(DSN_PART, codeAt(text, from - 2))) return NOTHING;
  if (isKind(text, from, at)) return NOTHING;
  return isWrittenOut(text, from, at) ? found(probe, from, at) : NOTHING;
};

/** A marker has a colon too. It is no user, and its kind no password, but it may stand where the first part of one was. */
function isKind(text: string, from: number, to: number): boolean {
  if (!text.endsWith(MARKER_OPENING, from - 1) || !text.slice(from, to).includes(MARKER_CLOSES)) return false;
  return codeAt(text, from - 2 - MARKER_OPENING.length) !== COLON;
}

/** Up to the colon, which is looked at for itself. */
const MARKER_OPENING = MARKER_OPENS.slice(0, -1);
const LEAST_CHARS = 4;

function isWrittenOut(text: string, from: number, to: number): boolean {
  if (to - from < LEAST_CHARS) return false;
  const made = makeup(text, from, to);
  const value = judgedPart(text, from, to);
  if (made.digits + made.marks === 0 || value.includes(" ") || isDullWord(value) || isReference(value)) return false;
  return !isPlaceholder(value, made);
}
