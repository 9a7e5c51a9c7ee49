/**
 * What `OLD` and `NEW` of `harness policy` name, as a policy: a project, a configuration file, a policy of the machine, or one of
 * them as it was in a commit. What is not named is the same on both sides: the user's configuration, the machine's policy, and the
 * project of the current folder. Files are read to be looked at: nothing of them takes effect.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { type Policy, policyOf } from "#governance";
import { ReasonError } from "#protocol";
import { checkOut } from "./git-files.ts";
import { loadSettings } from "./open.ts";
import type { ProgramPorts } from "./ports.ts";
import { mayHaveProject, openProject, type ProjectPlace, soundProject } from "./projects.ts";

const ADMIN = /^admin:(.+)$/s;
const REVISION = /^([^:]+):(.*)$/s;

export interface PolicyFlags {
  /** The user's configuration file, where another than the usual one is meant. */
  readonly config?: string;
}

export async function loadPolicy(ports: ProgramPorts, name: string, flags: PolicyFlags): Promise<Policy> {
  const admin = ADMIN.exec(name)?.[1];
  if (admin !== undefined) {
    const file = resolve(ports.cwd, admin);
    if (kindOf(file) !== "file") throw missing(name, `there is no file ${file}`);
    return policyAt(ports, { adminPolicy: file }, flags);
  }
  const path = resolve(ports.cwd, name);
  const kind = kindOf(path);
  if (kind === "folder") return policyAt(ports, { dir: path }, flags);
  if (kind === "file") return fromFile(ports, path, flags);
  const [, revision, inside] = REVISION.exec(name) ?? [];
  if (revision !== undefined && inside !== undefined) return fromCommit(ports, { revision, inside }, flags);
  throw missing(name, "there is no such file or folder");
}

async function fromFile(ports: ProgramPorts, file: string, flags: PolicyFlags): Promise<Policy> {
  if (extname(file).toLowerCase() === ".toml") return policyAt(ports, {}, { ...flags, config: file });
  return policyAt(ports, { config: file }, flags);
}

/** In a folder of its own that lives as long as it is read. */
async function fromCommit(
  ports: ProgramPorts,
  { revision, inside }: { readonly revision: string; readonly inside: string },
  flags: PolicyFlags,
): Promise<Policy> {
  const folder = mkdtempSync(join(tmpdir(), "harness-policy-"));
  try {
    const path = await checkOut({ repository: ports.cwd, revision, path: inside, folder });
    return kindOf(path) === "file" ? await fromFile(ports, path, flags) : await policyAt(ports, { dir: path }, flags);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function policyAt(ports: ProgramPorts, place: ProjectPlace, flags: PolicyFlags): Promise<Policy> {
  const hasProject = place.adminPolicy !== undefined || mayHaveProject(ports, place);
  const project = hasProject ? soundProject((await openProject(ports, place)).loaded) : undefined;
  const { settings } = await loadSettings(ports, flags, project);
  return policyOf(settings, project);
}

function kindOf(path: string): "file" | "folder" | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return "folder";
  return found?.isFile() ? "file" : undefined;
}

function missing(name: string, why: string): ReasonError {
  const kinds =
    "a project folder, harness.md, config.toml, admin:FILE, REVISION:PATH or, for the old policy only, recorded";
  return new ReasonError("UsageInvalid", `'${name}' is not a policy: ${why}. Give ${kinds}.`);
}
