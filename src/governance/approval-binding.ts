/**
 * What a person's yes is bound to: the arguments, and the state of everything that they name — programs, scripts, files that
 * would be overwritten, the environment, the folder. Taken when the question is asked, compared again when the call has its
 * effect; anything that has changed in between makes the yes void.
 */
import { createHash } from "node:crypto";
import { EffectError, type ProgramFacts } from "#base";
import type { ToolCall } from "#engine";
import type { DiskReader } from "./disk-view.ts";
import { isCommand, isFileTool, pathNames, textsOf } from "./known-tools.ts";
import { whatCommandNames } from "./named-files.ts";

/** Files that one approval can be bound to; a call that names more is bound to the first ones and says so. */
const MAX_FILES = 200;
/** Larger files are bound by their size and time only. */
const MAX_HASHED_BYTES = 4 * 1024 * 1024;

export interface Binding {
  /** What each fact was: `file run.sh` → its hash. */
  readonly facts: ReadonlyMap<string, string>;
}

export interface BindingSources {
  readonly files: DiskReader;
  readonly programs: ProgramFacts;
  readonly policyVersion: () => string;
}

export async function bindApproval(call: ToolCall, sources: BindingSources): Promise<Binding> {
  const facts = new Map<string, string>([["policy", sources.policyVersion()]]);
  const { tool, args } = call;
  const cwd = typeof args.cwd === "string" ? args.cwd : ".";
  const names = new Set<string>();
  if (isCommand(tool.name)) {
    facts.set("environment", sources.programs.environment());
    facts.set("folder", await located(cwd, sources.files));
    const { programs, files } = await whatCommandNames(String(args.command), cwd, sources.files);
    for (const { name, folder } of programs)
      facts.set(
        folder === cwd ? `program ${name}` : `program ${name} in ${folder}`,
        sources.programs.program(name, folder),
      );
    for (const name of files) names.add(name);
  } else {
    // A tool of a project says nothing about its arguments; these names are the usual ones.
    const named = isFileTool(tool.name) ? pathNames(tool.name) : ["path", "from", "to"];
    for (const path of textsOf(named, args)) names.add(path);
  }
  let bound = 0;
  for (const name of names) {
    if (bound >= MAX_FILES) break;
    const state = await fileState(name, sources.files);
    // A word that names no file is just a word; but one that names a file later is another command.
    facts.set(`file ${name}`, state);
    bound += 1;
  }
  return { facts };
}

/** The first thing that is not as it was, for people; undefined when all is. */
export async function whatChanged(
  binding: Binding,
  call: ToolCall,
  sources: BindingSources,
): Promise<string | undefined> {
  const now = await bindApproval(call, sources);
  for (const [name, before] of binding.facts) {
    const after = now.facts.get(name);
    if (after !== before) return describeChange(name, before, after ?? "absent");
  }
  for (const name of now.facts.keys()) if (!binding.facts.has(name)) return `${name} is new`;
  return undefined;
}

/** One hash over all facts, for the record. */
export function bindingHash({ facts }: Binding): string {
  const hash = createHash("sha256");
  for (const [name, state] of [...facts].sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${name}\0${state}\0`);
  return hash.digest("hex");
}

function describeChange(name: string, before: string, after: string): string {
  if (name === "policy") return "the policy has changed";
  if (name === "environment") return "the environment variables of commands have changed";
  const wasThere = !before.startsWith("absent");
  const isThere = !after.startsWith("absent");
  const how = wasThere === isThere ? "has changed" : isThere ? "appeared" : "is gone";
  return `${name} ${how}`;
}

async function located(path: string, files: DiskReader): Promise<string> {
  try {
    return await files.locate(path);
  } catch (error) {
    if (error instanceof EffectError) return `unreachable: ${error.reason}`;
    throw error;
  }
}

async function fileState(path: string, files: DiskReader): Promise<string> {
  try {
    const info = await files.stat(path);
    const where = await files.locate(path);
    if (info === undefined) return `absent ${where}`;
    if (info.kind !== "file") return `${info.kind} ${where}`;
    const size = `${where} ${info.mode} ${info.sizeBytes}`;
    if (info.sizeBytes > MAX_HASHED_BYTES) return `${size} ${info.modifiedMs}`;
    const content = await files.read(path, MAX_HASHED_BYTES);
    return `${size} ${createHash("sha256").update(content).digest("hex")}`;
  } catch (error) {
    if (error instanceof EffectError) return `unreadable: ${error.reason}`;
    throw error;
  }
}
