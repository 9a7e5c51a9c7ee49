/** All files of a project, read → the project, or everything that is wrong with it. Pure. */

import { hash } from "node:crypto";
import { defined } from "#base";
import { crossCheck } from "./cross-checks.ts";
import type { FileContent } from "./file-content.ts";
import { isOptionalKind } from "./file-kinds.ts";
import type { LeftOutFile, OptionalFile } from "./optional-file.ts";
import type { FileRecord } from "./parse-file.ts";
import type { AgentArtifact, LoadedProject, Problem, Project, ProjectConfig } from "./project.ts";
import type { SourceFile } from "./project-files.ts";
import { warning } from "./schema.ts";
import { mergeTiers } from "./tiers.ts";

/** More would not be read by anybody. */
const MAX_PROBLEMS = 1000;

export interface ReadFile {
  readonly source: SourceFile;
  /** Absent when it could not be read. */
  readonly content?: Pick<FileContent, "hash" | "bytes">;
  readonly record: FileRecord;
}

export interface AssembleInput {
  readonly root: string;
  readonly version: string;
  /** The root file first, then in the order of their paths; each once. Of optional files those that are in force. */
  readonly files: readonly ReadFile[];
  readonly leftOut: readonly LeftOutFile[];
  /** Found while looking for files. */
  readonly problems: readonly Problem[];
  readonly knownTools: readonly string[];
}

export function assemble({ root, version, files, leftOut, problems: found, knownTools }: AssembleInput): LoadedProject {
  const ofKind = (kind: SourceFile["kind"]): ReadFile | undefined => files.find(({ source }) => source.kind === kind);
  const configFile = ofKind("config");
  const admin = ofKind("admin");
  const config = mergeTiers(configFile?.record.config, admin?.record.config);
  // Hooks of the admin policy stand first, and are asked first.
  const ordered = admin === undefined ? files : [admin, ...files.filter((file) => file !== admin)];
  const tools = ordered.flatMap(({ record }) => record.tools);
  const hooks = ordered.flatMap(({ record }) => record.hooks);
  const bundles = ordered.flatMap(({ record }) => record.bundles);
  const modelProblems: Problem[] = [];
  const agents = ordered.flatMap(({ record }) => record.agents).map((agent) => withModel(agent, config, modelProblems));
  const identity = configFile?.record.identity;
  const problems = [
    ...found,
    // What is wrong with a file of `context.files` is told where it is named.
    ...files.flatMap(({ source, record }) => (source.kind === "context" ? [] : record.problems)),
    ...modelProblems,
    ...crossCheck({
      config,
      tools,
      hooks,
      agents,
      bundles,
      knownTools,
      ...defined({ identityPlace: identity?.place }),
    }),
  ].sort(byPlace);
  if (problems.some(({ severity }) => severity === "error")) return { problems: bounded(problems) };
  const project: Project = {
    root,
    version,
    config,
    tools,
    hooks,
    agents,
    bundles,
    contextFiles: files.flatMap(({ source, record: { text } }) =>
      text === undefined ? [] : [{ file: source.file, text }],
    ),
    optional: files.flatMap(asOptional),
    leftOut,
    files: files.flatMap(({ source: { file }, content }) => {
      return content === undefined ? [] : [{ file, hash: content.hash, bytes: content.bytes }];
    }),
    ...defined({ configFile: configFile?.source.file, identity }),
  };
  return { project, problems: bounded(problems) };
}

function asOptional({ source: { kind, file }, content, record: { optional } }: ReadFile): OptionalFile[] {
  if (!isOptionalKind(kind) || content === undefined || optional === undefined) return [];
  // The reader of this kind made it.
  return [{ kind, file, hash: content.hash, content: optional } as OptionalFile];
}

/** Names and hashes; what could not be read counts by why. */
export function versionOf(files: readonly ReadFile[]): string {
  const lines = files.map(({ source: { kind, file }, content, record }) => {
    return `${kind} ${file} ${content?.hash ?? record.problems.map(({ code }) => code).join()}`;
  });
  return hash("sha256", lines.join("\n"), "hex");
}

/** A bare name is one of `models`, else a model of the provider that the project uses. */
function withModel(agent: AgentArtifact, config: ProjectConfig, problems: Problem[]): AgentArtifact {
  const { model, modelConfig } = agent;
  if (model === undefined || modelConfig === undefined || model.includes(":")) return agent;
  const known = [...(config.model === undefined ? [] : [config.model]), ...config.models];
  const named = known.find(({ model: full }) => full.slice(full.indexOf(":") + 1) === model);
  if (named !== undefined) return { ...agent, model: named.model, modelConfig: named };
  const [main] = known;
  const full = main && `${main.model.slice(0, main.model.indexOf(":"))}:${model}`;
  const taken = full === undefined ? "The provider in use decides which model that is" : `Harness uses ${full}`;
  const message = `The agent "${agent.name}" uses the model "${model}", which is not in \`models\`. ${taken}.`;
  problems.push(warning("unknown-model", modelConfig.place, message, { expected: "`provider:name`" }));
  return full === undefined ? agent : { ...agent, model: full, modelConfig: { ...modelConfig, model: full } };
}

/** Errors before warnings when there are too many of both. */
function bounded(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  const ranked = problems.toSorted((a, b) => Number(b.severity === "error") - Number(a.severity === "error"));
  return ranked.slice(0, MAX_PROBLEMS).sort(byPlace);
}

function byPlace({ place: a }: Problem, { place: b }: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
