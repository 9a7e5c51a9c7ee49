/** JSON as the formatter of this repository writes it. */

const LINE_WIDTH = 120;

/** A list stays on one line where it fits. */
export function formatJson(value: unknown, indent = "", used = 0): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const flat = `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
    const isPlain = value.every((item) => typeof item !== "object" || item === null);
    if (isPlain && used + flat.length < LINE_WIDTH) return flat;
    return `[\n${value.map((item) => inner + formatJson(item, inner)).join(",\n")}\n${indent}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value);
  if (fields.length === 0) return "{}";
  const lines = fields.map(([key, field]) => {
    const start = `${inner}${JSON.stringify(key)}: `;
    return start + formatJson(field, inner, start.length);
  });
  return `{\n${lines.join(",\n")}\n${indent}}`;
}
