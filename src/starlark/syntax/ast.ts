/** The syntax tree. Nodes carry offsets into the source; the resolver fills in `binding` and `scope`. */
import type { Binding, FunctionScope } from "./scope.ts";
import type { Token } from "./tokens.ts";

type Node<Kind extends string, Fields> = Readonly<Fields> & { readonly kind: Kind; readonly pos: number };

export type Ident = Node<"ident", { name: string }> & { binding: Binding | null };
export type BinaryExpr = Node<"binary", { op: Token; x: Expr; y: Expr }>;
export type SliceExpr = Node<"slice", { x: Expr; low: Expr | null; high: Expr | null; step: Expr | null }>;
export type CallExpr = Node<"call", { fn: Expr; args: readonly Argument[] }>;
export type Argument = Node<"positional" | "keyword" | "star" | "starstar", { name: string; value: Expr }>;

export type ForClause = Node<"for", { vars: Expr; x: Expr }>;
export type IfClause = Node<"if", { test: Expr }>;
export type Comprehension = Node<
  "comprehension",
  { body: Expr | DictEntry; curly: boolean; clauses: readonly (ForClause | IfClause)[] }
> & { scope: FunctionScope | null };

export interface DictEntry {
  readonly key: Expr;
  readonly value: Expr;
  readonly colon: number;
}

/** The identifier is null for a bare `*`. */
export type Parameter = Node<
  "plain" | "optional" | "star" | "starstar",
  { ident: Ident | null; fallback: Expr | null }
>;

/** What `def` and `lambda` share. */
export interface FunctionNode {
  readonly name: string;
  readonly params: readonly Parameter[];
  readonly body: readonly Stmt[];
  readonly pos: number;
  scope: FunctionScope | null;
}

export type Expr =
  | Ident
  | Node<
      "literal",
      { token: "int literal" | "float literal" | "string literal" | "bytes literal"; value: string | number | bigint }
    >
  | Node<"list" | "tuple", { items: readonly Expr[] }>
  | Node<"paren", { x: Expr }>
  | Node<"dict", { entries: readonly DictEntry[] }>
  | Node<"cond", { test: Expr; yes: Expr; no: Expr }>
  | Node<"unary", { op: "+" | "-" | "~" | "not"; x: Expr }>
  | BinaryExpr
  | Node<"dot", { x: Expr; name: string }>
  | Node<"index", { x: Expr; y: Expr }>
  | SliceExpr
  | CallExpr
  | Comprehension
  | Node<"lambda", { fn: FunctionNode }>;

/** `op` is "=" or the operator of an augmented assignment, without its "=". */
export type AssignStmt = Node<"assign", { op: Token; target: Expr; value: Expr }>;
export type ForStmt = Node<"forStmt", { vars: Expr; x: Expr; body: readonly Stmt[] }>;
export type LoadStmt = Node<
  "load",
  { module: string; names: readonly { readonly from: string; readonly fromPos: number; readonly to: Ident }[] }
>;

export interface IfStmt {
  readonly kind: "if";
  /** `if` and each `elif`, in order. */
  readonly arms: readonly { readonly test: Expr; readonly body: readonly Stmt[]; readonly pos: number }[];
  readonly otherwise: readonly Stmt[];
}

export type Stmt =
  | { readonly kind: "expr"; readonly x: Expr }
  | AssignStmt
  | Node<"branch", { token: "break" | "continue" | "pass" }>
  | { readonly kind: "def"; readonly ident: Ident; readonly fn: FunctionNode }
  | IfStmt
  | ForStmt
  | Node<"while", { test: Expr; body: readonly Stmt[] }>
  | Node<"return", { x: Expr | null }>
  | LoadStmt;

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
