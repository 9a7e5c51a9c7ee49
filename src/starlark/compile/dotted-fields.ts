/** Reads `payload.name` as `payload["name"]`, for inputs that are dicts. A method that is called stays one: `payload.get("name")`. */
import { type Expr, unparen } from "../syntax/ast.ts";

/** The same expression with every dot after one of `names`, and after what was read of it so, as an index. */
export function withDottedFields(root: Expr, names: ReadonlySet<string>): Expr {
  return rewritten(root) as Expr;

  /** Copies what is above a change; nodes are objects with a `kind`, the rest is plain data. */
  function rewritten(at: unknown): unknown {
    if (Array.isArray(at)) return at.map(rewritten);
    if (typeof at !== "object" || at === null) return at;
    const node = at as Expr;
    if (node.kind === "call") {
      const fn = unparen(node.fn);
      const callee = fn.kind === "dot" ? { ...fn, x: rewritten(fn.x) as Expr } : rewritten(node.fn);
      return { ...node, fn: callee, args: rewritten(node.args) };
    }
    const copy = Object.fromEntries(Object.entries(at).map(([key, part]) => [key, rewritten(part)]));
    if (node.kind !== "dot" || !isInput(node.x)) return copy;
    const y: Expr = { kind: "literal", token: "string literal", value: node.name, pos: node.pos };
    return { kind: "index", x: copy.x, y, pos: node.pos };
  }

  function isInput(e: Expr): boolean {
    const x = unparen(e);
    if (x.kind === "ident") return names.has(x.name);
    return (x.kind === "dot" || x.kind === "index") && isInput(x.x);
  }
}
