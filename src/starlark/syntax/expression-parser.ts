/** Parses expressions, parameters and arguments: the lower half of the grammar. */
import {
  type Argument,
  type BinaryExpr,
  type Comprehension,
  type DictEntry,
  type Expr,
  type ForClause,
  type Ident,
  type IfClause,
  type Parameter,
  startOf,
} from "./ast.ts";
import { ScanError, type Scanner } from "./scanner.ts";
import { showToken, type Token } from "./tokens.ts";

/** Brackets, operators and blocks inside one another. Keeps every later pass within the stack. */
const MAX_NESTING = 200;

const COMPARISON = 3;
const NOT = 2;

const precedence: ReadonlyMap<Token, number> = new Map<Token, number>([
  ["or", 0],
  ["and", 1],
  ...(["==", "!=", "<", ">", "<=", ">=", "in", "not in"] as const).map((t): [Token, number] => [t, COMPARISON]),
  ["|", 4],
  ["^", 5],
  ["&", 6],
  ["<<", 7],
  [">>", 7],
  ["-", 8],
  ["+", 8],
  ["*", 9],
  ["%", 9],
  ["/", 9],
  ["//", 9],
]);

const listEnds: ReadonlySet<Token> = new Set<Token>(["end of file", "newline", "=", "}", "]", ")", ";"]);

/** The state both halves of the parser share. */
export class ExpressionParser {
  protected readonly in: Scanner;
  private depth = 0;

  constructor(scanner: Scanner) {
    this.in = scanner;
  }

  /** Fails at the end of the look-ahead token, as starlark-go does. */
  protected fail(message: string): never {
    throw new ScanError(this.in.pos, message);
  }

  /** A call, not a comparison, since the scanner's state changes under the type checker's eyes. */
  protected at(token: Token): boolean {
    return this.in.token === token;
  }

  protected advance(): number {
    const start = this.in.start;
    this.in.next();
    return start;
  }

  protected consume(token: Token): number {
    if (!this.at(token)) this.fail(`got ${showToken(this.in.token)}, want ${showToken(token)}`);
    return this.advance();
  }

  protected nested<T>(parse: () => T): T {
    if (++this.depth > MAX_NESTING) throw new ScanError(this.in.start, "code is nested too deeply", false);
    const result = parse();
    this.depth--;
    return result;
  }

  protected unnest(): void {
    this.depth = 0;
  }

  protected ident(): Ident {
    if (!this.at("identifier")) this.fail("not an identifier");
    const name = String(this.in.value);
    return { kind: "ident", name, pos: this.advance(), binding: null };
  }

  /** A test, or several with commas between them, which make a tuple. */
  expr(inParens: boolean): Expr {
    const x = this.test();
    if (!this.at(",")) return x;
    return { kind: "tuple", items: this.exprs([x], inParens), pos: startOf(x) };
  }

  private exprs(items: Expr[], trailingComma: boolean): Expr[] {
    while (this.at(",")) {
      const pos = this.advance();
      if (listEnds.has(this.in.token)) {
        if (!trailingComma) throw new ScanError(pos, "unparenthesized tuple with trailing comma");
        break;
      }
      items.push(this.test());
    }
    return items;
  }

  test(): Expr {
    return this.nested(() => {
      if (this.at("lambda")) return this.lambda(true);
      const yes = this.binary(0);
      if (!this.at("if")) return yes;
      const pos = this.advance();
      const test = this.binary(0);
      if (!this.at("else")) throw new ScanError(pos, "conditional expression without else clause");
      this.advance();
      return { kind: "cond", test, yes, no: this.test(), pos };
    });
  }

  private testNoCond(): Expr {
    return this.at("lambda") ? this.nested(() => this.lambda(false)) : this.binary(0);
  }

  private lambda(allowCond: boolean): Expr {
    const pos = this.advance();
    const params = this.at(":") ? [] : this.params();
    this.consume(":");
    const x = allowCond ? this.test() : this.testNoCond();
    return {
      kind: "lambda",
      pos,
      fn: { name: "lambda", params, body: [{ kind: "return", x, pos }], pos, scope: null },
    };
  }

  /** Operators of at least the given precedence. Chains of one level loop, so that a long sum is no deep recursion. */
  private binary(min: number): Expr {
    let x = this.at("not") && min <= NOT ? this.not() : this.suffixed();
    let last: BinaryExpr | null = null;
    for (;;) {
      if (this.at("not")) {
        this.in.next();
        if (!this.at("in")) this.fail(`got ${showToken(this.in.token)}, want in`);
        this.in.token = "not in";
      }
      const op = this.in.token;
      const level = precedence.get(op);
      if (level === undefined || level < min) return x;
      if (level === COMPARISON && last !== null && precedence.get(last.op) === COMPARISON) {
        this.fail(`${last.op} does not associate with ${op} (use parens)`);
      }
      const pos = this.advance();
      const y = this.nested(() => this.binary(level + 1));
      last = { kind: "binary", op, x, y, pos };
      x = last;
    }
  }

  private not(): Expr {
    const pos = this.advance();
    return { kind: "unary", op: "not", x: this.nested(() => this.binary(NOT)), pos };
  }

  protected suffixed(): Expr {
    let x = this.primary();
    for (let links = 0; ; links++) {
      if (links > MAX_NESTING) throw new ScanError(this.in.start, "code is nested too deeply", false);
      const token = this.in.token;
      if (token === ".") {
        const pos = this.advance();
        x = { kind: "dot", x, name: this.ident().name, pos };
      } else if (token === "[") x = this.subscript(x);
      else if (token === "(") {
        const pos = this.advance();
        const args = this.args();
        this.consume(")");
        x = { kind: "call", fn: x, args, pos };
      } else return x;
    }
  }

