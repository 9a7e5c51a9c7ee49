/** Data that leaves a script: what JSON can say, and nothing else. */
import { Opaque } from "#starlark";
import { isAbsent, isRecord, typeName } from "./arguments.ts";

const MAX_DEPTH = 100;

/** A copy that JSON can hold; secrets become what stands for them. Throws with the path of the first thing that does not fit. */
export function jsonData(value: unknown): unknown {
  return copy(value, "", 0);
}

/** The text of such data. Ints beyond 2^53 keep all their digits. */
export function jsonText(value: unknown): string {
  return JSON.stringify(copy(value, "", 0), (_key, part: unknown) =>
    typeof part === "bigint" ? rawJson(String(part)) : part,
  );
}

function copy(value: unknown, path: string, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Error(`${where(path)} is nested deeper than ${MAX_DEPTH} levels`);
  if (isAbsent(value)) return null;
  if (typeof value === "string" || typeof value === "boolean" || typeof value === "bigint") return value;
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    throw new Error(`${where(path)} is ${floatName(value)}, which JSON cannot hold`);
  }
  if (value instanceof Opaque) return value.toJSON();
  if (Array.isArray(value) || value instanceof Set) {
    return Array.from(value, (item, index) => copy(item, `${path}[${index}]`, depth + 1));
  }
  if (isRecord(value)) {
    const out: Record<string, unknown> = {};
    for (const [key, part] of Object.entries(value)) {
      Object.defineProperty(out, key, {
        value: copy(part, path === "" ? key : `${path}.${key}`, depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return out;
  }
  if (value instanceof Map) throw new Error(`${where(path)} has a key that is not a string, which JSON cannot hold`);
  throw new Error(`${where(path)} is ${typeName(value)}, which JSON cannot hold`);
}

function where(path: string): string {
  return path === "" ? "the value" : path;
}

function floatName(value: number): string {
  if (Number.isNaN(value)) return "nan";
  return value > 0 ? "+inf" : "-inf";
}

/** `JSON.rawJSON` is in every Node that we run on; the library's types do not know it yet. */
function rawJson(text: string): unknown {
  const json = JSON as unknown as { rawJSON(text: string): unknown };
  return json.rawJSON(text);
}
