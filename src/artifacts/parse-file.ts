/**
 * One file → what is in it, and every problem that can be found without looking at other files. Depends on the text, the
 * name and the checker alone, so the result can be kept by hash.
 */
import { defined } from "#base";
import { agentTable, makeAgent, type WrittenAgent } from "./agent-table.ts";
import { bundleTable, makeBundle } from "./bundle-table.ts";
import { readConfig, type WrittenConfig } from "./config-table.ts";
import type { WrittenPath } from "./context-table.ts";
import { isOptionalKind, type OptionalKind } from "./file-kinds.ts";
import { type Frontmatter, splitFrontmatter } from "./frontmatter.ts";
import { hookTable, makeHook } from "./hook-table.ts";
import type { OptionalContents } from "./optional-file.ts";
import { optionalReaders } from "./optional-readers.ts";
import type {
  AgentArtifact,
  BundleArtifact,
  BundleType,
  FileKind,
  HookArtifact,
  Problem,
  ScriptChecker,
  ScriptSource,
  SourceLocation,
  Tier,
  ToolArtifact,
} from "./project.ts";
import { error, type Reader, readTable, warning } from "./schema.ts";
import { makeTool, toolTable } from "./tool-table.ts";
import { verifierOf } from "./verifier.ts";
import { type MapTree, parseYaml } from "./yaml-tree.ts";

/** Plain data: it goes through JSON unchanged. */
export interface FileRecord {
  readonly tools: readonly ToolArtifact[];
  readonly hooks: readonly HookArtifact[];
  readonly agents: readonly AgentArtifact[];
  readonly bundles: readonly BundleArtifact[];
  readonly config?: WrittenConfig;
  readonly identity?: { readonly text: string; readonly place: SourceLocation };
  /** What `context.files` of the file and its agents name. */
  readonly contextFiles: readonly WrittenPath[];
  readonly text?: string;
  /** What an optional file of its kind holds; absent when it could not be read. */
  readonly optional?: OptionalContents[OptionalKind];
  readonly problems: readonly Problem[];
}

/** More than any hand-written head has; parsing it stays far below a second. */
export const MAX_YAML_CHARS = 128 * 1024;

const nothing = { tools: [], hooks: [], agents: [], bundles: [], contextFiles: [] } as const;

export interface ParsedFile {
  readonly kind: FileKind;
  /** As a `SourceLocation.file`. */
  readonly file: string;
  readonly hash: string;
  readonly text: string;
}

/** Never throws, whatever the text is. */
export function parseFile(parsed: ParsedFile, checker: ScriptChecker): FileRecord {
  return checkRecord(readRecord(parsed), checker);
}

/** What is written, and what is wrong with how it is written. No script of the file is compiled or run. */
export function readRecord({ kind, file, hash, text }: ParsedFile): FileRecord {
  const problems: Problem[] = [];
  const tier: Tier = kind === "admin" ? "admin" : "project";
  const reader: Reader = { file, hash, tier, report: (problem) => void problems.push(problem) };
  if (kind === "context") return { ...nothing, text, problems };
  if (isOptionalKind(kind)) {
    const optional = optionalReaders[kind](text, reader);
    return { ...nothing, ...defined({ optional }), problems };
  }
  const isYaml = /\.ya?ml$/i.test(file);
  const head = isYaml ? { yaml: text, body: "", bodyLine: 1 } : readHead(reader, text);
  if (head === undefined) return { ...nothing, problems };
  if (head.yaml.length > MAX_YAML_CHARS) {
    const message = `The frontmatter has more than ${MAX_YAML_CHARS} characters.`;
    reader.report(error("too-large", { file, line: 1, column: 1 }, message));
    return { ...nothing, problems };
  }
  const tree = parseYaml(file, head.yaml, problems);
  if (tree === undefined) return { ...nothing, problems };
  const record = readKind(kind, { ...tree, place: { file, line: 1, column: 1 } }, head, reader);
  return { ...record, problems };
}

function readHead(reader: Reader, text: string): Frontmatter | undefined {
  const head = splitFrontmatter(text);
  if (typeof head === "object") return head;
  const message =
    head === "missing"
      ? "The file does not begin with frontmatter: its first line must be ---."
      : "The frontmatter is not closed: add a second line with ---.";
  return reader.report(
    error(`frontmatter-${head}`, { file: reader.file, line: 1, column: 1 }, message, { expected: "---" }),
  );
}