  private subscript(x: Expr): Expr {
    const pos = this.advance();
    let low: Expr | null = null;
    let high: Expr | null = null;
    let step: Expr | null = null;
    if (!this.at(":")) {
      const y = this.expr(false);
      if (this.at("]")) {
        this.advance();
        return { kind: "index", x, y, pos };
      }
      low = y;
    }
    if (this.at(":")) {
      this.advance();
      if (!this.at(":") && !this.at("]")) high = this.test();
    }
    if (this.at(":")) {
      this.advance();
      if (!this.at("]")) step = this.test();
    }
    this.consume("]");
    return { kind: "slice", x, low, high, step, pos };
  }

  private args(): Argument[] {
    const args: Argument[] = [];
    while (!this.at(")") && !this.at("end of file")) {
      if (args.length > 0) this.consume(",");
      if (this.at(")")) break;
      if (this.at("*") || this.at("**")) {
        const kind = this.at("*") ? "star" : "starstar";
        const pos = this.advance();
        args.push({ kind, name: "", value: this.test(), pos });
        continue;
      }
      const x = this.test();
      if (!this.at("=")) {
        args.push({ kind: "positional", name: "", value: x, pos: startOf(x) });
        continue;
      }
      if (x.kind !== "ident") this.fail("keyword argument must have form name=expr");
      this.advance();
      args.push({ kind: "keyword", name: x.name, value: this.test(), pos: x.pos });
    }
    return args;
  }

  params(): Parameter[] {
    const params: Parameter[] = [];
    for (let token = this.in.token; token !== ")" && token !== ":" && token !== "end of file"; token = this.in.token) {
      if (params.length > 0) this.consume(",");
      if (this.at(")")) break;
      if (this.at("*") || this.at("**")) {
        const kind = this.at("*") ? "star" : "starstar";
        const pos = this.advance();
        const named = kind === "starstar" || this.at("identifier");
        params.push({ kind, ident: named ? this.ident() : null, fallback: null, pos });
        continue;
      }
      const ident = this.ident();
      if (this.at("=")) {
        const pos = this.advance();
        params.push({ kind: "optional", ident, fallback: this.test(), pos });
      } else params.push({ kind: "plain", ident, fallback: null, pos: ident.pos });
    }
    return params;
  }

  protected primary(): Expr {
    const token = this.in.token;
    switch (token) {
      case "identifier":
        return this.ident();
      case "int literal":
      case "float literal":
      case "string literal":
      case "bytes literal": {
        const value = this.in.value;
        return { kind: "literal", token, value, pos: this.advance() };
      }
      case "[":
        return this.nested(() => this.list());
      case "{":
        return this.nested(() => this.dict());
      case "(": {
        const pos = this.advance();
        if (this.at(")")) {
          this.advance();
          return { kind: "tuple", items: [], pos };
        }
        const x = this.expr(true);
        this.consume(")");
        return { kind: "paren", x, pos };
      }
      case "-":
      case "+":
      case "~": {
        const pos = this.advance();
        return { kind: "unary", op: token, x: this.nested(() => this.suffixed()), pos };
      }
      default:
        // At its start, since the end of a newline is on the next line.
        throw new ScanError(this.in.start, `got ${showToken(token)}, want primary expression`);
    }
  }

  private list(): Expr {
    const pos = this.advance();
    if (this.at("]")) {
      this.advance();
      return { kind: "list", items: [], pos };
    }
    const x = this.test();
    if (this.at("for")) return this.comprehension(pos, x, "]");
    const items = this.exprs([x], true);
    this.consume("]");
    return { kind: "list", items, pos };
  }

  private dict(): Expr {
    const pos = this.advance();
    if (this.at("}")) {
      this.advance();
      return { kind: "dict", entries: [], pos };
    }
    const first = this.entry();
    if (this.at("for")) return this.comprehension(pos, first, "}");
    const entries = [first];
    while (this.at(",")) {
      this.advance();
      if (this.at("}")) break;
      entries.push(this.entry());
    }
    this.consume("}");
    return { kind: "dict", entries, pos };
  }

  private entry(): DictEntry {
    const key = this.test();
    const colon = this.consume(":");
    return { key, value: this.test(), colon };
  }

  private comprehension(pos: number, body: Expr | DictEntry, end: "]" | "}"): Comprehension {
    const clauses: (ForClause | IfClause)[] = [];
    while (!this.at(end)) {
      if (this.at("for")) {
        const at = this.advance();
        const vars = this.loopVariables();
        this.consume("in");
        clauses.push({ kind: "for", vars, x: this.binary(0), pos: at });
      } else if (this.at("if")) {
        const at = this.advance();
        clauses.push({ kind: "if", test: this.testNoCond(), pos: at });
      } else this.fail(`got ${showToken(this.in.token)}, want '${end}', for, or if`);
      if (clauses.length > MAX_NESTING) throw new ScanError(pos, "code is nested too deeply", false);
    }
    this.advance();
    return { kind: "comprehension", body, curly: end === "}", clauses, pos, scope: null };
  }

  /** The targets of a `for`: no operators, since `in` would be taken for one. */
  loopVariables(): Expr {
    const x = this.suffixed();
    if (!this.at(",")) return x;
    const items = [x];
    while (this.at(",")) {
      this.advance();
      if (listEnds.has(this.in.token) || this.at("in")) break;
      items.push(this.suffixed());
    }
    return { kind: "tuple", items, pos: startOf(x) };
  }
}
