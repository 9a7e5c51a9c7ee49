/** The syntax tree. Nodes carry offsets into the source; the resolver fills in `binding` and `scope`. */
import type { Binding, FunctionScope } from "./scope.ts";
import type { Token } from "./tokens.ts";

export interface Ident {
  readonly kind: "ident";
  readonly name: string;
  readonly pos: number;
  binding: Binding | null;
}

interface Literal {
  readonly kind: "literal";
  readonly token: "int literal" | "float literal" | "string literal" | "bytes literal";
  readonly value: string | number | bigint;
  readonly pos: number;
}

interface ListExpr {
  readonly kind: "list";
  readonly items: readonly Expr[];
  readonly pos: number;
}

interface TupleExpr {
  readonly kind: "tuple";
  readonly items: readonly Expr[];
  readonly pos: number;
}

interface ParenExpr {
  readonly kind: "paren";
  readonly x: Expr;
  readonly pos: number;
}

export interface DictEntry {
  readonly key: Expr;
  readonly value: Expr;
  readonly colon: number;
}

interface DictExpr {
  readonly kind: "dict";
  readonly entries: readonly DictEntry[];
  readonly pos: number;
}

interface CondExpr {
  readonly kind: "cond";
  readonly test: Expr;
  readonly yes: Expr;
  readonly no: Expr;
  readonly pos: number;
}

interface UnaryExpr {
  readonly kind: "unary";
  readonly op: "+" | "-" | "~" | "not";
  readonly x: Expr;
  readonly pos: number;
}

export interface BinaryExpr {
  readonly kind: "binary";
  readonly op: Token;
  readonly x: Expr;
  readonly y: Expr;
  readonly pos: number;
}

interface DotExpr {
  readonly kind: "dot";
  readonly x: Expr;
  readonly name: string;
  readonly pos: number;
}

interface IndexExpr {
  readonly kind: "index";
  readonly x: Expr;
  readonly y: Expr;
  readonly pos: number;
}

export interface SliceExpr {
  readonly kind: "slice";
  readonly x: Expr;
  readonly low: Expr | null;
  readonly high: Expr | null;
  readonly step: Expr | null;
  readonly pos: number;
}

export interface Argument {
  readonly kind: "positional" | "keyword" | "star" | "starstar";
  readonly name: string;
  readonly value: Expr;
  readonly pos: number;
}

export interface CallExpr {
  readonly kind: "call";
  readonly fn: Expr;
  readonly args: readonly Argument[];
  readonly pos: number;
}

export interface ForClause {
  readonly kind: "for";
  readonly vars: Expr;
  readonly x: Expr;
  readonly pos: number;
}

export interface IfClause {
  readonly kind: "if";
  readonly test: Expr;
  readonly pos: number;
}

export interface Comprehension {
  readonly kind: "comprehension";
  readonly body: Expr | DictEntry;
  readonly curly: boolean;
  readonly clauses: readonly (ForClause | IfClause)[];
  readonly pos: number;
  scope: FunctionScope | null;
}

export interface Parameter {
  readonly kind: "plain" | "optional" | "star" | "starstar";
  /** Null for a bare `*`. */
  readonly ident: Ident | null;
  readonly fallback: Expr | null;
  readonly pos: number;
}

/** What `def` and `lambda` share. */
export interface FunctionNode {
  readonly name: string;
  readonly params: readonly Parameter[];
  readonly body: readonly Stmt[];
  readonly pos: number;
  scope: FunctionScope | null;
}

interface LambdaExpr {
  readonly kind: "lambda";
  readonly fn: FunctionNode;
  readonly pos: number;
}

export type Expr =
  | Ident
  | Literal
  | ListExpr
  | TupleExpr
  | ParenExpr
  | DictExpr
  | CondExpr
  | UnaryExpr
  | BinaryExpr
  | DotExpr
  | IndexExpr
  | SliceExpr
  | CallExpr
  | Comprehension
  | LambdaExpr;

interface ExprStmt {
  readonly kind: "expr";
  readonly x: Expr;
}

export interface AssignStmt {
  readonly kind: "assign";
  /** "=" or the operator of an augmented assignment, without its "=". */
  readonly op: Token;
  readonly target: Expr;
  readonly value: Expr;
  readonly pos: number;
}

interface BranchStmt {
  readonly kind: "branch";
  readonly token: "break" | "continue" | "pass";
  readonly pos: number;
}

interface DefStmt {
  readonly kind: "def";
  readonly ident: Ident;
  readonly fn: FunctionNode;
}

export interface IfStmt {
  readonly kind: "if";
  /** `if` and each `elif`, in order. */
  readonly arms: readonly { readonly test: Expr; readonly body: readonly Stmt[]; readonly pos: number }[];
  readonly otherwise: readonly Stmt[];
}

export interface ForStmt {
  readonly kind: "forStmt";
  readonly vars: Expr;
  readonly x: Expr;
  readonly body: readonly Stmt[];
  readonly pos: number;
}

interface WhileStmt {
  readonly kind: "while";
  readonly test: Expr;
  readonly body: readonly Stmt[];
  readonly pos: number;
}

interface ReturnStmt {
  readonly kind: "return";
  readonly x: Expr | null;
  readonly pos: number;
}

export interface LoadStmt {
  readonly kind: "load";
  readonly module: string;
  readonly names: readonly { readonly from: string; readonly fromPos: number; readonly to: Ident }[];
  readonly pos: number;
}

export type Stmt = ExprStmt | AssignStmt | BranchStmt | DefStmt | IfStmt | ForStmt | WhileStmt | ReturnStmt | LoadStmt;

/** Offset where an expression begins. */
export function startOf(e: Expr): number {
  let at = e;
  for (;;) {
    switch (at.kind) {
      case "binary":
      case "dot":
      case "index":
      case "slice":
        at = at.x;
        break;
      case "call":
        at = at.fn;
        break;
      case "cond":
        at = at.yes;
        break;
      default:
        return at.pos;
    }
  }
}

/** The expression without parentheses around it. */
export function unparen(e: Expr): Expr {
  let at = e;
  while (at.kind === "paren") at = at.x;
  return at;
}

/** Names of node types as starlark-go prints them. */
export const targetNames: Readonly<
  Record<Exclude<Expr["kind"], "ident" | "index" | "dot" | "tuple" | "list">, string>
> = {
  paren: "parenexpr",
  literal: "literal",
  dict: "dictexpr",
  cond: "condexpr",
  unary: "unaryexpr",
  binary: "binaryexpr",
  slice: "sliceexpr",
  call: "callexpr",
  comprehension: "comprehension",
  lambda: "lambdaexpr",
};
