/** The inputs of earlier conversations, for arrow-up: without secrets, in a bounded file that only its owner can read. */
import { dirname, join } from "node:path";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#stores/keys";
import { makePrivateDirectory, readOwnedFile, withFileLock, writePrivateFile } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import { LINE_MAX_CHARS } from "./line-keys.ts";

const MAX_INPUTS = 500;
const MAX_BYTES = 8 * 1024 * 1024;

export interface InputHistory {
  /** Newest first, those of other conversations included. */
  inputs(): readonly string[];
  /** Keeps it, unless it is the newest already, too long for a line, or cannot be redacted. Rejects when the file cannot be written. */
  add(input: string): Promise<void>;
}

export function openInputHistory({ env, clock, outward }: Pick<CliPorts, "env" | "clock" | "outward">): InputHistory {
  const file = join(harnessPaths(env).stateDir, "input-history.json");
  return {
    inputs: () => read(file),
    async add(input) {
      const kept = await outward.orNothing(input);
      if (kept === "" || kept.length > LINE_MAX_CHARS) return;
      makePrivateDirectory(dirname(file));
      // Another conversation may add one between our reading and our writing.
      const held = await withFileLock(file, clock, () => {
        const before = read(file);
        if (kept === before[0]) return;
        writePrivateFile(file, JSON.stringify([kept, ...before].slice(0, MAX_INPUTS)), { durable: false });
      });
      if (held === undefined) throw new ReasonError("FileFailed", { detail: `another process has locked ${file}` });
    },
  };
}

/** None of a file that is missing, that is not ours or that somebody has broken: a conversation goes on without them. */
function read(file: string): readonly string[] {
  try {
    const inputs: unknown = JSON.parse(readOwnedFile(file, MAX_BYTES)?.toString("utf8") ?? "[]");
    return Array.isArray(inputs) ? inputs.filter((input) => typeof input === "string").slice(0, MAX_INPUTS) : [];
  } catch {
    return [];
  }
}
