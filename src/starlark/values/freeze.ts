/** Makes a value and everything it reaches immutable for ever. */
import { Dict, StarlarkSet } from "./dict.ts";
import { Fn, FROZEN, List, Module, Struct, Tuple, type Value } from "./values.ts";

/** Walks without recursion, so that depth is no danger. Frozen parts are not entered again. */
export function freeze(root: Value | undefined): void {
  const work: (Value | undefined)[] = [root];
  const seen = new Set<object>();
  while (work.length > 0) {
    const x = work.pop();
    if (typeof x !== "object" || x === null) continue;
    if (x instanceof List || x instanceof Dict || x instanceof StarlarkSet) {
      if (x.lock === FROZEN) continue;
      x.lock = FROZEN;
      if (x instanceof List) push(work, x.a);
      else if (x instanceof Dict) push(work, x.values());
    } else if (x instanceof Tuple) {
      if (!seen.has(x)) push(work, x.a);
      seen.add(x);
    } else if (x instanceof Fn) {
      if (x.frozen) continue;
      x.frozen = true;
      push(work, x.defaults);
      if (x.captured !== null) push(work, x.captured());
    } else if (x instanceof Struct || x instanceof Module) {
      if (!seen.has(x)) push(work, [...(x instanceof Struct ? x.fields : x.members).values()]);
      seen.add(x);
    }
  }
}

function push(work: (Value | undefined)[], values: readonly (Value | undefined)[]): void {
  for (const v of values) if (typeof v === "object" && v !== null) work.push(v);
}
