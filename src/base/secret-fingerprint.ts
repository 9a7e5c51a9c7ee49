/**
 * What lets a process recognise a secret that it does not have: of each form the first characters, the length and two hashes
 * under a key of this run. The quick one tells nearly everything that is not the secret; the other one decides.
 */
import { isSearchable, secretForms } from "./secret-forms.ts";

/** Few enough to tell nothing, enough to be rare in ordinary text. */
const ANCHOR_CHARS = 4;
const FACTOR = 16_777_619;

export interface FingerprintedForm {
  readonly anchor: string;
  readonly chars: number;
  /** See `SecretForm`. */
  readonly before: number;
  readonly after: number;
  readonly quick: number;
  readonly mac: string;
}

export interface SecretFingerprint {
  /** Hex; the same for all forms of a secret. */
  readonly seed: string;
  readonly forms: readonly FingerprintedForm[];
}

/** Undefined for a value that is too short or too plain to be looked for. */
export function fingerprintSecret(secret: Uint8Array): SecretFingerprint | undefined {
  const value = Buffer.from(secret).toString("utf8");
  if (!isSearchable(value)) return undefined;
  const seed = process.getBuiltinModule("node:crypto").randomBytes(32).toString("hex");
  const start = startOf(seed);
  const forms = secretForms(value).map(({ text, before, after }) => ({
    anchor: text.slice(0, ANCHOR_CHARS),
    chars: text.length,
    before,
    after,
    quick: quickHash(text, 0, text.length, start),
    mac: macOf(seed, text),
  }));
  return { seed, forms };
}

/** Whether the form stands in `text` at `at`; the text must be long enough. */
export function createFormTest(
  { seed }: SecretFingerprint,
  form: FingerprintedForm,
): (text: string, at: number) => boolean {
  const start = startOf(seed);
  const { chars, quick, mac } = form;
  return (text, at) =>
    quickHash(text, at, at + chars, start) === quick && macOf(seed, text.slice(at, at + chars)) === mac;
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
