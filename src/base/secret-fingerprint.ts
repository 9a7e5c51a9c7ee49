/**
 * What lets a process recognise a secret that it does not have: of each form the first characters, the length and three hashes
 * under a key of this run. The quick ones, of its beginning and of the whole, reject nearly everything that is not the secret; the
 * last one decides.
 */
import { foldedForms } from "./folded-forms.ts";
import { isSearchable, type SecretForm, secretForms } from "./secret-forms.ts";

/** Few enough to tell nothing, enough to be rare in ordinary text. */
const ANCHOR_CHARS = 4;
/** Text full of the public beginning of a vendor's keys costs a look at so many characters for each of them, not at a whole key. */
export const HEAD_CHARS = 16;
const FACTOR = 16_777_619;

export interface FingerprintedForm {
  readonly anchor: string;
  readonly chars: number;
  /** See `SecretForm`. */
  readonly before: number;
  readonly after: number;
  readonly head: number;
  readonly quick: number;
  readonly mac: string;
}

export interface SecretFingerprint {
  /** Hex; the same for all forms of a secret. */
  readonly seed: string;
  readonly forms: readonly FingerprintedForm[];
  /** Of what dumps and folds leave of it, see `foldedForms`. */
  readonly folded: readonly FingerprintedForm[];
}

/** Undefined for a value that is too short or too plain to be looked for. */
export function fingerprintSecret(secret: Uint8Array): SecretFingerprint | undefined {
  const value = Buffer.from(secret).toString("utf8");
  if (!isSearchable(value)) return undefined;
  const seed = process.getBuiltinModule("node:crypto").randomBytes(32).toString("hex");
  const folded = foldedForms(value).map((text) => ({ text, before: 0, after: 0 }));
  return {
    seed,
    forms: secretForms(value).map((form) => fingerprintForm(seed, form)),
    folded: folded.map((form) => fingerprintForm(seed, form)),
  };
}

function fingerprintForm(seed: string, { text, before, after }: SecretForm): FingerprintedForm {
  const start = startOf(seed);
  return {
    anchor: text.slice(0, ANCHOR_CHARS),
    chars: text.length,
    before,
    after,
    head: quickHash(text, 0, Math.min(text.length, HEAD_CHARS), start),
    quick: quickHash(text, 0, text.length, start),
    mac: macOf(seed, text),
  };
}

/** Whether a text of {@link HEAD_CHARS}, or of all its characters where it has fewer, is what the form begins with. */
export function createHeadTest({ seed }: SecretFingerprint, form: FingerprintedForm): (head: string) => boolean {
  const start = startOf(seed);
  const chars = Math.min(form.chars, HEAD_CHARS);
  return (head) => head.length >= chars && quickHash(head, 0, chars, start) === form.head;
}

/** Whether the form stands in `text` at `at`; the text must be long enough. */
export function createFormTest(
  { seed }: SecretFingerprint,
  form: FingerprintedForm,
): (text: string, at: number) => boolean {
  const start = startOf(seed);
  const { chars, head, quick, mac } = form;
  const headChars = Math.min(chars, HEAD_CHARS);
  return (text, at) =>
    quickHash(text, at, at + headChars, start) === head &&
    quickHash(text, at, at + chars, start) === quick &&
    macOf(seed, text.slice(at, at + chars)) === mac;
}

function startOf(seed: string): number {
  return Number.parseInt(seed.slice(0, 8), 16) | 0;
}

function quickHash(text: string, from: number, to: number, start: number): number {
  let hash = start;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FACTOR);
  return hash;
}

function macOf(seed: string, text: string): string {
  return process.getBuiltinModule("node:crypto").createHmac("sha256", seed).update(text).digest("hex");
}

/** Those that are there are told to whoever comes, and new ones to all. */
export interface KnownSecrets {
  /** Undefined is none. */
  add(fingerprint: SecretFingerprint | undefined): void;
  listen(listener: (fingerprint: SecretFingerprint) => void): void;
}

export function createKnownSecrets(): KnownSecrets {
  const known: SecretFingerprint[] = [];
  const listeners: ((fingerprint: SecretFingerprint) => void)[] = [];
  return {
    add(fingerprint) {
      if (fingerprint === undefined) return;
      known.push(fingerprint);
      for (const listener of listeners) listener(fingerprint);
    },
    listen(listener) {
      listeners.push(listener);
      for (const fingerprint of known) listener(fingerprint);
    },
  };
}
