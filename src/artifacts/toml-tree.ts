/** TOML as the tree that tables are read from. The parser keeps no positions: the place of a value is where its name is first written. */
import { parse, TomlError } from "smol-toml";
import { ReasonError } from "#protocol";
import type { SourceLocation } from "./project.ts";
import type { MapTree, Tree } from "./yaml-tree.ts";

export interface TomlTree {
  readonly root: MapTree;
  /** The dotted name of what is at a place of this tree. */
  nameAt(place: SourceLocation): string;
}

/** Throws a `ReasonError` (`ConfigInvalid`) with the place for what is not TOML, and for a date, which no key takes. */
export function parseToml(file: string, text: string): TomlTree {
  const names = new Map<SourceLocation, string>();
  /** `written` is what to look for. The line is only worked out when somebody asks: most places are never shown. */
  const placeOf = (path: readonly string[], written = path): SourceLocation => {
    const place: SourceLocation = {
      file,
      get line() {
        return lineOf(text, written);
      },
      column: 1,
    };
    names.set(place, path.join("."));
    return place;
  };
  const treeOf = (value: unknown, path: readonly string[]): Tree => {
    const isEntry = typeof value === "string" && /^\d+$/.test(path.at(-1) ?? "");
    const place = placeOf(path, isEntry ? [...path, value] : path);
    if (Array.isArray(value)) {
      return { kind: "list", items: value.map((item, index) => treeOf(item, [...path, String(index)])), place };
    }
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      return { kind: "scalar", value, place, textPlace: place, linesHold: true };
    }
    if (typeof value === "object" && value !== null && !(value instanceof Date)) return mapOf(value, path, place);
    throw new ReasonError("ConfigInvalid", `${file}:${place.line}: ${path.join(".")}: a date is not allowed here`);
  };
  const mapOf = (table: object, path: readonly string[], place: SourceLocation): MapTree => ({
    kind: "map",
    entries: Object.entries(table).map(([key, value]) => {
      const tree = treeOf(value, [...path, key]);
      return { key, keyPlace: tree.place, value: tree };
    }),
    place,
  });
  try {
    return { root: mapOf(parse(text), [], placeOf([])), nameAt: (place) => names.get(place) ?? "" };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const message = error.message.split("\n")[0] ?? "invalid TOML";
    throw new ReasonError("ConfigInvalid", `${file}:${error.line}:${error.column}: ${message}`);
  }
}

/** The line where the last part of a name first appears after the ones before it; 1 when it is not written out. */
function lineOf(text: string, path: readonly string[]): number {
  let at = 0;
  for (const [depth, segment] of path.entries()) {
    const isIndex = /^\d+$/.test(segment);
    const found = isIndex ? startOfTable(text, path.slice(0, depth), Number(segment)) : text.indexOf(segment, at);
    if (found >= 0) at = found;
    else if (!isIndex) break;
  }
  return text.slice(0, at).split("\n").length;
}

/** Where the header of this table of an array (`[[hooks]]`) ends; -1 where the list is written in another way. */
function startOfTable(text: string, path: readonly string[], index: number): number {
  const name = path.filter((part) => !/^\d+$/.test(part)).join(".");
  const headers = [...text.matchAll(/^[ \t]*\[\[([^\]\n]*)\]\]/gm)];
  const header = headers.filter(([, written = ""]) => written.trim() === name)[index];
  return header === undefined ? -1 : header.index + header[0].length;
}
