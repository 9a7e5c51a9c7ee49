/** Generates calls: straight to a known function, through a method table, or general. */
import { type CallExpr, type Expr, type Ident, unparen } from "../syntax/ast.ts";
import { constantValue, type DirectFunction, Emitter } from "./emitter.ts";

/** Calls with more arguments than this build a list. */
const MAX_INLINE = 6;
/** Universal functions that call back. */
const callers: ReadonlySet<string> = new Set(["sorted", "min", "max"]);

export abstract class CallEmitter extends Emitter {
  protected callExpr(e: CallExpr): string {
    const fn = unparen(e.fn);
    const builtin = this.universal(fn);
    const direct = fn.kind === "ident" && fn.binding !== null ? this.direct.get(fn.binding) : undefined;
    if (direct !== undefined && fn.kind === "ident") {
      const text = this.directCall(e, direct, fn);
      if (text !== null) {
        if (direct.short === null) this.unit.hasCalls = true;
        else this.unit.called += direct.short;
        return text;
      }
    }
    if (builtin === null || callers.has(builtin)) this.unit.hasCalls = true;
    if (e.args.some((a) => a.kind !== "positional")) return this.generalCall(e);
    const args = e.args.map((a) => a.value);
    if (builtin === "len" && args.length === 1 && args[0]) {
      return `len(T,${this.expr(fn)},${this.expr(args[0])},${this.mark(e.pos)})`;
    }
    if (fn.kind === "dot") return this.methodCall(fn.x, fn.name, args, fn.pos, e.pos);
    if (builtin !== null || args.length > MAX_INLINE) {
      return this.finish(`T,${this.expr(fn)},[${this.list(args)}]`, e.pos);
    }
    return this.inlineCall(fn, args, e.pos);
  }

  /** A call whose arguments can be matched with the parameters now, or null. */
  private directCall(e: CallExpr, direct: DirectFunction, fn: Ident): string | null {
    const slots: (Expr | null)[] = direct.params.map(() => null);
    let last = -1;
    for (const a of e.args) {
      const i = a.kind === "positional" ? last + 1 : a.kind === "keyword" ? direct.params.indexOf(a.name) : -1;
      // Arguments in another order than the parameters would be evaluated in the wrong order.
      if (i <= last || i >= slots.length) return null;
      slots[i] = a.value;
      last = i;
    }
    if (slots.some((x, i) => x === null && i < direct.required)) return null;
    const variable = fn.binding === null ? "" : this.variable(fn.binding);
    const values = slots.map((x, i) => (x === null ? `${variable}.defaults[${i - direct.required}]` : this.expr(x)));
    const call = `${direct.name}(${["T", ...values].join(",")},${this.mark(e.pos)})`;
    const checked = this.ident(fn);
    const run = this.isGenerator ? `(yield* ${call})` : call;
    return checked.startsWith("(") ? `(${checked},${run})` : run;
  }

  private list(items: readonly Expr[]): string {
    return items.map((x) => this.expr(x)).join(",");
  }

  /** A call through the general helper, finished if need be. */
  private finish(args: string, pos: number): string {
    const mark = this.mark(pos);
    if (!this.isGenerator) return `callSync(${args},undefined,${mark})`;
    return this.settled(`call(${args},undefined,${mark})`);
  }

  protected settled(pending: string): string {
    return this.unit.temp((t) => `((${t}=${pending}) instanceof Pending?(yield* settle(${t})):${t})`);
  }

  private methodCall(x: Expr, name: string, args: readonly Expr[], dot: number, pos: number): string {
    const m = this.method(name);
    const plain = args.every((a) => constantValue(a) !== undefined || this.isAssigned(a));
    const receiver = plain ? this.expr(x) : `receiver(T,${this.expr(x)},${m},${this.mark(dot)})`;
    const values = this.list(args);
    this.position(dot);
    const mark = this.mark(pos);
    const call =
      args.length === 0
        ? `method0(T,${receiver},${m},${mark})`
        : args.length === 1
          ? `method1(T,${receiver},${m},${values},${mark})`
          : `methodN(T,${receiver},${m},[${values}],${mark})`;
    return this.isGenerator ? this.settled(call) : `done(${call})`;
  }

  /** A call of an unknown value: a Starlark function with the right number of parameters is entered at once. */
  private inlineCall(fn: Expr, args: readonly Expr[], pos: number): string {
    const bind = (i: number, temps: readonly string[], assigns: readonly string[]): string => {
      const arg = args[i];
      if (arg !== undefined) {
        return this.unit.temp((t) => bind(i + 1, [...temps, t], [...assigns, `${t}=${this.expr(arg)}`]));
      }
      const [f = "", ...rest] = temps;
      const values = rest.map((t) => `,${t}`).join("");
      const setup = `${assigns.join(",")},${this.mark(pos)}`;
      const general = `T,${f},[${rest.join(",")}]`;
      if (!this.isGenerator) {
        return `(${setup},${f} instanceof Fn&&${f}.n===${rest.length}?${f}.j(T${values}):callSync(${general}))`;
      }
      const straight = `${f} instanceof Fn&&${f}.n===${rest.length}&&${f}.g?(yield* ${f}.j(T${values}))`;
      return `(${setup},${straight}:${this.settled(`call(${general})`)})`;
    };
    return this.unit.temp((t) => bind(0, [t], [`${t}=${this.expr(fn)}`]));
  }

  /** A call with keywords, `*args` or `**kwargs`. JS evaluates the helper's arguments in the order of the program's. */
  private generalCall(e: CallExpr): string {
    const fn = this.expr(e.fn);
    const positional: string[] = [];
    const keywords: string[] = [];
    let star = "undefined";
    let starstar = "undefined";
    for (const a of e.args) {
      const v = this.expr(a.value);
      if (a.kind === "positional") positional.push(v);
      else if (a.kind === "keyword") keywords.push(`[${this.string(a.name)},${v}]`);
      else if (a.kind === "star") star = v;
      else starstar = v;
    }
    const call = `callSpread(T,${fn},[${positional.join(",")}],[${keywords.join(",")}],${star},${starstar},${this.mark(e.pos)})`;
    return this.isGenerator ? this.settled(call) : `done(${call})`;
  }
}
