/** Cookies, passwords in URLs and `-u user:password`: secrets that stand in a place, not under a name of their own. */
import { charSet, codeAt, has, runEnd } from "./char-set.ts";
import { isCodeName, isDullWord, isPlaceholder, isReference, judgedPart, makeup } from "./checks.ts";
import { ARMED, beginsHere, createRunEnds, found, type Matcher, NOTHING, PENDING, type Probe } from "./probe.ts";

const SPACE = charSet(" \\t");
const COOKIE_NAME = charSet("A-Za-z0-9_.%*!#$&^~-");
const COOKIE_VALUE = charSet("^\\s\"';,\\\\<>");
/** All cookies of a header, up to the end of its line or of the string that it is in. */
const COOKIES = charSet("^\\n\\r\"'\\\\`<>");
const MAX_COOKIE_NAME_CHARS = 64;
const LEAST_COOKIE_VALUE_CHARS = 6;

/** At `Cookie:` or the like: everything that is sent, when it has the form `name=value`. */
export function createCookieMatcher(): Matcher {
  const cookiesEnd = createRunEnds(COOKIES);
  return (probe, at, after) => {
    const { text, end, final } = probe;
    if (!beginsHere(text, at) || /-$/.test(text.slice(Math.max(0, at - 1), at))) return NOTHING;
    if (isOpeningCut(probe, after)) return PENDING;
    const from = skipOpening(text, after, end);
    const equals = runEnd(COOKIE_NAME, text, from, Math.min(end, from + MAX_COOKIE_NAME_CHARS));
    if (equals === end && !final) return PENDING;
    if (equals === from || codeAt(text, equals) !== 61) return NOTHING;
    const to = cookiesEnd(probe, from);
    if (to === end && !final) return ARMED;
    const first = runEnd(COOKIE_VALUE, text, equals + 1, to);
    const hasMore = codeAt(text, first) === 59 && to - first > LEAST_COOKIE_VALUE_CHARS;
    return hasMore || isCookieValue(text, equals + 1, first) ? found(probe, from, to, COOKIES) : NOTHING;
  };
}

/** At `Set-Cookie:`: the value alone, so that name and attributes can still be read. */
export function createSetCookieMatcher(): Matcher {
  const valueEnd = createRunEnds(COOKIE_VALUE);
  return (probe, at, after) => {
    const { text, end, final } = probe;
    if (!beginsHere(text, at)) return NOTHING;
    if (isOpeningCut(probe, after)) return PENDING;
    const from = skipOpening(text, after, end);
    const equals = runEnd(COOKIE_NAME, text, from, Math.min(end, from + MAX_COOKIE_NAME_CHARS));
    if (equals === end && !final) return PENDING;
    if (equals === from || codeAt(text, equals) !== 61) return NOTHING;
    const to = valueEnd(probe, equals + 1);
    if (to === end && !final) return ARMED;
    return isCookieValue(text, equals + 1, to) ? found(probe, equals + 1, to, COOKIE_VALUE) : NOTHING;
  };
}

/** Spaces, and the quotes between the name of a header and its value in JSON and code. */
function skipOpening(text: string, from: number, end: number): number {
  const opening = OPENING.exec(text.slice(from, Math.min(end, from + MAX_OPENING_CHARS)));
  return from + (opening?.[0].length ?? 0);
}