type Unchecked = Omit<FileRecord, "problems">;

function readKind(
  kind: Exclude<FileKind, "context" | OptionalKind>,
  tree: MapTree,
  head: Frontmatter,
  reader: Reader,
): Unchecked {
  const given = { name: stem(reader.file), body: head.body };
  switch (kind) {
    case "tool": {
      const tool = makeTool(readTable(toolTable, tree, reader), reader, given);
      return { ...nothing, tools: present(tool) };
    }
    case "hook": {
      const hook = makeHook(readTable(hookTable, tree, reader), reader, given);
      return { ...nothing, hooks: present(hook) };
    }
    case "agent": {
      const written = makeAgent(readTable(agentTable, tree, reader), reader, given);
      return { ...nothing, agents: present(written?.agent), contextFiles: written?.contextFiles ?? [] };
    }
    case "plugin":
    case "builtin":
    case "override":
      return readBundle(kind, tree, given, reader);
    case "config":
    case "admin":
      return readRoot(tree, head, reader);
  }
}

function readBundle(
  folderType: BundleType,
  tree: MapTree,
  given: { readonly name: string; readonly body: string },
  reader: Reader,
): Unchecked {
  const written = makeBundle(readTable(bundleTable, tree, reader), reader, { ...given, folderType });
  if (written === undefined) return nothing;
  return { ...nothing, bundles: [written.bundle], tools: written.tools, hooks: written.hooks };
}

function readRoot(tree: MapTree, head: Frontmatter, reader: Reader): Unchecked {
  const config = readConfig(tree, reader);
  const { tools, hooks, agents, context } = config;
  const identity = { text: head.body, place: { file: reader.file, line: head.bodyLine, column: 1 } };
  const hasIdentity = head.body !== "" && reader.tier === "project";
  if (hasIdentity && context?.config.systemPrompt !== undefined) {
    const message = "This system prompt is ignored: the body of the file is the system prompt.";
    reader.report(warning("ignored-key", context.systemPromptPlace, message));
  }
  return {
    tools,
    hooks,
    agents: agents.map(({ agent }) => agent),
    bundles: [],
    config,
    contextFiles: [...(context?.files ?? []), ...agents.flatMap(({ contextFiles }: WrittenAgent) => contextFiles)],
    ...(hasIdentity ? { identity } : {}),
  };
}

/**
 * The record with what the checker finds in its scripts. A checker that fails is a problem of the file, not the end of the load;
 * what could not be checked does not pass.
 */
export function checkRecord(record: FileRecord, checker: ScriptChecker): FileRecord {
  const problems = [...record.problems];
  const guarded = (place: SourceLocation, check: () => readonly Problem[]): void => {
    try {
      problems.push(...check());
    } catch (cause) {
      problems.push(error("check-failed", place, `The script could not be checked: ${String(cause)}`));
    }
  };
  const agentParts = record.agents.flatMap((agent) => [...agent.tools, ...agent.hooks]);
  const own = agentParts.filter((part): part is ToolArtifact | HookArtifact => !("ref" in part));
  const verifiers = record.agents.flatMap((agent) => present(verifierOf(agent)));
  for (const part of [...record.tools, ...record.hooks, ...own, ...verifiers]) {
    guarded(part.place, () => (part.kind === "tool" ? checker.tool(part) : checker.hook(part)));
  }
  for (const { name, condition, place } of record.bundles) {
    if (condition === undefined) continue;
    guarded(place, () => checker.condition(`the bundle "${name}"`, condition satisfies ScriptSource));
  }
  for (const { name, origin, when, place } of record.config?.context?.config.sources ?? []) {
    const scripts = [...present(when), ...(origin.kind === "starlark" ? [origin.script] : [])];
    for (const text of scripts) guarded(place, () => checker.condition(`the context source "${name}"`, text));
  }
  return { ...record, problems };
}

/** `.harness/tools/run_command.md` → `run_command`. */
function stem(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1).replace(/\.(?:md|ya?ml)$/i, "");
}

function present<Value>(value: Value | undefined): Value[] {
  return value === undefined ? [] : [value];
}
