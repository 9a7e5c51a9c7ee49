/**
 * Tool names on the wire: vendors take 64 letters, digits, `_` and `-`. The way back is a look-up in the request's own tools, never a
 * split.
 */
import { canonicalHash } from "#base";
import type { ToolSchema } from "#engine";
import { ReasonError } from "#protocol";

const MAX_CHARS = 64;
const HASH_CHARS = 8;
/** Names that a server chose: nobody here can change one that is taken. */
const FOREIGN = "mcp.";

export interface WireNames {
  /** Also for tools that are no longer in the list: history may mention them. */
  toWire(name: string): string;
  /** A name that no tool of the request has is the model's invention and stays as it is. */
  toCanonical(wireName: string): string;
}

/** Throws ConfigInvalid when two tools would get the same name on the wire. A tool of a server gets another name instead. */
export function createWireNames(tools: readonly ToolSchema[]): WireNames {
  const canonical = new Map<string, string>();
  const wire = new Map<string, string>();
  const foreignLast = tools.toSorted((a, b) => Number(a.name.startsWith(FOREIGN)) - Number(b.name.startsWith(FOREIGN)));
  for (const { name } of foreignLast) {
    const plain = toWire(name);
    const wireName = canonical.has(plain) && name.startsWith(FOREIGN) ? withHash(plain, name) : plain;
    const other = canonical.get(wireName);
    if (other !== undefined) {
      const detail = `the tools '${other}' and '${name}' cannot both be offered: both are '${wireName}' to the model`;
      throw new ReasonError("ConfigInvalid", detail);
    }
    canonical.set(wireName, name);
    wire.set(name, wireName);
  }
  return {
    toWire: (name) => wire.get(name) ?? toWire(name),
    toCanonical: (wireName) => canonical.get(wireName) ?? wireName,
  };
}

function toWire(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  return plain.length <= MAX_CHARS ? plain : withHash(plain, name);
}

function withHash(plain: string, name: string): string {
  return `${plain.slice(0, MAX_CHARS - HASH_CHARS - 1)}_${canonicalHash(name).slice(0, HASH_CHARS)}`;
}
