/**
 * Open files and sockets that came with this process from the one that started it. Node marks its own so that no child gets
 * them, but not those: a command would find them open, inside a sandbox as well. Reads `/proc`; elsewhere none are known.
 */
import { openSync, readdirSync, readFileSync } from "node:fs";

const OWN = "/proc/self";
const STANDARD = 2;
/** `O_CLOEXEC`, as `/proc` writes it. */
const CLOSED_ON_EXEC = 0o2000000;
/** A higher one makes starting programs fail: each up to it costs a place in a list. */
const MAX_DESCRIPTOR = 4096;

/** What a child gets in the place of each, from descriptor 3 on: an entry is a descriptor of ours, or nothing. */
export function coveredDescriptors(): readonly (number | null)[] {
  covered ??= cover(inherited());
  return covered;
}

/** Module state, because it is a fact of the process: nothing is inherited after its start. */
let covered: readonly (number | null)[] | undefined;

function cover(descriptors: readonly number[]): readonly (number | null)[] {
  const highest = Math.max(STANDARD, ...descriptors);
  if (highest > MAX_DESCRIPTOR)
    throw new Error(`descriptor ${highest} was left open by the program that started this one`);
  if (highest === STANDARD) return [];
  const nothing = openSync("/dev/null", "r+");
  return Array.from({ length: highest - STANDARD }, (_, index) =>
    descriptors.includes(index + STANDARD + 1) ? nothing : null,
  );
}

function inherited(): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync(`${OWN}/fd`)
    .map(Number)
    .filter((descriptor) => descriptor > STANDARD && staysOpen(descriptor));
}

function staysOpen(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`${OWN}/fdinfo/${descriptor}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    return false; // the one that listed the folder, gone by now
  }
}
