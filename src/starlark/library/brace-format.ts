/** `"...{}...".format(...)`. */
import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { quote } from "../values/quote.ts";
import { repr } from "../values/repr.ts";
import type { Keyword, Value } from "../values/values.ts";

export function formatBraces(t: Thread, format: string, args: readonly Value[], kwargs: readonly Keyword[]): string {
  const fields = new Fields(args, kwargs);
  let out = "";
  const write = (s: string): void => {
    t.alloc(s.length);
    if (out.length + s.length > t.maxValueBytes) t.allocValue(out.length + s.length);
    out += s;
  };
  for (let i = 0; ; ) {
    if (--t.fuel < 0) t.refuel();
    const open = format.indexOf("{", i);
    write(literal(open < 0 ? format.slice(i) : format.slice(i, open)));
    if (open < 0) return out;
    if (format[open + 1] === "{") {
      write("{");
      i = open + 2;
      continue;
    }
    const close = format.indexOf("}", open);
    if (close < 0) throw fault("format: unmatched '{' in format");
    i = close + 1;
    const { name, conversion, spec } = splitField(format.slice(open + 1, close));
    const arg = fields.get(name);
    if (spec !== "") throw fault(`format spec features not supported in replacement fields: ${spec}`);
    if (conversion !== "s" && conversion !== "r") throw fault(`format: unknown conversion ${quote(conversion)}`);
    write(conversion === "s" && typeof arg === "string" ? arg : repr(t, arg));
  }
}

/** Text between fields, where "}" must be doubled. */
function literal(text: string): string {
  if (!text.includes("}")) return text;
  if (text.replaceAll("}}", "").includes("}")) throw fault("format: single '}' in format");
  return text.replaceAll("}}", "}");
}

function splitField(field: string): { name: string; conversion: string; spec: string } {
  const bang = field.indexOf("!");
  const head = bang < 0 ? field : field.slice(bang + 1);
  const colon = head.indexOf(":");
  const before = colon < 0 ? head : head.slice(0, colon);
  const spec = colon < 0 ? "" : head.slice(colon + 1);
  return bang < 0 ? { name: before, conversion: "s", spec } : { name: field.slice(0, bang), conversion: before, spec };
}

class Fields {
  private readonly args: readonly Value[];
  private readonly kwargs: readonly Keyword[];
  private next = 0;
  private mode: "" | "automatic" | "manual" = "";

  constructor(args: readonly Value[], kwargs: readonly Keyword[]) {
    this.args = args;
    this.kwargs = kwargs;
  }

  get(name: string): Value {
    if (name === "") {
      if (this.mode === "manual") {
        throw fault("format: cannot switch from manual field specification to automatic field numbering");
      }
      this.mode = "automatic";
      return this.at(this.next++);
    }
    if (/^[0-9]+$/.test(name)) {
      if (this.mode === "automatic") {
        throw fault("format: cannot switch from automatic field numbering to manual field specification");
      }
      this.mode = "manual";
      return this.at(Number(name));
    }
    const found = this.kwargs.find(([k]) => k === name);
    if (found !== undefined) return found[1];
    if (name.includes(".")) {
      throw fault(`format: attribute syntax x.y is not supported in replacement fields: ${name}`);
    }
    if (name.includes("[")) {
      throw fault(`format: element syntax a[i] is not supported in replacement fields: ${name}`);
    }
    if (name.includes("{")) throw fault("format: nested replacement fields not supported");
    throw fault(`format: keyword ${name} not found`);
  }

  private at(i: number): Value {
    const v = this.args[i];
    if (v === undefined) throw fault("format: tuple index out of range");
    return v;
  }
}
