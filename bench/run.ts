/** `npm run bench`: every benchmark, one after the other; exit code 1 when a requirement does not hold. */
import { benchEngine } from "./engine.ts";
import { holds, printFigures } from "./figures.ts";

const figures = await benchEngine();
printFigures("engine", figures);
process.exitCode = figures.every(holds) ? 0 : 1;
