/** The text of values: `str` and `repr`. Output is charged as it grows, since shared parts can make it exponential. */

import { overLimit } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { Dict, StarlarkSet } from "./dict.ts";
import { formatFloat } from "./float-text.ts";
import { bigBytes } from "./integers.ts";
import { quote } from "./quote.ts";
import { validUtf8 } from "./utf8.ts";
import {
  Builtin,
  Bytes,
  Float,
  Fn,
  List,
  Module,
  Opaque,
  Range,
  StringView,
  Struct,
  Tuple,
  typeOf,
  type Value,
} from "./values.ts";

const MAX_DEPTH = 200;

export function repr(t: Thread, x: Value): string {
  const text = new Text(t);
  text.value(x, 0);
  return text.out;
}

/** As `repr`, but a string stays as it is and bytes are decoded. */
export function str(t: Thread, x: Value): string {
  if (typeof x === "string") return x;
  if (x instanceof Bytes) {
    t.alloc(x.s.length);
    return validUtf8(x.s);
  }
  return repr(t, x);
}

/** The decimal text of an int, charged for the work that takes. */
export function intText(t: Thread, x: number | bigint): string {
  if (typeof x === "bigint") {
    const bytes = bigBytes(x);
    t.alloc(3 * bytes);
    if (bytes > 128) t.charge(bytes);
  }
  return x.toString();
}

class Text {
  out = "";
  private readonly t: Thread;
  private readonly path: object[] = [];

  constructor(t: Thread) {
    this.t = t;
  }

  private write(s: string): void {
    this.t.alloc(s.length + 16);
    this.out += s;
    if (this.out.length > this.t.maxValueBytes) this.t.allocValue(this.out.length);
  }

  value(x: Value, depth: number): void {
    const { t } = this;
    if (--t.fuel < 0) t.refuel();
    if (depth > MAX_DEPTH) throw overLimit("depth", "value is nested too deeply to print");
    if (x === null) this.write("None");
    else if (typeof x === "string") {
      t.charge(x.length >> 4);
      this.write(quote(x));
    } else if (typeof x === "boolean") this.write(x ? "True" : "False");
    else if (typeof x === "number" || typeof x === "bigint") this.write(intText(t, x));
    else if (x instanceof Float) this.write(formatFloat(x.v, "g"));
    else if (x instanceof List) this.cyclic(x, "[", "]", () => this.items(x.a, depth));
    else if (x instanceof Tuple) {
      this.write("(");
      this.items(x.a, depth);
      this.write(x.a.length === 1 ? ",)" : ")");
    } else if (x instanceof Dict) this.cyclic(x, "{", "}", () => this.entries(x, depth));
    else if (x instanceof StarlarkSet) {
      this.write("set([");
      this.items(x.elements(), depth);
      this.write("])");
    } else if (x instanceof Struct) {
      this.write(`${x.constructorName}(`);
      let separator = "";
      for (const [k, v] of x.fields) {
        this.write(`${separator}${k} = `);
        this.value(v, depth + 1);
        separator = ", ";
      }
      this.write(")");
    } else this.write(simple(x));
  }

  private items(items: readonly Value[], depth: number): void {
    for (let i = 0; i < items.length; i++) {
      if (i > 0) this.write(", ");
      this.value(items[i]!, depth + 1);
    }
  }

  private entries(x: Dict, depth: number): void {
    let separator = "";
    for (const [k, v] of x.entries()) {
      this.write(separator);
      this.value(k, depth + 1);
      this.write(": ");
      this.value(v, depth + 1);
      separator = ", ";
    }
  }

  private cyclic(x: object, open: string, close: string, body: () => void): void {
    this.write(open);
    if (this.path.includes(x)) this.write("...");
    else {
      this.path.push(x);
      body();
      this.path.pop();
    }
    this.write(close);
  }
}

function simple(x: Value): string {
  if (x instanceof Bytes) return `b${quote(x.s)}`;
  if (x instanceof Fn) return `<function ${x.code.name}>`;
  if (x instanceof Builtin) {
    return x.self === undefined
      ? `<built-in function ${x.name}>`
      : `<built-in method ${x.name} of ${typeOf(x.self)} value>`;
  }
  if (x instanceof Range) {
    if (x.step !== 1) return `range(${x.start}, ${x.stop}, ${x.step})`;
    return x.start === 0 ? `range(${x.stop})` : `range(${x.start}, ${x.stop})`;
  }
  if (x instanceof Opaque) return x.shown;
  if (x instanceof Module) return `<module "${x.name}">`;
  if (x instanceof StringView) {
    if (x.unit === "byte") return `b${quote(x.s)}.elems()`;
    const unit = x.unit === "elem" ? "elem" : "codepoint";
    return `${quote(x.s)}.${unit}${x.ords ? "_ords" : "s"}()`;
  }
  return `<${typeOf(x)}>`;
}
