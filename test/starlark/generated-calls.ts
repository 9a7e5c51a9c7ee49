/**
 * Random programs of functions that call one another: every kind of parameter and argument, nested control flow, closures. The
 * tracer `t` prints when it is reached, so that the order of evaluation is compared too. Most calls succeed.
 */
import { randomSource } from "./generated.ts";

interface Signature {
  readonly name: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly varargs: boolean;
  readonly keywordOnly: readonly string[];
  readonly keywordOptional: readonly string[];
  readonly kwargs: boolean;
}

const prelude = `def t(k, v = None):
    print("t", k)
    return v

def show(f):
    result = []
    message = catch(lambda: result.append(f()))
    print(repr(result[0]) if message == None else "error: " + message)

`;

class CallWriter {
  readonly lines: string[] = [];
  private readonly random: (below: number) => number;
  private readonly functions: Signature[] = [];
  private names: string[] = [];
  private traces = 0;
  private fresh = 0;

  constructor(random: (below: number) => number) {
    this.random = random;
  }

  private pick<T>(list: readonly T[], fallback: T): T {
    return list[this.random(list.length)] ?? fallback;
  }

  private chance(percent: number): boolean {
    return this.random(100) < percent;
  }

  private times<T>(n: number, make: (i: number) => T): T[] {
    return Array.from({ length: n }, (_, i) => make(i));
  }

  private atom(): string {
    if (this.names.length > 0 && this.chance(50)) return this.pick(this.names, "0");
    return this.pick(
      ["0", "1", "-7", "2.5", '"a"', '"xyz"', "None", "True", "[]", "(1, 2)", '{"k": 1}', "1 << 60"],
      "0",
    );
  }

  /** An int that is small, whatever its parts are. */
  private small(depth: number): string {
    return this.chance(60) ? String(this.random(this.chance(10) ? 5 : 3)) : `len(str(${this.expr(depth - 1)})) % 3`;
  }

  expr(depth: number): string {
    if (depth <= 0) return this.atom();
    const sub = (): string => this.expr(depth - 1);
    const subs = (max: number): string => this.times(this.random(max + 1), sub).join(", ");
    switch (this.random(20)) {
      case 0:
      case 1:
      case 2:
        return this.call(depth);
      case 3:
      case 4:
        return `t(${this.traces++}, ${sub()})`;
      case 5:
        return `(${sub()} if ${sub()} else ${sub()})`;
      case 6:
        return `(${sub()} ${this.pick(["and", "or"], "or")} ${sub()} ${this.pick(["and", "or"], "or")} ${sub()})`;
      case 7:
        return `[${subs(3)}]`;
      case 8:
        return `(${sub()}, ${sub()})`;
      case 9:
        return `{${this.times(this.random(3), (i) => `t(${this.traces++}, "k${i}"): ${sub()}`).join(", ")}}`;
      case 10:
        return `[${sub()}, ${sub()}, ${sub()}][${this.small(depth)}]`;
      case 11:
        return this.comprehension(depth);
      case 12:
        return this.lambdaCall(depth);
      case 13:
        return `(${this.small(depth)} ${this.pick(["+", "-", "*", "//", "%", "&", "|", "^", "<<"], "+")} (${this.small(depth)} + 1))`;
      case 14:
        return `(${sub()} ${this.pick(["==", "!=", "in [1, None] +", "not in [2, 1] +"], "==")} ${this.chance(50) ? "[1]" : `[${sub()}]`})`;
      case 15:
        return this.method(depth);
      case 16:
        return `${this.pick(["str", "type", "bool", "repr", "not "], "str")}(${sub()})`;
      case 17:
        if (this.chance(80)) return `(str(${sub()}) + repr(${sub()}))`;
        return `(${sub()} ${this.pick(["+", "-", "*", "<", ">=", "%", "|", "in"], "+")} ${sub()})`;
      case 18:
        return `(${this.small(depth)} ${this.pick(["<", "<=", "==", ">"], "<")} ${this.small(depth)})`;
      default:
        return this.atom();
    }
  }

  private method(depth: number): string {
    const sub = (): string => this.expr(depth - 1);
    return this.pick(
      [
        () => `"{} {x}".format(${sub()}, x = ${sub()})`,
        () => `{"k": ${sub()}}.get(${this.chance(90) ? '"k"' : sub()}, ${sub()})`,
        () => `"-".join([str(${sub()}), str(${sub()})])`,
        () =>
          `sorted([${this.small(depth)}, ${this.small(depth)}, ${this.small(depth)}], key = lambda q: t(${this.traces++}, -q))`,
        () => `dict([("a", ${sub()})], b = ${sub()}, **{"c": ${sub()}})`,
        () => `max(*[${this.small(depth)}, ${this.small(depth)}])`,
        () => `[${sub()}, ${sub()}][${this.small(depth)}:]`,
        () => `list(zip([${sub()}], [${sub()}, ${sub()}]))`,
        () => `"%s|%r" % (${sub()}, ${sub()})`,
        () => `struct(a = ${sub()}, b = ${sub()}).${this.pick(["a", "b"], "a")}`,
      ],
      () => "0",
    )();
  }

