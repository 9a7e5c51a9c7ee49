/** What tools, hooks, agents and bundles may be called. */
import type { SourceLocation } from "./project.ts";
import { error, type Reader } from "./schema.ts";

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;
const NAME_SHOWN = "letters, digits, `_`, `.` and `-`, at most 64, not beginning with `.` or `-`";

/** The name when it may be one; otherwise it is reported. */
export function checkedName(name: string, place: SourceLocation, reader: Reader): string | undefined {
  if (NAME.test(name)) return name;
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return reader.report(error("bad-name", place, `"${shown}" cannot be a name.`, { expected: NAME_SHOWN }));
}
