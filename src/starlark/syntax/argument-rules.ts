/** The order and number of arguments and parameters, as far as they can be checked before a program runs. */
import { type CallExpr, type FunctionNode, type Ident, startOf } from "./ast.ts";

const MAX_ARGUMENTS = 255;

/** Reports each argument that is out of place, repeated or too many. */
export function resolveArguments(call: CallExpr, error: (offset: number, message: string) => void): void {
  let star = false;
  let starstar = false;
  const names = new Set<string>();
  let positional = 0;
  let keyword = 0;
  for (const arg of call.args) {
    switch (arg.kind) {
      case "starstar":
        if (starstar) error(arg.pos, "multiple **kwargs not allowed");
        starstar = true;
        break;
      case "star":
        if (starstar) error(arg.pos, "*args may not follow **kwargs");
        else if (star) error(arg.pos, "multiple *args not allowed");
        star = true;
        break;
      case "keyword":
        keyword++;
        if (starstar) error(arg.pos, "keyword argument may not follow **kwargs");
        else if (star) error(arg.pos, "keyword argument may not follow *args");
        if (names.has(arg.name)) error(arg.pos, `keyword argument "${arg.name}" is repeated`);
        names.add(arg.name);
        break;
      case "positional":
        positional++;
        if (star) error(arg.pos, "positional argument may not follow *args");
        else if (starstar) error(arg.pos, "positional argument may not follow **kwargs");
        else if (names.size > 0) error(arg.pos, "positional argument may not follow named");
        break;
    }
  }
  for (const [n, what] of [
    [positional, "positional"],
    [keyword, "keyword"],
  ] as const) {
    if (n > MAX_ARGUMENTS) error(startOf(call), `${n} ${what} arguments in call, limit is ${MAX_ARGUMENTS}`);
  }
}

/** Binds the parameters of a function, *args and **kwargs last, and reports those out of place. `bind` is true for a known name. */
export function resolveParameters(
  node: FunctionNode,
  bind: (id: Ident) => boolean,
  error: (offset: number, message: string) => void,
): void {
  let optional = false;
  let star: { ident: Ident | null; pos: number } | null = null;
  let starstar: Ident | null = null;
  let keywordOnly = 0;
  const declare = (id: Ident, pos: number): void => {
    if (bind(id)) error(pos, `duplicate parameter: ${id.name}`);
  };
  for (const p of node.params) {
    if (p.kind === "plain" || p.kind === "optional") {
      if (p.ident === null) continue;
      const what = p.kind === "plain" ? "required" : "optional";
      if (starstar !== null) error(p.pos, `${what} parameter may not follow **${starstar.name}`);
      else if (star !== null) keywordOnly++;
      else if (optional && p.kind === "plain") error(p.pos, "required parameter may not follow optional");
      declare(p.ident, p.pos);
      optional ||= p.kind === "optional";
    } else if (p.kind === "star") {
      if (starstar !== null) error(p.pos, `* parameter may not follow **${starstar.name}`);
      else if (star !== null) error(p.pos, "multiple * parameters not allowed");
      else star = { ident: p.ident, pos: p.pos };
    } else {
      if (starstar !== null) error(p.pos, "multiple ** parameters not allowed");
      starstar = p.ident;
    }
  }
  if (star?.ident) declare(star.ident, star.ident.pos);
  else if (star !== null && keywordOnly === 0) error(star.pos, "bare * must be followed by keyword-only parameters");
  if (starstar !== null) declare(starstar, starstar.pos);
}
