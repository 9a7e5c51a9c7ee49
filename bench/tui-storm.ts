/**
 * The full interface under random sizes and keys, while events arrive: it must not crash, the live region on the screen must equal a fresh
 * render of the state after each change of size, and the terminal must be given back. Usage: node bench/tui-storm.ts [steps] [seed]
 */
import { stormInterface } from "../test/fakes/interface-storm.ts";

const steps = Number(process.argv[2] ?? 1_000);
const seed = Number(process.argv[3] ?? 23);
const begin = performance.now();
const { compared, differences, restored } = await stormInterface(steps, seed);
for (const one of differences.slice(0, 3)) console.log(one);
console.log(`${steps} steps, seed ${seed}, ${Math.round(performance.now() - begin)} ms`);
console.log(`screens compared: ${compared}, different: ${differences.length}`);
console.log(`terminal restored: ${restored}`);
process.exitCode = differences.length === 0 && restored ? 0 : 1;
