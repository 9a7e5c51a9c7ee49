/** `npm run bench`: every benchmark, one after the other; exit code 1 when a requirement does not hold. */
import { benchEngine } from "./engine.ts";
import { holds, printFigures } from "./figures.ts";
import { benchHooks } from "./hooks.ts";
import { benchProject } from "./project.ts";
import { benchStarlark } from "./starlark.ts";

const suites = [
  ["engine", benchEngine],
  ["starlark", benchStarlark],
  ["hooks", benchHooks],
  ["project", benchProject],
] as const;
let allHold = true;
for (const [title, bench] of suites) {
  const figures = await bench();
  printFigures(title, figures);
  allHold &&= figures.every(holds);
}
process.exitCode = allHold ? 0 : 1;
