/**
 * Takes secrets out of what was recorded. What came in pieces is looked at as a whole, for a secret may lie across two of them; where
 * there was one, the whole stands in the place of the first piece.
 */

import { markerPattern, redactionMarker } from "#base";
import { type Bytes, bytesOf, isBytes, toBytes } from "./bytes.ts";
import type { CassetteHead, Entry, EntryOf } from "./entries.ts";

/** What a replay gets for a secret that the recording used. */
export const SECRET_STAND_IN = redactionMarker("secret");

/** What is put in front of a cassette. Both throw where they cannot do their work, and nothing is then written. */
export interface CassetteRedactor {
  text(text: string): string;
  json<Value>(value: Value): Value;
}

export function withoutSecrets(
  head: CassetteHead,
  entries: readonly Entry[],
  redactor: CassetteRedactor,
): { readonly head: CassetteHead; readonly entries: readonly Entry[] } {
  const kinds = new Map<number, EntryOf<"ask">["of"]>();
  const said = new Map<number, [number, unknown][]>();
  for (const entry of entries) {
    if (entry.type === "ask") kinds.set(entry.ask, entry.of);
    if (entry.type === "say") said.set(entry.ask, [...(said.get(entry.ask) ?? []), ...entry.said]);
  }
  const replaced = new Map<unknown, unknown>();
  for (const [ask, pieces] of said) {
    const kind = kinds.get(ask);
    if (kind === "model") joinPieces(pieces, modelPiece, redactor, replaced);
    if (kind === "process") joinPieces(pieces, outputPiece, redactor, replaced);
  }
  const clean = entries.flatMap((entry): Entry[] => {
    if (entry.type !== "say") return [redactor.json(withCleanBytes(entry, redactor) as Entry)];
    const kept = entry.said.flatMap(([at, what]): [number, unknown][] => {
      if (!replaced.has(what)) return [[at, redactor.json(withCleanBytes(what, redactor))]];
      const instead = replaced.get(what);
      return instead === undefined ? [] : [[at, instead]];
    });
    return kept.length === 0 ? [] : [{ ...entry, said: kept }];
  });
  // The seed and the version are ours.
  const { cassette, started, seed, ...rest } = head;
  return { head: { cassette, started, seed, ...redactor.json(rest) }, entries: clean };
}

/** A secret is one kind in one place and another kind in another; for a comparison they are all the same. */
export function withPlainMarkers(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(markerPattern(), SECRET_STAND_IN);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withPlainMarkers);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withPlainMarkers(field)]));
}

/** A piece of text that belongs together with others of the same name. */
interface Piece {
  readonly name: string;
  readonly content: Uint8Array;
  with(text: string): unknown;
}

function modelPiece(said: unknown): Piece | undefined {
  const event = said as { type: string; block: number; text?: unknown };
  if ((event.type !== "text" && event.type !== "thinking") || typeof event.text !== "string") return undefined;
  const name = `${event.type} ${event.block}`;
  return { name, content: Buffer.from(event.text), with: (text) => ({ ...event, text }) };
}

function outputPiece(said: unknown): Piece {
  const [stream, bytes] = said as [string, Bytes];
  return { name: stream, content: bytesOf(bytes), with: (text) => [stream, text] };
}

function joinPieces(
  pieces: readonly (readonly [number, unknown])[],
  read: (said: unknown) => Piece | undefined,
  redactor: CassetteRedactor,
  replaced: Map<unknown, unknown>,
): void {
  const groups = new Map<string, { said: unknown; piece: Piece }[]>();
  for (const [, said] of pieces) {
    const piece = read(said);
    if (piece !== undefined) groups.set(piece.name, [...(groups.get(piece.name) ?? []), { said, piece }]);
  }
  for (const group of groups.values()) {
    const clean = cleanText(Buffer.concat(group.map(({ piece }) => piece.content)), redactor);
    if (clean === undefined) continue;
    for (const [index, { said, piece }] of group.entries())
      replaced.set(said, index === 0 ? piece.with(clean) : undefined);
  }
}

/** Undefined when there was nothing to take out. What is no text is looked at byte by byte. */
function cleanText(content: Uint8Array, redactor: CassetteRedactor): string | undefined {
  const bytes = toBytes(content);
  const text = typeof bytes === "string" ? bytes : Buffer.from(content).toString("latin1");
  const clean = redactor.text(text);
  return clean === text ? undefined : clean;
}

/** Bytes that are no text would pass a look at the text around them. */
function withCleanBytes(value: unknown, redactor: CassetteRedactor): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withCleanBytes(item, redactor));
  if (isBytes(value)) return cleanText(bytesOf(value), redactor) ?? value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withCleanBytes(field, redactor)]));
}