  private withNames<T>(extra: readonly string[], make: () => T): T {
    const before = this.names;
    this.names = [...before, ...extra];
    const made = make();
    this.names = before;
    return made;
  }

  private comprehension(depth: number): string {
    const [x, y] = [`x${this.fresh++}`, `y${this.fresh++}`];
    const first = this.pick(
      [`range(${this.random(4)})`, `[${this.expr(depth - 1)}, ${this.atom()}]`, '{"a": 1}'],
      "[]",
    );
    const test = this.withNames([x], () => (this.chance(40) ? ` if ${this.expr(depth - 1)}` : ""));
    if (this.chance(30)) {
      const body = this.withNames([x, y], () => `(${this.expr(depth - 1)}, ${this.expr(depth - 1)})`);
      return `[${body} for ${x} in ${first}${test} for ${y} in ${this.pick([`[${x}]`, "range(2)"], "[]")}]`;
    }
    const body = this.withNames([x], () => this.expr(depth - 1));
    if (this.chance(30)) return `{str(${x}): ${body} for ${x} in ${first}${test}}`;
    return `[${body} for ${x} in ${first}${test}]`;
  }

  private lambdaCall(depth: number): string {
    const [x, y] = [`x${this.fresh++}`, `y${this.fresh++}`];
    const fallback = this.expr(depth - 1);
    const body = this.withNames([x, y], () => this.expr(depth - 1));
    const args = this.pick(["1", `${this.expr(depth - 1)}, ${y} = ${this.expr(depth - 1)}`, `*[${this.atom()}]`], "1");
    return `(lambda ${x}, ${y} = ${fallback}: ${body})(${args})`;
  }

  /** A call whose arguments fit the parameters, but for one in ten. */
  private call(depth: number): string {
    const f = this.functions[this.random(this.functions.length)];
    if (f === undefined) return this.atom();
    const value = (): string => this.expr(depth - 1);
    const ordinary = [...f.required, ...f.optional];
    let given = this.random(ordinary.length + 1);
    const positional = this.times(given, value);
    if (f.varargs && given === ordinary.length) positional.push(...this.times(this.random(3), value));
    if (this.chance(5)) given += this.pick([-1, 1], 1);
    const missing = ordinary.slice(Math.max(0, given));
    const named = missing.filter((name) => f.required.includes(name) || this.chance(40));
    named.push(...f.keywordOnly, ...f.keywordOptional.filter(() => this.chance(50)));
    if (f.kwargs || this.chance(2)) named.push(...["p", "q"].filter(() => this.chance(30)));
    const keywords: string[] = [];
    const rest: string[] = [];
    // Shuffled, since the order of keywords need not be that of the parameters.
    for (const name of named.sort(() => this.random(3) - 1)) {
      if (this.chance(25)) rest.push(`"${name}": ${value()}`);
      else keywords.push(`${name} = ${value()}`);
    }
    const kept = this.chance(40) ? this.random(positional.length + 1) : positional.length;
    const spread = positional.slice(kept).join(", ");
    const star = spread === "" && !this.chance(10) ? [] : [`*[${spread}]`];
    const starstar = rest.length === 0 && !this.chance(10) ? [] : [`**{${rest.join(", ")}}`];
    if (this.chance(2)) star[0] = `*${this.atom()}`;
    if (this.chance(2)) starstar[0] = `**${this.atom()}`;
    return `${f.name}(${[...positional.slice(0, kept), ...keywords, ...star, ...starstar].join(", ")})`;
  }

