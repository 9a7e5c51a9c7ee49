/** The inputs of earlier conversations, for arrow-up: of each project, without secrets, in a bounded file that only its owner can read. */
import { dirname, join } from "node:path";
import { isRecord } from "#base";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#stores/keys";
import { makePrivateDirectory, readOwnedFile, withFileLock, writePrivateFile } from "#world";
import type { CliPorts } from "./cli-ports.ts";

/** Of one project, and of all together. */
const MAX_INPUTS = 500;
const MAX_ENTRIES = 1_000;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_INPUT_CHARS = 64 * 1024;

export interface InputHistory {
  /** Newest first, those of other conversations in this project included. */
  inputs(): readonly string[];
  /** Keeps it, unless it is the newest already, longer than 65,536 characters, or cannot be redacted. Rejects when the file cannot be written. */
  add(input: string): Promise<void>;
}

/** `project`: the folder of the conversation. */
export function openInputHistory(
  { env, clock, outward }: Pick<CliPorts, "env" | "clock" | "outward">,
  project: string,
): InputHistory {
  const file = join(harnessPaths(env).stateDir, "input-history.json");
  const ofProject = (entries: readonly Entry[]): readonly string[] =>
    entries
      .filter((entry) => entry.project === project || entry.project === undefined)
      .map(({ input }) => input)
      .slice(0, MAX_INPUTS);
  return {
    inputs: () => ofProject(read(file)),
    async add(input) {
      const kept = await outward.orNothing(input);
      if (kept === "" || kept.length > MAX_INPUT_CHARS) return;
      makePrivateDirectory(dirname(file));
      // Another conversation may add one between our reading and our writing.
      const held = await withFileLock(file, clock, () => {
        const before = read(file);
        if (kept === ofProject(before)[0]) return;
        const entries = [{ input: kept, project }, ...before].slice(0, MAX_ENTRIES);
        writePrivateFile(file, withinBytes(entries), { durable: false });
      });
      if (held === undefined) throw new ReasonError("FileFailed", `another process has locked ${file}`);
    },
  };
}

interface Entry {
  readonly input: string;
  /** Absent in files of earlier versions: of any project. */
  readonly project?: string;
}

/** Without the oldest ones that the file has no room for: a larger one would not be read. */
function withinBytes(entries: readonly Entry[]): string {
  let left = MAX_BYTES - 2;
  const kept: string[] = [];
  for (const entry of entries) {
    const text = JSON.stringify(entry);
    left -= Buffer.byteLength(text) + 1;
    if (left < 0) break;
    kept.push(text);
  }
  return `[${kept.join(",")}]`;
}

/** None of a file that is missing, that is not ours or that somebody has broken: a conversation goes on without them. */
function read(file: string): readonly Entry[] {
  try {
    const entries: unknown = JSON.parse(readOwnedFile(file, MAX_BYTES)?.toString("utf8") ?? "[]");
    return Array.isArray(entries) ? entries.flatMap(entryOf).slice(0, MAX_ENTRIES) : [];
  } catch {
    return [];
  }
}

function entryOf(value: unknown): readonly Entry[] {
  if (typeof value === "string") return [{ input: value }];
  if (!isRecord(value) || typeof value.input !== "string" || typeof value.project !== "string") return [];
  return [{ input: value.input, project: value.project }];
}
