/** The inputs of earlier conversations, for arrow-up: without secrets, in a bounded file that only its owner can read. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf } from "#base";
import { harnessPaths } from "#stores/keys";
import { makePrivateDirectory, writePrivateFile } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import { LINE_MAX_CHARS } from "./line-keys.ts";

const MAX_INPUTS = 500;

export interface InputHistory {
  /** Newest first, those of other conversations included. */
  inputs(): readonly string[];
  /** Keeps it, unless it is the newest already, too long for a line, or cannot be redacted. Rejects when the file cannot be written. */
  add(input: string): Promise<void>;
}

export function openInputHistory({ env, outward }: Pick<CliPorts, "env" | "outward">): InputHistory {
  const file = join(harnessPaths(env).stateDir, "input-history.json");
  return {
    inputs: () => read(file),
    async add(input) {
      const kept = await outward.orNothing(input);
      const before = read(file);
      if (kept === "" || kept === before[0] || kept.length > LINE_MAX_CHARS) return;
      makePrivateDirectory(dirname(file));
      writePrivateFile(file, JSON.stringify([kept, ...before].slice(0, MAX_INPUTS)), { durable: false });
    },
  };
}

/** None of a file that is missing or that somebody has broken: the next input writes it anew. */
function read(file: string): readonly string[] {
  try {
    const inputs: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(inputs) ? inputs.filter((input) => typeof input === "string").slice(0, MAX_INPUTS) : [];
  } catch (error) {
    if (error instanceof SyntaxError || errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