  /** Defines a function that returns what its parameters were bound to, after some statements. */
  define(name: string, indent: string, depth: number): void {
    const serial = this.fresh++;
    const params = (letter: string, max: number): string[] =>
      this.times(this.random(max + 1), (i) => `${letter}${serial}_${i}`);
    const [required, optional] = [params("a", 2), params("b", 2)];
    const varargs = this.chance(40);
    const [keywordOnly, keywordOptional] = this.chance(40) ? [params("c", 1), params("d", 2)] : [[], []];
    const kwargs = this.chance(40);
    const optionals = (list: readonly string[]): string[] => list.map((p) => `${p} = ${this.expr(1)}`);
    const isKeyworded = keywordOnly.length + keywordOptional.length > 0;
    const text = [
      ...required,
      ...optionals(optional),
      ...(varargs ? ["*args"] : isKeyworded ? ["*"] : []),
      ...keywordOnly,
      ...optionals(keywordOptional),
      ...(kwargs ? ["**kw"] : []),
    ];
    const locals = [...required, ...optional, ...keywordOnly, ...keywordOptional];
    if (varargs) locals.push("args");
    if (kwargs) locals.push("kw");
    this.lines.push(`${indent}def ${name}(${text.join(", ")}):`);
    const before = this.names;
    this.names = [...before, ...locals];
    this.block(depth, `${indent}    `, false);
    this.lines.push(`${indent}    return (${[...locals, this.expr(2)].join(", ")},)`);
    this.names = before;
    this.functions.push({ name, required, optional, varargs, keywordOnly, keywordOptional, kwargs });
  }

  private block(depth: number, indent: string, inLoop: boolean): void {
    const n = 1 + this.random(3);
    for (let i = 0; i < n; i++) this.statement(depth, indent, inLoop);
  }

  /** Names bound inside are known after it only if it certainly runs. */
  private nested(depth: number, indent: string, inLoop: boolean, extra: readonly string[] = []): void {
    const before = this.names;
    this.names = [...before, ...extra];
    this.block(depth - 1, `${indent}    `, inLoop);
    // Now and then a name that may be unbound.
    this.names = this.chance(3) ? this.names : before;
  }

  private statement(depth: number, indent: string, inLoop: boolean): void {
    const put = (text: string): number => this.lines.push(indent + text);
    const v = `v${this.fresh++}`;
    switch (this.random(depth > 0 ? 14 : 9)) {
      case 0:
        put(`${v} = ${this.small(2)}`);
        put(`${v} ${this.pick(["+=", "-=", "*=", "//=", "|=", "<<="], "+=")} ${this.small(2)} + 1`);
        break;
      case 1:
        put(`${v}, (${v}b, ${v}c) = ${this.expr(1)}, [${this.expr(1)}, ${this.expr(1)}]`);
        this.names.push(`${v}b`, `${v}c`);
        break;
      case 2:
        put(`${v} = [${this.expr(1)}, ${this.expr(1)}]`);
        put(`${v}[t(${this.traces++}, ${this.random(2)})] = ${this.expr(2)}`);
        put(`${v} += [${this.expr(2)}]`);
        break;
      case 3:
        put(`${v} = {"n": ${this.small(2)}, 1: ${this.expr(1)}}`);
        put(`${v}[t(${this.traces++}, "n")] ${this.pick(["+=", "="], "=")} t(${this.traces++}, ${this.small(2)})`);
        break;
      case 4:
        put(`print(${this.expr(2)})`);
        return;
      case 5:
        put(this.call(2));
        return;
      case 6:
        if (inLoop && this.chance(50))
          put(`if ${this.expr(1)}: ${this.pick(["break", "continue", "return 1"], "break")}`);
        else if (this.chance(30)) put(`if ${this.expr(1)}: return ${this.expr(2)}`);
        else put("pass");
        return;
      case 9:
      case 10:
        put(
          `for ${v} in ${this.pick(["range(3)", "range(4, 0, -2)", `[${this.expr(2)}, 2]`, '{"a": 1, "b": 2}', this.expr(1)], "[]")}:`,
        );
        this.nested(depth, indent, true, [v]);
        return;
      case 11:
        put(`for ${v}, (${v}b, _) in enumerate(zip([1, 2], ${this.pick(['"ab".elems()', "range(5)"], "[]")})):`);
        this.nested(depth, indent, true, [v, `${v}b`]);
        return;
      case 12:
        put(`if ${this.expr(2)}:`);
        this.nested(depth, indent, inLoop);
        put(this.chance(50) ? `elif ${this.expr(1)}:` : "else:");
        this.nested(depth, indent, inLoop);
        return;
      case 13:
        // A closure; it can be called only where it was defined, so it is forgotten again.
        this.define(v, indent, 0);
        put(`print(${this.call(1)}, ${v})`);
        this.functions.pop();
        return;
      default:
        put(`${v} = ${this.expr(3)}`);
    }
    this.names.push(v);
  }
}

/** A program of functions and calls. */
export function randomCalls(seed: number): string {
  const writer = new CallWriter(randomSource(seed));
  const count = 2 + (seed % 3);
  for (let i = 0; i < count; i++) writer.define(`f${i}`, "", 2);
  for (let i = 0; i < 5; i++) writer.lines.push(`show(lambda: ${writer.expr(3)})`);
  return `${prelude}${writer.lines.join("\n")}\n`;
}
