/** Tool names on the wire: vendors refuse dots. The way back is a look-up in the request's own tools, never a split. */
import type { ToolSchema } from "#engine";
import { ReasonError } from "#protocol";

export interface WireNames {
  /** Also for tools that are no longer in the list: history may mention them. */
  toWire(name: string): string;
  /** A name that no tool of the request has is the model's invention and stays as it is. */
  toCanonical(wireName: string): string;
}

/** Throws ConfigInvalid when two tools would get the same name on the wire. */
export function createWireNames(tools: readonly ToolSchema[]): WireNames {
  const canonical = new Map<string, string>();
  for (const { name } of tools) {
    const wireName = toWire(name);
    const other = canonical.get(wireName);
    if (other !== undefined) {
      const detail = `the tools '${other}' and '${name}' cannot both be offered: both are '${wireName}' to the model`;
      throw new ReasonError("ConfigInvalid", { detail });
    }
    canonical.set(wireName, name);
  }
  return { toWire, toCanonical: (wireName) => canonical.get(wireName) ?? wireName };
}

function toWire(name: string): string {
  return name.replaceAll(".", "_");
}
