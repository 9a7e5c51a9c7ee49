/** Generates statements, loops and assignments. */
import {
  type AssignStmt,
  type Expr,
  type ForStmt,
  type IfStmt,
  type LoadStmt,
  type Stmt,
  unparen,
} from "../syntax/ast.ts";
import type { Binding } from "../syntax/scope.ts";
import { ExpressionEmitter } from "./expression-emitter.ts";

const augmented: Readonly<Record<string, string>> = {
  "+": "iadd",
  "|": "ior",
  "-": "sub",
  "*": "mul",
  "/": "div",
  "//": "floordiv",
  "%": "mod",
  "&": "and",
  "^": "xor",
  "<<": "shl",
  ">>": "shr",
};

export abstract class StatementEmitter extends ExpressionEmitter {
  stmts(stmts: readonly Stmt[]): string {
    return stmts.map((s) => this.stmt(s)).join("");
  }

  private stmt(s: Stmt): string {
    switch (s.kind) {
      case "expr":
        return s.x.kind === "literal" ? "" : `${this.expr(s.x)};`;
      case "branch":
        if (s.token === "pass") return "";
        this.unit.dead = true;
        return `${s.token};`;
      case "def": {
        const value = this.define(s);
        return `${this.assignIdent(s.ident.binding)}=${value};`;
      }
      case "assign":
        return s.op === "=" ? this.assign(s.target, s.value, s.pos) : this.augment(s);
      case "if":
        return this.ifStmt(s);
      case "forStmt":
        return this.forStmt(s);
      case "while": {
        const test = this.test(s.test);
        const body = this.branch(() => this.stmts(s.body));
        return `while(${test}){${this.step()}${body}}`;
      }
      case "return":
        return this.returnStmt(s.x);
      case "load":
        return this.load(s);
    }
  }

  /** The value of a def; a global that is bound only by it can be called directly. */
  protected abstract define(s: Extract<Stmt, { kind: "def" }>): string;

  private returnStmt(x: Expr | null): string {
    const value = x === null ? "null" : this.expr(x);
    this.unit.dead = true;
    if (this.unit.loops.length === 0) return `return ${value};`;
    const releases = this.unit.loops.map((s) => `release(${s});${s}=null;`).join("");
    return this.unit.temp((t) => `${t}=${value};${releases}return ${t};`);
  }

  private load(s: LoadStmt): string {
    const module = this.string(s.module);
    const mark = this.mark(s.pos);
    const call = `runModule(L,${module},${mark})`;
    const run = this.isGenerator ? this.settled(call) : call;
    const names = s.names.map(({ from, to }) => {
      return `${this.assignIdent(to.binding)}=loaded(L,${module},${this.string(from)},${mark});`;
    });
    return `${run};${names.join("")}`;
  }

  /** Emits code that may not run: what it assigns is not certain afterwards. */
  private branch(emit: () => string): string {
    const { assigned, dead } = this.unit;
    this.unit.assigned = new Set(assigned);
    this.unit.dead = false;
    const text = emit();
    this.unit.assigned = assigned;
    this.unit.dead = dead;
    return text;
  }

  private ifStmt(s: IfStmt): string {
    const { unit } = this;
    const before = unit.assigned;
    const deadBefore = unit.dead;
    /** What is certain after each way through that goes on. */
    const outcomes: Set<number>[] = [];
    let text = "";
    const arm = (head: string, body: readonly Stmt[]): void => {
      unit.assigned = new Set(before);
      unit.dead = false;
      text += `${head}{${this.stmts(body)}}`;
      if (!unit.dead) outcomes.push(unit.assigned);
    };
    s.arms.forEach((a, i) => {
      unit.assigned = before;
      const test = this.test(a.test);
      arm(`${i === 0 ? "" : "else "}if(${test})`, a.body);
    });
    arm("else", s.otherwise);
    if (s.otherwise.length === 0) text = text.slice(0, -"else{}".length);
    unit.dead = deadBefore || outcomes.length === 0;
    const [first = before, ...rest] = outcomes;
    unit.assigned = rest.reduce((all, next) => all.intersection(next), first);
    return text;
  }

  private forStmt(s: ForStmt): string {
    return this.loop(s.x, s.vars, s.pos, () => this.stmts(s.body));
  }

  protected loop(x: Expr | null, vars: Expr, pos: number, body: () => string): string {
    const rangeLoop = x === null ? null : this.rangeLoop(x, vars, body);
    if (rangeLoop !== null) return rangeLoop;
    const { unit } = this;
    const [s, a, i, n] = [unit.fresh("s"), unit.fresh("a"), unit.fresh("i"), unit.fresh("n")];
    const operand = x === null ? "x" : this.expr(x);
    unit.iterated.push(s);
    const mark = this.mark(pos);
    const inside = this.branch(() => {
      unit.loops.push(s);
      const take = this.element(vars, `${a}[${i}]`, `at(${s},${i})`, pos);
      const text = `${this.step()}${take}${body()}`;
      unit.loops.pop();
      return text;
    });
    // If iterating is refused there is nothing to release.
    const start = unit.temp((t) => `${t}=${operand};${a}=iterate(T,${t},${mark});${s}=${t};`);
    return `${start}${n}=count(${s},${a});for(${i}=0;${i}<${n};${i}++){${inside}}release(${s});${s}=null;`;
  }

