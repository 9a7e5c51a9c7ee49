/** What a script may do, told from the names it mentions. The gate enforces the class, so a wrong answer refuses, never leaks. */

import type { ToolClass } from "#protocol";
import type { Program } from "#starlark";
import { toolClasses } from "./builtins/table.ts";

/** A module that stands without a dot may be handed on, so it counts as all of its functions. */
export function toolClassOf(program: Program): ToolClass {
  const named = program.mentions;
  const classes = [...toolClasses()].filter(([name]) => {
    const [module = "", member = ""] = name.split(".");
    return named.some((use) => use.name === module && (use.attribute === null || use.attribute === member));
  });
  if (classes.some(([, kind]) => kind === "mutating")) return "mutating";
  return classes.length > 0 ? "sensitive" : "read_only";
}
