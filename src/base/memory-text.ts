/** A memory as the model reads it. */
import type { Memory } from "./memory-port.ts";

export function memoryText({ name, scope, type, updated, description, body }: Memory): string {
  const about = [`${scope} memory ${name}`, type, ...(updated === undefined ? [] : [`of ${updated}`])].join(", ");
  return [`[${about}] ${description}`, ...(body === "" ? [] : [body])].join("\n");
}