  /** `for x in range(...)` counts without making the range an array, or at all. */
  private rangeLoop(x: Expr, vars: Expr, body: () => string): string | null {
    const e = unparen(x);
    if (e.kind !== "call" || this.universal(unparen(e.fn)) !== "range") return null;
    if (e.args.length < 1 || e.args.length > 3 || e.args.some((a) => a.kind !== "positional")) return null;
    const { unit } = this;
    const [i, n] = [unit.fresh("i"), unit.fresh("n")];
    const args = e.args.map((a) => this.expr(a.value)).join(",");
    const mark = this.mark(e.pos);
    if (e.args.length === 1) {
      const inside = this.branch(() => `${this.step()}${this.assignValue(vars, i, e.pos)}${body()}`);
      return `${n}=rounds(T,${args},${mark});for(${i}=0;${i}<${n};${i}++){${inside}}`;
    }
    const r = unit.fresh("r");
    const inside = this.branch(() => `${this.step()}${this.assignValue(vars, `at(${r},${i})`, e.pos)}${body()}`);
    return `${r}=range(T,[${args}],${mark});${n}=count(${r},[]);for(${i}=0;${i}<${n};${i}++){${inside}}`;
  }

  /** Gives the loop variables an element, which is undefined where it has to be computed. */
  private element(vars: Expr, element: string, otherwise: string, pos: number): string {
    const target = unparen(vars);
    if (target.kind === "ident") {
      const v = this.assignIdent(target.binding);
      return `if((${v}=${element})===undefined)${v}=${otherwise};`;
    }
    return this.unit.temp(
      (t) => `if((${t}=${element})===undefined)${t}=${otherwise};${this.assignValue(vars, t, pos)}`,
    );
  }

  private assign(target: Expr, value: Expr, pos: number): string {
    const to = unparen(target);
    const from = unparen(value);
    const pairwise =
      (to.kind === "tuple" || to.kind === "list") &&
      (from.kind === "tuple" || from.kind === "list") &&
      to.items.length === from.items.length &&
      to.items.length > 0;
    if (!pairwise) return this.assignValue(to, this.expr(value), pos);
    const each = (i: number, temps: readonly string[], text: string): string => {
      const item = from.items[i];
      if (item === undefined) return text + to.items.map((x, k) => this.assignValue(x, temps[k] ?? "", pos)).join("");
      return this.unit.temp((t) => each(i + 1, [...temps, t], `${text}${t}=${this.expr(item)};`));
    };
    return each(0, [], "");
  }

  /** Assigns the value of a JS expression. */
  private assignValue(target: Expr, value: string, pos: number): string {
    const to = unparen(target);
    switch (to.kind) {
      case "ident":
        return `${this.assignIdent(to.binding)}=${value};`;
      case "index":
        return this.unit.temp((t) => {
          const [x, y] = [this.expr(to.x), this.expr(to.y)];
          return `${t}=${value};setIndex(T,${x},${y},${t},${this.mark(to.pos)});`;
        });
      case "dot":
        return this.unit.temp(
          (t) => `${t}=${value};setattr(T,${this.expr(to.x)},${this.string(to.name)},${this.mark(to.pos)});`,
        );
      case "tuple":
      case "list": {
        const u = this.unit.fresh("u");
        const unpacked = `${u}=unpack(T,${value},${to.items.length},${this.mark(pos)});`;
        return unpacked + to.items.map((x, i) => this.assignValue(x, `${u}[${i}]`, pos)).join("");
      }
      default:
        throw new Error(`cannot assign to ${to.kind}`);
    }
  }

  /** The variable of a name that is about to get a value. */
  protected assignIdent(b: Binding | null): string {
    if (b === null) throw new Error("unresolved target");
    const v = this.variable(b);
    if (b.scope === "local") this.unit.declared.add(v);
    this.unit.assigned.add(b.id);
    return v;
  }

  private augment(s: AssignStmt): string {
    const to = unparen(s.target);
    const helper = augmented[s.op];
    if (to.kind === "ident") {
      const old = this.ident(to);
      const value = this.expr(s.value);
      return `${this.assignIdent(to.binding)}=${helper}(T,${old},${value},${this.mark(s.pos)});`;
    }
    return this.unit.temp((x) =>
      this.unit.temp((y) => {
        if (to.kind === "index") {
          const operands = `${x}=${this.expr(to.x)};${y}=${this.expr(to.y)};`;
          const old = `getIndex(T,${x},${y},${this.mark(to.pos)})`;
          const sum = `${helper}(T,${old},${this.expr(s.value)},${this.mark(s.pos)})`;
          return `${operands}setIndex(T,${x},${y},${sum},${this.mark(to.pos)});`;
        }
        if (to.kind !== "dot") throw new Error(`cannot assign to ${to.kind}`);
        const name = this.string(to.name);
        const old = `attr(T,${x},${name},${this.mark(to.pos)})`;
        const sum = `${helper}(T,${old},${this.expr(s.value)},${this.mark(s.pos)})`;
        return `${x}=${this.expr(to.x)};${y}=${sum};setattr(T,${x},${name},${this.mark(to.pos)});`;
      }),
    );
  }
}
