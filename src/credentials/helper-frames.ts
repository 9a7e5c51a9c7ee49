/**
 * What the engine tells the credential helper over its standard input, and what it answers on its standard output. A frame is
 * two lengths, a JSON head and bytes, so that a secret is never part of a string.
 */
import type { SecretFingerprint } from "#base/secret-fingerprint";

const LENGTHS_BYTES = 8;
const MAX_HEAD_BYTES = 256 * 1024;
const MAX_BODY_BYTES = 64 * 1024;

export type AuthScheme = "x-api-key" | "bearer";

export type HelperCommand =
  | {
      readonly type: "hello";
      /** Shown with every request: whoever else finds the socket is refused. */
      readonly pass: string;
      /** A private folder of this run, which the helper takes away at the end. */
      readonly folder: string;
      /** Proxy variables, as the user has set them. */
      readonly proxy: Readonly<Record<string, string>>;
    }
  /** Body: a key for secrets that came from the environment, under which they are kept for a helper that takes over. */
  | { readonly type: "recovery" }
  /** Body: the secret. */
  | { readonly type: "secret"; readonly id: string }
  /** Body: the key of the credential file. */
  | { readonly type: "store"; readonly path: string }
  /** Answered when all that was said before it is done. */
  | { readonly type: "sync" }
  | {
      readonly type: "bind";
      readonly id: string;
      readonly auth: AuthScheme;
      readonly from:
        | { readonly secret: string; readonly hosts: readonly string[] }
        | { readonly provider: string; readonly name: string };
    }
  | {
      /** An MCP server on the network: requests go to its origin alone. */
      readonly type: "remote";
      readonly id: string;
      readonly name: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, SecretHeader>>;
      readonly mayBePrivate: boolean;
      /** Which stored login its requests use, by the time it was made. Absent: none. */
      readonly login?: string;
    }
  /** A login at an MCP server; the request with this id starts it. The client secret is one that was handed over. */
  | ({ readonly type: "login"; readonly id: string; readonly clientSecret?: string } & LoginEntry);

/** The entry of an MCP server, as far as a login needs it. */
export interface LoginEntry {
  readonly name: string;
  readonly url: string;
  readonly kind: "http" | "sse";
  /** As they are written in the user's entry. */
  readonly headers: Readonly<Record<string, string>>;
  readonly mayBePrivate: boolean;
  /** A client that the user registered at the authorization server. */
  readonly clientId?: string;
  /** Where the client metadata document of the user is hosted. */
  readonly clientMetadataUrl?: string;
  readonly callbackPort?: number;
  readonly scopes?: readonly string[];
}

/** A secret that was handed over, as the value of a header. */
export interface SecretHeader {
  readonly secret: string;
  readonly prefix: string;
}

export type HelperAnswer =
  | { readonly type: "ready"; readonly socket: string }
  | { readonly type: "bound"; readonly id: string }
  | { readonly type: "synced" }
  /** A key that the helper has, as whoever redacts can recognise it. */
  | { readonly type: "known"; readonly fingerprint: SecretFingerprint }
  /** Some stored keys could not be opened, so nobody can recognise them. */
  | { readonly type: "untold"; readonly detail: string }
  | { readonly type: "refused"; readonly id: string; readonly problem: string; readonly detail: string }
  | { readonly type: "failed"; readonly detail: string };

/** Headers between engine and helper. All begin alike, so that none of a vendor's can be taken for one of ours. */
export const HELPER_HEADERS = {
  prefix: "x-harness-",
  pass: "x-harness-pass",
  credential: "x-harness-credential",
  url: "x-harness-url",
  /** The helper did not send the request, and why. */
  refused: "x-harness-refused",
  /** The vendor could not be reached: the code of the system. */
  failed: "x-harness-failed",
  /** A trailer: the vendor ended the response before its end. */
  cut: "x-harness-cut",
} as const;

/** Written by the helper to say that it is alive. */
export const HEARTBEAT = 0;
export const HEARTBEAT_MS = 5_000;

export function encodeFrame(command: HelperCommand, body: Uint8Array = new Uint8Array(0)): Buffer {
  const head = Buffer.from(JSON.stringify(command));
  const frame = Buffer.allocUnsafeSlow(LENGTHS_BYTES + head.length + body.length);
  frame.writeUInt32BE(head.length, 0);
  frame.writeUInt32BE(body.length, 4);
  frame.set(head, LENGTHS_BYTES);
  frame.set(body, LENGTHS_BYTES + head.length);
  return frame;
}

/** Gives each whole frame to `take`, in order. Throws when the other side does not speak this language. */
export function createFrameReader(take: (command: HelperCommand, body: Buffer) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0);
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    // What it was made of is no longer needed, and may hold secrets.
    chunk.fill(0);
    while (pending.length >= LENGTHS_BYTES) {
      const headEnd = LENGTHS_BYTES + pending.readUInt32BE(0);
      const end = headEnd + pending.readUInt32BE(4);
      if (headEnd > MAX_HEAD_BYTES || end - headEnd > MAX_BODY_BYTES) throw new Error("a frame is too large");
      if (pending.length < end) return;
      const command = JSON.parse(pending.toString("utf8", LENGTHS_BYTES, headEnd)) as HelperCommand; // written by the engine
      const body = Buffer.from(pending.subarray(headEnd, end));
      const rest = Buffer.from(pending.subarray(end));
      pending.fill(0);
      pending = rest;
      take(command, body);
    }
  };
}
