/** What the files of a workspace looked like when they were last read, kept between runs. A cache: losing it costs time. */

import { readPrivateFile, writePrivateFile } from "#world";
import type { EntryState } from "./change-set.ts";
import type { Seal } from "./seal.ts";
import type { KnownEntry } from "./snapshot.ts";

const LABEL = "baseline 1";

type Row = readonly [
  path: string,
  ino: string,
  size: string,
  mtimeNs: string,
  ctimeNs: string,
  rawMode: string,
  birthNs: string,
  state: EntryState,
];

export function saveBaseline(file: string, seal: Seal, known: ReadonlyMap<string, KnownEntry>): void {
  const rows: Row[] = [];
  for (const [path, { ino, size, mtimeNs, ctimeNs, rawMode, birthNs, settled, state }] of known) {
    if (!settled || state === undefined || state.kind === "directory") continue;
    const numbers = [ino, size, mtimeNs, ctimeNs, rawMode, birthNs].map(String);
    // Six numbers make six texts.
    rows.push([path, ...numbers, state] as unknown as Row);
  }
  writePrivateFile(file, seal.seal(Buffer.from(JSON.stringify(rows)), LABEL), { durable: false });
}

/** Entries whose content is still kept; none when there is no baseline that opens. */
export function loadBaseline(
  file: string,
  seal: Seal,
  isKept: (hash: string) => boolean,
): readonly (readonly [string, KnownEntry])[] {
  const sealed = readPrivateFile(file);
  const opened = sealed === undefined ? undefined : seal.open(sealed, LABEL);
  if (opened === undefined) return [];
  // What opens under our key and label was written by `saveBaseline`.
  const rows = JSON.parse(opened.toString("utf8")) as readonly Row[];
  return rows
    .filter(([, , , , , , , state]) => state.kind !== "file" || isKept(state.hash))
    .map(([path, ino, size, mtimeNs, ctimeNs, rawMode, birthNs, state]) => [
      path,
      {
        ino: BigInt(ino),
        size: BigInt(size),
        mtimeNs: BigInt(mtimeNs),
        ctimeNs: BigInt(ctimeNs),
        rawMode: BigInt(rawMode),
        birthNs: BigInt(birthNs),
        settled: true,
        state,
      },
    ]);
}
