/**
 * Keys that came in the environment: taken out of it, also out of the block that the system shows of this process as long as
 * it lives (`/proc/<pid>/environ`, `ps e`). On Linux a value goes from there into a buffer and never becomes a string.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

export interface EnvironmentKeys {
  /** Set to something, now or when it was taken. */
  has(variable: string): boolean;
  /** Takes the value out of the environment and keeps it for `take`. */
  hold(variable: string): void;
  /** The value without white space around it, once; nobody finds it in the environment afterwards. The caller wipes it. */
  take(variable: string): Buffer | undefined;
  /** Copies of what is held and was not taken, for the environment of a process that is this program once more. */
  forChild(): Record<string, string>;
  /** Stays in `env` for whoever needs it, and is gone from what the system shows. */
  conceal(variable: string): void;
  /** Whether what the system shows of this process could be changed; undefined when nothing had to be. */
  readonly concealed: boolean | undefined;
}

type Environment = Record<string, string | undefined>;

/** `env` is `process.env`, or an object that stands for it: then there is no block. */
export function createEnvironmentKeys(env: Environment, block: EnvironmentBlock | undefined): EnvironmentKeys {
  /** Without a value: handed over. */
  const held = new Map<string, Buffer | undefined>();
  let concealed: boolean | undefined;
  const wipe = (variable: string): void => {
    concealed = (block?.wipe(variable) ?? false) && concealed !== false;
  };
  const value = (variable: string): Buffer | undefined => {
    if (!(variable in env)) return undefined;
    const found = block?.value(variable) ?? Buffer.from(env[variable] ?? "");
    const trimmed = trim(found);
    return trimmed.length === 0 ? undefined : trimmed;
  };
  const hold = (variable: string): void => {
    const found = value(variable);
    if (found === undefined) return;
    held.set(variable, found);
    delete env[variable];
    wipe(variable);
  };
  return {
    has(variable) {
      if (held.has(variable)) return true;
      const found = value(variable);
      found?.fill(0);
      return found !== undefined;
    },
    hold,
    take(variable) {
      if (!held.has(variable)) hold(variable);
      const found = held.get(variable);
      if (found !== undefined) held.set(variable, undefined);
      return found;
    },
    forChild: () =>
      Object.fromEntries(
        [...held].flatMap(([variable, found]) => (found === undefined ? [] : [[variable, found.toString("utf8")]])),
      ),
    conceal(variable) {
      const known = env[variable];
      if (known === undefined) return;
      env[variable] = known; // a copy of its own, which nobody is shown
      wipe(variable);
    },
    get concealed() {
      return concealed;
    },
  };
}

export interface EnvironmentBlock {
  value(variable: string): Buffer | undefined;
  /** False when it could not be overwritten. */
  wipe(variable: string): boolean;
}

/** Fields of `/proc/self/stat` after the name of the program: where the block begins and ends. */
const ENV_START_FIELD = 47;
const ENV_END_FIELD = 48;

/** The block of this process; undefined where the system gives no way to it. */
export function environmentBlock(): EnvironmentBlock | undefined {
  if (process.platform !== "linux") return undefined;
  const read = (): Buffer | undefined => {
    try {
      return readBlock();
    } catch {
      return undefined; // no /proc here: the caller is told that nothing was wiped
    }
  };
  return {
    value(variable) {
      const block = read();
      const [first] = block === undefined ? [] : placesOf(block, variable);
      if (block === undefined || first === undefined) return undefined;
      const value = Buffer.allocUnsafeSlow(first.end - first.from);
      block.copy(value, 0, first.from, first.end);
      block.fill(0);
      return value;
    },
    wipe(variable) {
      const block = read();
      if (block === undefined) return false;
      try {
        return overwrite(block, placesOf(block, variable));
      } catch {
        return false; // not allowed to write to our own memory
      } finally {
        block.fill(0);
      }
    },
  };
}

interface Place {
  readonly from: number;
  readonly end: number;
}

/** Where the values of a variable are; it may stand there more than once. */
function placesOf(block: Buffer, variable: string): Place[] {
  const places: Place[] = [];
  const name = Buffer.from(`${variable}=`);
  for (let at = block.indexOf(name); at >= 0; at = block.indexOf(name, at + 1)) {
    if (at > 0 && block[at - 1] !== 0) continue;
    const end = block.indexOf(0, at);
    places.push({ from: at + name.length, end: end < 0 ? block.length : end });
  }
  return places;
}

/** Into one buffer that can be wiped; reading it as a file of unknown length would leave copies behind. */
function readBlock(): Buffer {
  const { start, end } = blockAddress();
  const block = Buffer.allocUnsafeSlow(end - start);
  const file = openSync("/proc/self/environ", "r");
  try {
    let length = 0;
    for (let read = -1; read !== 0; length += read) read = readSync(file, block, length, block.length - length, length);
    return block.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function blockAddress(): { readonly start: number; readonly end: number } {
  const fields = readFileSync("/proc/self/stat", "latin1");
  const numbers = fields.slice(fields.lastIndexOf(")") + 2).split(" ");
  return { start: Number(numbers[ENV_START_FIELD]), end: Number(numbers[ENV_END_FIELD]) };
}

function overwrite(block: Buffer, places: readonly Place[]): boolean {
  const { start, end } = blockAddress();
  // Somebody may have moved the block; writing where it is not would break this process.
  if (!Number.isSafeInteger(start) || end - start !== block.length) return false;
  const memory = openSync("/proc/self/mem", "r+");
  try {
    for (const { from, end } of places) writeSync(memory, Buffer.alloc(end - from), 0, end - from, start + from);
  } finally {
    closeSync(memory);
  }
  return true;
}

function trim(bytes: Buffer): Buffer {
  const isSpace = (byte: number | undefined): boolean =>
    byte === 0x20 || (byte !== undefined && byte >= 9 && byte <= 13);
  let from = 0;
  let end = bytes.length;
  while (from < end && isSpace(bytes[from])) from += 1;
  while (end > from && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(from, end);
}
