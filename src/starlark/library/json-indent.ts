/** Puts line breaks and indentation into valid JSON text, as Go's json.Indent does. */
import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { decodeUtf8, encodeUtf8 } from "../values/utf8.ts";

const token = /\s+|"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/gy;

export function indentJson(t: Thread, text: string, prefix: string, indent: string): string {
  t.charge(text.length);
  validate(text);
  let out = "";
  let depth = 0;
  let needIndent = false;
  const write = (s: string): void => {
    t.alloc(s.length);
    out += s;
    if (out.length > t.maxValueBytes) t.allocValue(out.length);
  };
  const newline = (): void => write(`\n${prefix}${indent.repeat(Math.min(depth, MAX_DEPTH))}`);
  for (const [part] of text.trim().matchAll(token)) {
    if (/^\s/.test(part)) continue;
    const closes = part === "]" || part === "}";
    if (needIndent && !closes) {
      needIndent = false;
      depth++;
      newline();
    }
    if (part === "[" || part === "{") {
      needIndent = true;
      write(part);
    } else if (part === ",") {
      write(part);
      newline();
    } else if (part === ":") write(": ");
    else if (closes) {
      if (needIndent) needIndent = false;
      else {
        depth--;
        newline();
      }
      write(part);
    } else write(part);
  }
  return out + (/[ \t\n\r]*$/.exec(text)?.[0] ?? "");
}

const MAX_DEPTH = 500;

/** Go's words for the two ways in which text is not JSON. */
function validate(text: string): void {
  try {
    JSON.parse(decodeUtf8(text));
  } catch (e) {
    const found = /^Unexpected (?:token|non-whitespace character)[^']*'?(.)?/u.exec(
      e instanceof Error ? e.message : "",
    );
    const c = found?.[1];
    throw fault(
      c === undefined
        ? "json.indent: unexpected end of JSON input"
        : encodeUtf8(`json.indent: invalid character '${c}' looking for beginning of value`),
    );
  }
}
