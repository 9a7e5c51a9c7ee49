/** The order and number of a call's arguments, as far as they can be checked before it runs. */
import { type CallExpr, startOf } from "./ast.ts";

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
        if (names.has(arg.name)) error(arg.pos, `keyword argument ${arg.name} repeated`);
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
