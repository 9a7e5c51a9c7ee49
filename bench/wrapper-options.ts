/**
 * Whether the tables of programs that start others (timeout, nice, prlimit, strace, …) say the same of their options as the programs
 * do: what a program starts behind an option, a deny rule must see. `node bench/wrapper-options.ts`; Linux.
 */
import { tryWrapperOptions } from "../test/fakes/wrapper-options.ts";
import { holds, printFigures } from "./figures.ts";

const { programs, tried, started, passed } = tryWrapperOptions({ all: true, report: console.log });
for (const command of passed) console.log(`passes: ${command}`);
const name = `of ${started} options that start a word (${tried} tried, ${programs.length} programs), those that pass a deny rule`;
const figures = [{ name, unit: "commands", ours: passed.length, limit: 0 }];
printFigures("options of wrappers", figures);
process.exitCode = figures.every(holds) ? 0 : 1;
