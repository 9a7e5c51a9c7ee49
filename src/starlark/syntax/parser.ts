/**
 * Parses files and statements into a tree. After an error it resumes at the next top-level line where that is safe, so that
 * more than the first error is reported.
 */

import type { Issue } from "../errors.ts";
import { decodeUtf8 } from "../values/utf8.ts";
import type { Expr, Ident, LoadStmt, Stmt } from "./ast.ts";
import { ExpressionParser } from "./expression-parser.ts";
import { ScanError, Scanner } from "./scanner.ts";
import type { Source } from "./source.ts";
import { showToken, type Token } from "./tokens.ts";

/** After so many syntax errors the rest is noise. */
const MAX_ISSUES = 10;

export interface Parsed<T> {
  readonly tree: T;
  readonly issues: readonly Issue[];
}

/** Parses a file. With issues, the tree holds the statements that could be read. */
export function parseFile(source: Source): Parsed<readonly Stmt[]> {
  const parser = new Parser(new Scanner(source.text));
  const issues: Issue[] = [];
  const tree: Stmt[] = [];
  parser.file(tree, (e) => {
    issues.push({ position: source.position(e.offset), message: decodeUtf8(e.message) });
    return e.recoverable && issues.length < MAX_ISSUES;
  });
  return { tree, issues };
}

/** Parses one expression; commas make a tuple. The tree is null when there are issues. */
export function parseExpression(source: Source): Parsed<Expr | null> {
  const parser = new Parser(new Scanner(source.text));
  try {
    return { tree: parser.only(), issues: [] };
  } catch (e) {
    if (!(e instanceof ScanError)) throw e;
    return { tree: null, issues: [{ position: source.position(e.offset), message: decodeUtf8(e.message) }] };
  }
}

const assignments: ReadonlyMap<Token, Token> = new Map<Token, Token>([
  ["=", "="],
  ["+=", "+"],
  ["-=", "-"],
  ["*=", "*"],
  ["/=", "/"],
  ["//=", "//"],
  ["%=", "%"],
  ["&=", "&"],
  ["|=", "|"],
  ["^=", "^"],
  ["<<=", "<<"],
  [">>=", ">>"],
]);

class Parser extends ExpressionParser {
  file(out: Stmt[], report: (e: ScanError) => boolean): void {
    let begin = true;
    for (;;) {
      try {
        if (begin) this.in.next();
        begin = false;
        while (!this.at("end of file")) {
          if (this.at("newline")) this.in.next();
          else this.stmt(out);
        }
        return;
      } catch (e) {
        if (!(e instanceof ScanError)) throw e;
        if (!report(e)) return;
        const next = this.nextTopLevelLine();
        if (next < 0) return;
        this.in.resume(next);
        this.unnest();
        begin = true;
      }
    }
  }

  only(): Expr {
    this.in.next();
    const x = this.expr(false);
    if (this.at("newline")) this.in.next();
    if (!this.at("end of file")) this.fail(`got ${showToken(this.in.token)} after expression, want EOF`);
    return x;
  }

  /** The next line that begins with a letter in column 1: the likely start of another statement. */
  private nextTopLevelLine(): number {
    // An orphaned branch of the broken statement would only raise a second, false error.
    const line = /\n(?=[A-Za-z_])(?!(?:else|elif)\b)/g;
    line.lastIndex = Math.max(0, this.in.pos - 1);
    const found = line.exec(this.in.text);
    return found ? found.index + 1 : -1;
  }

  private stmt(out: Stmt[]): void {
    switch (this.in.token) {
      case "def":
        out.push(this.def());
        return;
      case "if":
        out.push(this.if());
        return;
      case "for":
        out.push(this.for());
        return;
      case "while": {
        const pos = this.advance();
        const test = this.test();
        this.consume(":");
        out.push({ kind: "while", test, body: this.suite(), pos });
        return;
      }
      default:
        this.simple(out);
    }
  }

  private def(): Stmt {
    const pos = this.advance();
    const ident = this.ident();
    this.consume("(");
    const params = this.params();
    this.consume(")");
    this.consume(":");
    return { kind: "def", ident, fn: { name: ident.name, params, body: this.suite(), pos, scope: null } };
  }

  private if(): Stmt {
    const arms: { test: Expr; body: Stmt[]; pos: number }[] = [];
    do {
      const pos = this.advance();
      const test = this.test();
      this.consume(":");
      arms.push({ test, body: this.suite(), pos });
    } while (this.at("elif"));
    let otherwise: Stmt[] = [];
    if (this.at("else")) {
      this.advance();
      this.consume(":");
      otherwise = this.suite();
    }
    return { kind: "if", arms, otherwise };
  }

  private for(): Stmt {
    const pos = this.advance();
    const vars = this.loopVariables();
    this.consume("in");
    const x = this.expr(false);
    this.consume(":");
    return { kind: "forStmt", vars, x, body: this.suite(), pos };
  }

  private suite(): Stmt[] {
    const out: Stmt[] = [];
    if (!this.at("newline")) {
      this.simple(out);
      return out;
    }
    this.advance();
    this.consume("indent");
    this.nested(() => {
      while (!this.at("outdent") && !this.at("end of file")) this.stmt(out);
    });
    this.consume("outdent");
    return out;
  }

  private simple(out: Stmt[]): void {
    for (;;) {
      out.push(this.small());
      if (!this.at(";")) break;
      this.advance();
      if (this.at("newline") || this.at("end of file")) break;
    }
    if (!this.at("end of file")) this.consume("newline");
  }

  private small(): Stmt {
    const token = this.in.token;
    switch (token) {
      case "return": {
        const pos = this.advance();
        const bare = this.at("end of file") || this.at("newline") || this.at(";");
        return { kind: "return", x: bare ? null : this.expr(false), pos };
      }
      case "break":
      case "continue":
      case "pass":
        return { kind: "branch", token, pos: this.advance() };
      case "load":
        return this.load();
      default: {
        const x = this.expr(false);
        const op = assignments.get(this.in.token);
        if (op === undefined) return { kind: "expr", x };
        const pos = this.advance();
        return { kind: "assign", op, target: x, value: this.expr(false), pos };
      }
    }
  }

  private load(): LoadStmt {
    const pos = this.advance();
    const open = this.consume("(");
    if (!this.at("string literal")) this.fail("first operand of load statement must be a string literal");
    const module = String(this.in.value);
    this.advance();
    const names: { from: string; fromPos: number; to: Ident }[] = [];
    while (!this.at(")") && !this.at("end of file")) {
      this.consume(",");
      if (this.at(")")) break;
      if (this.at("string literal")) {
        const name = String(this.in.value);
        const at = this.advance() + 1;
        names.push({ from: name, fromPos: at, to: { kind: "ident", name, pos: at, binding: null } });
      } else if (this.at("identifier")) {
        const to = this.ident();
        if (!this.at("=")) {
          const name = to.name;
          this.fail(`load operand must be "${name}" or ${name}="originalname" (want '=' after ${name})`);
        }
        this.advance();
        if (!this.at("string literal")) {
          this.fail(`original name of loaded symbol must be quoted: ${to.name}="originalname"`);
        }
        const from = String(this.in.value);
        names.push({ from, fromPos: this.advance() + 1, to });
      } else {
        this.fail(`load operand must be "name" or localname="name" (got ${showToken(this.in.token)})`);
      }
    }
    this.consume(")");
    if (names.length === 0) throw new ScanError(open, "load statement must import at least 1 symbol");
    return { kind: "load", module, names, pos };
  }
}
