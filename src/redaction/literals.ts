/**
 * Secrets whose value is known, from the environment or the credential store: found exactly, also as base64 at any alignment,
 * base64url, hex, URL-encoded and JSON-escaped; and in a folded view, as whatever dumps and folds make of them.
 */
import {
  createFormTest,
  createHeadTest,
  type FingerprintedForm,
  foldedForms,
  isSearchable,
  type SecretFingerprint,
  type SecretForm,
  secretForms,
} from "#base";
import { codeAt } from "./char-set.ts";
import { ARMED, found, type Matcher, NOTHING, type Probe } from "./probe.ts";
import { type CompiledRule, RANK_LITERAL } from "./rule-table.ts";

export interface LiteralSecret {
  readonly value: string;
  /** Stands in the marker; default {@link LITERAL_KIND}. */
  readonly kind?: string;
}

export const LITERAL_KIND = "known-secret";
/** How much of a form is looked for in the first pass; the rest is compared where that was found. */
const KEYWORD_CHARS = 10;

/** Rules of known secrets: those for a text, and those for its folded views. */
export interface KnownRules {
  readonly exact: readonly CompiledRule[];
  readonly folded: readonly CompiledRule[];
  /** Those of `exact` whose secrets may have too few letters and digits for a folded form. */
  readonly short: readonly CompiledRule[];
}

/** A secret of so many characters has a folded form of its own, but for one that is made of punctuation. */
const SHORT_CHARS = 32;

export interface CompiledLiterals extends KnownRules {
  readonly active: number;
  /** Values too short or too plain to look for. */
  readonly skipped: number;
}

export function compileLiterals(literals: readonly LiteralSecret[]): CompiledLiterals {
  const usable = literals.filter(({ value }) => isSearchable(value));
  const exactRules = ({ value, kind }: LiteralSecret) => secretForms(value).map((form) => literalRule(form, kind));
  return {
    exact: usable.flatMap(exactRules),
    short: usable.filter(({ value }) => value.length < SHORT_CHARS).flatMap(exactRules),
    folded: usable.flatMap(({ value, kind }) =>
      foldedForms(value).map((text) => literalRule({ text, before: 0, after: 0 }, kind)),
    ),
    active: usable.length,
    skipped: literals.length - usable.length,
  };
}

function literalRule(form: SecretForm, kind = LITERAL_KIND): CompiledRule {
  return { kind, rank: RANK_LITERAL, cost: 0, keywords: [form.text.slice(0, KEYWORD_CHARS)], match: matcherOf(form) };
}

function matcherOf({ text: form, before, after }: SecretForm): Matcher {
  const last = form.charCodeAt(form.length - 1);
  return (probe: Probe, at) => {
    const { text, end, final } = probe;
    // Keys of one vendor begin alike: their ends are looked at first.
    if (codeAt(text, at + form.length - 1) !== last || !text.startsWith(form, at)) {
      const isCut = !final && end - at < form.length && form.startsWith(text.slice(at, end));
      return isCut ? ARMED : NOTHING;
    }
    const to = at + form.length;
    if (to + after > end && !final) return ARMED;
    return found(probe, at - Math.min(before, at), Math.min(end, to + after));
  };
}

/** Secrets that another process has: found by what it has told about them. */
export function compileFingerprint(fingerprint: SecretFingerprint): KnownRules {
  const rule = (form: FingerprintedForm): CompiledRule => fingerprintRule(fingerprint, form);
  const foldedRule = (form: FingerprintedForm): CompiledRule => ({
    ...rule(form),
    mayBegin: createHeadTest(fingerprint, form),
  });
  const exact = fingerprint.forms.map(rule);
  const isShort = fingerprint.forms.some(({ chars }) => chars < SHORT_CHARS);
  return { exact, short: isShort ? exact : [], folded: fingerprint.folded.map(foldedRule) };
}

function fingerprintRule(fingerprint: SecretFingerprint, form: FingerprintedForm): CompiledRule {
  const { anchor, chars, before, after } = form;
  const isHere = createFormTest(fingerprint, form);
  const match: Matcher = (probe, at) => {
    const { text, end, final } = probe;
    const to = at + chars;
    if (to > end) return !final && text.startsWith(anchor, at) ? ARMED : NOTHING;
    if (!isHere(text, at)) return NOTHING;
    if (to + after > end && !final) return ARMED;
    return found(probe, at - Math.min(before, at), Math.min(end, to + after));
  };
  return { kind: LITERAL_KIND, rank: RANK_LITERAL, cost: 0, keywords: [anchor], match };
}
