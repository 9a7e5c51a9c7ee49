/** Card numbers and IBANs: found by their digits in a pass of their own, and believed only with their check digits. */
import { charSet, codeAt, DIGIT, has, runEnd } from "./char-set.ts";
import { luhnHolds, mod97Holds } from "./checks.ts";
import { beginsHere, endsHere } from "./probe.ts";

export interface PaymentHits {
  card(from: number, to: number): void;
  iban(from: number, to: number): void;
}

const MOST_CARD_DIGITS = 19;
const LEAST_CARD_DIGITS = 13;
/** How numbers are written in groups. */
const GROUPS: readonly (readonly number[])[] = [
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
];
/** Between groups: spaces, dashes and dots, also those of typesetters. */
const JOINTS = " -.\u00a0\u2007\u2009\u202f\u2010\u2011\u2012\u2013";
const ASCII = 128;
/** In every card number and in every IBAN; few other texts hold it, and nobody tells that faster. */
const CANDIDATE = new RegExp(`\\d{4}[${JOINTS.replace("-", "\\-")}]?\\d{4}|[A-Z]{2}\\d{2}`);
const IBAN_CHAR = charSet("A-Z0-9");

/** How long an IBAN of a country is. */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 " +
    "GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 " +
    "MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

const NOT = -1;
const CUT = -2;

/**
 * Tells every card number and IBAN at or behind `from`; returns where one may begin that the text cuts off, or -1. With `final`
 * nothing is cut off.
 */
export function scanPayments(text: string, from: number, final: boolean, hits: PaymentHits): number {
  if (final && !CANDIDATE.test(text)) return -1;
  const end = text.length;
  let pending = -1;
  const wait = (at: number): void => {
    if (pending < 0 || at < pending) pending = at;
  };
  for (let at = from; at < end; at++) {
    if (!isDigit(text.charCodeAt(at))) continue;
    if (isUpper(codeAt(text, at - 1)) && isUpper(codeAt(text, at - 2))) {
      const to = ibanEnd(text, at - 2, end, final);
      if (to === CUT) wait(at - 2);
      if (to > 0) {
        hits.iban(at - 2, to);
        at = to - 1;
        continue;
      }
    }
    const group = runEnd(DIGIT, text, at, end);
    const to = isDigit(codeAt(text, at - 1)) ? NOT : cardEnd(text, at, group, end, final);
    if (to === CUT) wait(at);
    if (to > 0) hits.card(at, to);
    at = Math.max(group, to) - 1;
  }
  if (!final) for (const back of [1, 2]) if (isCountryCut(text, end, back)) wait(end - back);
  return pending;
}

/** The end of the card number whose first digits are `at` to `group`, NOT, or CUT. */
function cardEnd(text: string, at: number, group: number, end: number, final: boolean): number {
  const first = group - at;
  const code = codeAt(text, at);
  if (first > MOST_CARD_DIGITS || code < 50 || code > 56 || !beginsHere(text, at)) return NOT;
  if (group === end && !final) return CUT;
  if (first >= LEAST_CARD_DIGITS) {
    if (!final && end - group < LOOK_AHEAD) return CUT;
    return isCard(text, at, group, "") ? group : NOT;
  }
  const joint = text.charAt(group);
  if (first !== 4 || !JOINTS.includes(joint)) return NOT;
  let cut = false;
  for (const lengths of GROUPS) {
    const to = groupsEnd(text, group, joint, lengths, end, final);
    if (to === CUT || (to > 0 && !final && end - to < LOOK_AHEAD)) cut = true;
    else if (to > 0 && isCard(text, at, to, joint)) return to;
  }
  return cut ? CUT : NOT;
}

function groupsEnd(
  text: string,
  first: number,
  joint: string,
  lengths: readonly number[],
  end: number,
  final: boolean,
): number {
  let here = first;
  for (const length of lengths.slice(1)) {
    if (here === end) return final ? NOT : CUT;
    if (text.charAt(here) !== joint) return NOT;
    const to = runEnd(DIGIT, text, here + 1, Math.min(end, here + 2 + length));
    if (to === end && !final) return CUT;
    if (to - here - 1 !== length) return NOT;
    here = to;
  }
  return here;
}

/** Visa, Mastercard (both ranges), American Express, Discover, JCB, Diners, UnionPay, Maestro. */
const ISSUER = /^(?:4|5[0-9]|2[2-7]|3[04-9]|6[0-9]|81)/;
/** How far behind a number it shows that it is part of something longer. */
const LOOK_AHEAD = 5;

function isCard(text: string, from: number, to: number, joint: string): boolean {
  if (!endsHere(text, to) || (joint !== "" && isInList(text, from, to))) return false;
  // A part of a decimal number or of an identifier is none.
  if (/[.\-_+/]/.test(text.charAt(from - 1)) || /^[.\-_/]\w/.test(text.slice(to, to + 2))) return false;
  const digits = text.slice(from, to).replace(/\D/g, "");
  return ISSUER.test(digits) && hasLength(digits) && new Set(digits).size > 2 && luhnHolds(digits);
}

/** Groups of four go on before or behind it. */
function isInList(text: string, from: number, to: number): boolean {
  const isInside = (code: number): boolean => code !== DOT && isJoint(code);
  const isGroup = (at: number): boolean => runEnd(DIGIT, text, at, at + 4) === at + 4;
  if (from >= LOOK_AHEAD && isInside(codeAt(text, from - 1)) && isGroup(from - LOOK_AHEAD)) return true;
  return to + LOOK_AHEAD <= text.length && isInside(codeAt(text, to)) && isGroup(to + 1);
}

/** The lengths that the issuers give; numbers of other lengths are ids and times far more often than cards. */
function hasLength(digits: string): boolean {
  const { length } = digits;
  if (digits.startsWith("4")) return length === 16 || length === 13 || length === 19;
  if (/^3[47]/.test(digits)) return length === 15;
  if (/^3[0689]/.test(digits)) return length === 14 || length === 16;
  if (/^(?:5[1-5]|2[2-7]|35)/.test(digits)) return length === 16;
  return length === 16 || length === 19;
}

/** The end of the IBAN that begins at `at`, NOT, or CUT. */
function ibanEnd(text: string, at: number, end: number, final: boolean): number {
  if (!beginsHere(text, at)) return NOT;
  const length = IBAN_LENGTHS.get(text.slice(at, at + 2));
  if (length === undefined) return NOT;
  let here = at;
  let count = 0;
  while (here < end && count < length) {
    const code = text.charCodeAt(here);
    if (has(IBAN_CHAR, code)) count += 1;
    else if (!isJoint(code) || (here + 1 < end && !has(IBAN_CHAR, codeAt(text, here + 1)))) return NOT;
    // The check digits stand right behind the country.
    if ((count === 3 || count === 4) && here < at + 4 && !isDigit(code)) return NOT;
    here += 1;
  }
  if (here === end && !final) return CUT;
  if (count < length || !endsHere(text, here)) return NOT;
  return mod97Holds(text.slice(at, here).replace(/[^A-Z0-9]/g, "")) ? here : NOT;
}

/** One or two capitals at the very end may be the country of an IBAN. */
function isCountryCut(text: string, end: number, back: number): boolean {
  if (back > end) return false;
  for (let at = end - back; at < end; at++) if (!isUpper(codeAt(text, at))) return false;
  return beginsHere(text, end - back);
}

const SPACE = 32;
const DASH = 45;
const DOT = 46;

function isJoint(code: number): boolean {
  if (code < ASCII) return code === SPACE || code === DASH || code === DOT;
  return JOINTS.includes(String.fromCharCode(code));
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
