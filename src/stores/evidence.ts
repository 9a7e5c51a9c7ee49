/**
 * The chain that makes the log tamper-evident. Events that are stored together form a link: one hash over the link before it,
 * the metadata of its events and a salted hash of their contents, so that contents can expire and the chain still verifies.
 * Pure.
 */
import { hash as digest, randomBytes } from "node:crypto";
import type { SessionId } from "#protocol";
import { hasContent } from "./expired-payload.ts";

export const SALT_BYTES = 16;
export const HASH_BYTES = 32;
/** Salts are drawn for many links at once: one call to the system for each would cost more than the hashing. */
const SALTS_PER_DRAW = 256;
/** Contents of one link expire together, so it is kept small; whoever reads a log holds one link at a time. */
export const MAX_LINK_EVENTS = 100;
const MAX_LINK_CHARS = 1024 * 1024;
/** Of a time as it is written: year to hour. Events of one link are of one hour, or contents would expire late. */
const HOUR_CHARS = 13;

/** What a link covers of an event. */
export interface LinkedEvent {
  readonly id: number;
  readonly kind: string;
  readonly ts: string;
  readonly originator: string | null;
  /** The JSON text that is stored. */
  readonly payload: string;
}

/** Stands with the last event of a link. Everything in lower-case hex. */
export interface Link {
  readonly hash: string;
  /** Salted hash of the contents; both are absent when no event of the link has any. */
  readonly content?: string;
  readonly salt?: string;
}

/** Where the chain of a session begins. */
export function chainStart(session: SessionId): string {
  return digest("sha256", `harness-log-1\n${session}`);
}

/**
 * A link that takes in events one after the other. This runs for every event on its way to the disk: what is hashed grows as
 * two texts, and a whole link costs two calls to the hash function, each of which costs more than what it hashes.
 */
export class OpenLink {
  /** What can expire, each payload on a line of its own. */
  #contents = "";
  /**
   * Everything else, each event on a line of its own. Neither JSON text nor the other fields have a raw tab or newline, so
   * that no text can be read in two ways.
   */
  #facts = "";
  #first = 0;
  #last = 0;
  #count = 0;
  #chars = 0;
  #hour = "";

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** False when an event of this time must not join: contents of one link expire together. */
  takes(ts: string): boolean {
    return this.#count === 0 || ts.startsWith(this.#hour);
  }

  /** Takes an event in; true when the link must end with it: at the end of a turn, which is signed, and at its bounds. */
  add({ id, kind, ts, originator, payload }: LinkedEvent): boolean {
    if (this.#count === 0) {
      this.#first = id;
      this.#hour = ts.slice(0, HOUR_CHARS);
    }
    if (hasContent(kind)) {
      this.#contents += `${payload}\n`;
      this.#facts += `${kind}\t${ts}\t${originator ?? ""}\t\n`;
    } else this.#facts += `${kind}\t${ts}\t${originator ?? ""}\t${payload}\n`;
    this.#last = id;
    this.#count += 1;
    this.#chars += payload.length;
    return kind === "TurnEnded" || this.#count >= MAX_LINK_EVENTS || this.#chars >= MAX_LINK_CHARS;
  }

  /** The link behind `prev`; then it is empty again. */
  close(session: SessionId, prev: string, nextSalt: () => string): Link {
    let link: Link;
    if (this.#contents === "") link = { hash: this.hashWith(session, prev, "") };
    else {
      const salt = nextSalt();
      const content = this.contentWith(salt) ?? "";
      link = { hash: this.hashWith(session, prev, content), content, salt };
    }
    this.#contents = "";
    this.#facts = "";
    this.#count = 0;
    this.#chars = 0;
    return link;
  }

  /** The hash of the contents with this salt; undefined when there are none. */
  contentWith(salt: string): string | undefined {
    return this.#contents === "" ? undefined : digest("sha256", `${salt}\n${this.#contents}`);
  }

  /** The hash of the link behind `prev` with this hash of its contents. The ids tell how many lines follow. */
  hashWith(session: SessionId, prev: string, content: string): string {
    const ids = `${this.#first} ${this.#last}`;
    return digest("sha256", `harness-link-2\n${prev}\n${content}\n${session} ${ids}\n${this.#facts}`);
  }
}

/** The hashes that these events give with the salt and the content hash of their link, to be compared with those in it. */
export function recomputeLink(
  session: SessionId,
  prev: string,
  events: readonly LinkedEvent[],
  { salt = "", content = "" }: Link,
): { readonly hash: string; readonly content: string | undefined } {
  const open = openLink(events);
  return { hash: open.hashWith(session, prev, content), content: open.contentWith(salt) };
}

function openLink(events: readonly LinkedEvent[]): OpenLink {
  const open = new OpenLink();
  for (const event of events) open.add(event);
  return open;
}

/** Exactly so many lower-case hex digits: how hashes, salts, keys and signatures are written. */
export function isHex(value: unknown, chars: number): value is string {
  return typeof value === "string" && value.length === chars && /^[0-9a-f]*$/.test(value);
}

/** Returns a fresh random salt at each call, in hex. */
export function createSalts(draw: (bytes: number) => Buffer = randomBytes): () => string {
  let pool = "";
  let at = 0;
  return () => {
    if (at >= pool.length) {
      pool = draw(SALT_BYTES * SALTS_PER_DRAW).toString("hex");
      at = 0;
    }
    at += SALT_BYTES * 2;
    return pool.slice(at - SALT_BYTES * 2, at);
  };
}
