/** How every object on the wire is declared: known fields are checked, `x_*` is kept, everything else is ignored. */
import { z } from "zod";
import type { Branded, IdKind } from "./ids.ts";

/** A wire object: unknown fields are dropped, except vendor extensions (`x_*`). */
export function wire<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = new Set(Object.keys(shape));
  return z.looseObject(shape).transform((value) => {
    const kept: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(value)) {
      if (known.has(key) || key.startsWith("x_")) kept[key] = field;
    }
    // Only keys outside the shape were removed, so what is left has the shape's type.
    return kept as z.output<z.ZodObject<Shape>>;
  });
}

export function idSchema<Prefix extends string>(kind: IdKind<Prefix>): z.ZodType<Branded<Prefix>> {
  const schema = z.string().regex(kind.pattern, { error: `expected an id of the form ${kind.prefix}_<ULID>` });
  // The regular expression is what the brand stands for; zod cannot infer that.
  return schema as unknown as z.ZodType<Branded<Prefix>>;
}