const MAX_OPENING_CHARS = 64;
/** Also `"cookie", "value": "`, as archives of requests have it. */
const OPENING = /^[\\"']{0,8}(?:,\s{0,16}\\{0,7}"value\\{0,7}")?[ \t]{0,4}[:,=]?[ \t]{0,4}[\\"'[]{0,9}/;

/** Whether the text ends before the value begins. */
function isOpeningCut({ text, end, final }: Probe, from: number): boolean {
  return !final && end - from < MAX_OPENING_CHARS && CUT_OPENING.test(text.slice(from, end));
}

const CUT_OPENING = /^[\\"']{0,8}(?:,\s{0,16}\\{0,7}"?v?a?l?u?e?\\{0,7}"?)?[ \t]{0,4}[:,=]?[ \t]{0,4}[\\"'[]{0,9}$/;

function isCookieValue(text: string, from: number, to: number): boolean {
  if (to - from < LEAST_COOKIE_VALUE_CHARS) return false;
  const value = judgedPart(text, from, to);
  return !isPlaceholder(value, makeup(text, from, to)) && !isReference(value);
}

const USER = charSet("^\\s\"'`:/@?#<>(){}\\[\\]|,;\\\\");
const PASSWORD = charSet("^\\s\"'`/@?#<>|\\\\");
/** A password may hold an unescaped `@` or `#` when a host still follows; bounded, because each attempt looks for it. */
const MAX_USER_CHARS = 128;
const MAX_PASSWORD_CHARS = 512;

/** At `scheme://`: the password in front of `@host`. */
export const matchUrlPassword: Matcher = (probe, _at, after) => {
  const { text, end, final } = probe;
  const colon = runEnd(USER, text, after, Math.min(end, after + MAX_USER_CHARS));
  if (colon === end && !final) return colon - after < LEAST_TOKEN_USER_CHARS ? PENDING : ARMED;
  // `https://TOKEN@host` and `https://TOKEN:x-oauth-basic@host`: the user is the secret.
  if (codeAt(text, colon) === 64) return isTokenUser(text, after, colon) ? found(probe, after, colon) : NOTHING;
  if (codeAt(text, colon) !== 58) return NOTHING;
  const from = colon + 1;
  let to = runEnd(PASSWORD, text, from, Math.min(end, from + MAX_PASSWORD_CHARS));
  if (to === end && !final) return to === from ? PENDING : ARMED;
  // `p@ss@host`: the last `@` before the host counts.
  for (;;) {
    if (codeAt(text, to) !== 64) break;
    const next = runEnd(PASSWORD, text, to + 1, Math.min(end, from + MAX_PASSWORD_CHARS));
    if (next === end && !final) return ARMED;
    if (codeAt(text, next) !== 64) break;
    to = next;
  }
  if (to > from && has(PATH_OPENS, codeAt(text, to)) && mayHoldPath(text, after, from)) {
    const loose = runEnd(LOOSE_PASSWORD, text, to, Math.min(end, from + MAX_PASSWORD_CHARS));
    if (loose === end && !final) return ARMED;
    if (codeAt(text, loose) === 64) to = loose;
  }
  if (to - from < 3 || codeAt(text, to) !== 64) return NOTHING;
  const value = judgedPart(text, from, to);
  if (isTokenUser(text, after, colon)) return found(probe, after, to);
  const isUnreal = isPlaceholder(value, makeup(text, from, to)) || isReference(value) || isDullWord(value);
  return isUnreal ? NOTHING : found(probe, from, to);
};

const PATH_OPENS = charSet("/?#");
const LOOSE_PASSWORD = charSet("^\\s\"'`@<>|\\\\");
const SCHEME_CHARS = 24;

/** People forget to encode `/`, `?` and `#` in the password of a database. On the web an `@` behind them is part of the path. */
function mayHoldPath(text: string, after: number, from: number): boolean {
  const scheme =
    /[A-Za-z][\w+.-]*$/.exec(text.slice(Math.max(0, after - SCHEME_CHARS), after - "://".length))?.[0] ?? "";
  if (scheme === "" || /^(?:git\+)?(?:https?|wss?|file|blob|app)$/i.test(scheme)) return false;
  return !/^\d{1,5}[,/?#]/.test(text.slice(from, from + 6));
}

const LEAST_TOKEN_USER_CHARS = 20;
const LEAST_TOKEN_USER_ENTROPY = 3;
/** A name of words and numbers. */
const JOINED_PARTS = /^(?:[A-Za-z]+|\d+)(?:[-_.](?:[A-Za-z]+|\d+))*$/;
const TOKEN_USER = /^[\w~.=-]+$/;

function isTokenUser(text: string, from: number, to: number): boolean {
  if (to - from < LEAST_TOKEN_USER_CHARS) return false;
  const made = makeup(text, from, to);
  const { digits, lower, upper, entropy } = made;
  const value = judgedPart(text, from, to);
  if (digits < 2 || lower + upper === 0 || entropy < LEAST_TOKEN_USER_ENTROPY || !TOKEN_USER.test(value)) return false;
  return !JOINED_PARTS.test(value) && !isCodeName(value, made) && !isPlaceholder(value, made);
}

/** At `-p` or `-a `: the password of a command that takes it there, with or without a space. */
export function createPasswordFlagMatcher(): Matcher {
  const commands = createPasswordCommands();
  return (probe, at, after) => {
    const { text, end, final } = probe;
    if (!has(BEFORE_FLAG, codeAt(text, at - 1))) return NOTHING;
    const start = runEnd(SPACE, text, after, Math.min(end, after + 4));
    if (codeAt(text, start) === DASH) return NOTHING;
    const from = has(QUOTES, codeAt(text, start)) ? start + 1 : start;
    const to = runEnd(USER_PASSWORD, text, from, end);
    const isCut = to === end && !final;
    // Asked first: what command it is takes longer to tell.
    if (to - from < LEAST_PASSWORD_CHARS && !isCut) return NOTHING;
    const command = commands[text.charAt(at + 1)]?.before(probe, at) ?? "";
    if (command === "") return NOTHING;
    if (start === end && !final) return PENDING;
    // `mysql -p shop` asks for the password; what follows is the database.
    if (start > after && !commands[text.charAt(at + 1)]!.takesSpaced(command)) return NOTHING;
    if (isCut) return ARMED;
    const made = makeup(text, from, to);
    const value = judgedPart(text, from, to);
    if (made.digits === made.length || isDullWord(value) || isReference(value) || isPlaceholder(value, made))
      return NOTHING;
    return found(probe, from, to, USER_PASSWORD);
  };
}

const DASH = 45;
/** A space, or the quote of a list of arguments. */
const BEFORE_FLAG = charSet(" \\t\"'");
const QUOTES = charSet("\"'");
const LEAST_PASSWORD_CHARS = 4;
const FLAG_LOOK_BACK = 80;
const MAX_COMMAND_CHARS = 12;
/** By the flag: what a command before it is called, and which of these take the password behind a space as well. */
const PASSWORD_COMMANDS: Readonly<Record<string, { readonly words: RegExp; readonly spaced?: RegExp }>> = {
  a: { words: /redis-cli|valkey-cli/ },
  k: { words: /openssl enc/ },
  p: { words: /sshpass| login |mongo|psexec|mysql|mariadb|7z/, spaced: /sshpass| login |mongo|psexec/ },
  P: { words: /unzip|zip |sqlcmd|mosquitto_|bcp / },
  w: { words: /ldap/ },
};

interface PasswordCommand {
  /** The text of the command that the flag at `at` belongs to; empty when it takes no password there. */
  before(probe: Probe, at: number): string;
  takesSpaced(command: string): boolean;
}

function createPasswordCommands(): Readonly<Record<string, PasswordCommand>> {
  return Object.fromEntries(
    Object.entries(PASSWORD_COMMANDS).map(([flag, { words, spaced = words }]) => [
      flag,
      createPasswordCommand(words, spaced),
    ]),
  );
}

/** Remembers up to where no command is called, because flags can stand close together. */
function createPasswordCommand(words: RegExp, spaced: RegExp): PasswordCommand {
  let generation = -1;
  let without = 0;
  return {
    before(probe, at) {
      const { text } = probe;
      if (generation !== probe.generation) {
        generation = probe.generation;
        without = 0;
      }
      const least = Math.max(without, at - FLAG_LOOK_BACK);
      let start = at;
      while (start > least && has(COMMAND, text.charCodeAt(start - 1))) start -= 1;
      const command = text.slice(start, at);
      if (words.test(command)) return command;
      without = Math.max(0, at - MAX_COMMAND_CHARS);
      return "";
    },
    takesSpaced: (command) => spaced.test(command),
  };
}

/** At `-u `, of a command that takes `user:password` there. */
export function createUserFlagMatcher(): Matcher {
  const takesUser = createTakesUser();
  return (probe, at, after) => {
    const { text, end, final } = probe;
    if (!has(SPACE, codeAt(text, at - 1))) return NOTHING;
    let here = runEnd(SPACE, text, after, Math.min(end, after + 4));
    if (/["']/.test(text.charAt(here))) here += 1;
    const colon = runEnd(USER, text, here, Math.min(end, here + MAX_USER_CHARS));
    if (colon === end && !final) return PENDING;
    if (colon === here || codeAt(text, colon) !== 58) return NOTHING;
    const to = runEnd(USER_PASSWORD, text, colon + 1, end);
    if (to === end && !final) return ARMED;
    const from = colon + 1;
    const value = judgedPart(text, from, to);
    if (to - from < 4 || isDullWord(value) || isReference(value)) return NOTHING;
    if (isPlaceholder(value, makeup(text, from, to))) return NOTHING;
    return takesUser(probe, at) ? found(probe, from, to, USER_PASSWORD) : NOTHING;
  };
}

const USER_PASSWORD = charSet("^\\s\"'`\\\\");
const LOOK_BACK = 200;
const COMMAND = charSet("^\\n|;&");

/** Whether the flag at `at` belongs to a command that takes a user with the password. Close flags share the answer. */
function createTakesUser(): (probe: Probe, at: number) => boolean {
  let generation = -1;
  let asked = 0;
  let took = false;
  return (probe, at) => {
    const { text } = probe;
    const least =
      generation === probe.generation && took && at - asked < LOOK_BACK ? asked : Math.max(0, at - LOOK_BACK);
    let start = at;
    while (start > least && has(COMMAND, text.charCodeAt(start - 1))) start -= 1;
    const isSame = least === asked && start === asked && generation === probe.generation && took;
    took = isSame || /(?:\b|\\[nrt])(?:curl|https?|wget|xh|siege|smbclient|etcdctl|ab)\b/.test(text.slice(start, at));
    generation = probe.generation;
    asked = at;
    return took;
  };
}
