/** `harness tools`, `hooks`, `agents` and `artifacts`: one class of the project's parts each. */

import type { Project } from "#artifacts";
import { visibleRow } from "#base";
import {
  type ConditionCheck,
  type ContextValues,
  conditionCheck,
  loadConfig,
  openProject,
  previewProject,
  soundProject,
  userFlags,
} from "#program";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import {
  type AgentFact,
  type ArtifactFact,
  agentFacts,
  artifactFacts,
  type HookFact,
  hookFacts,
  policyText,
  shellHookFacts,
} from "./project-facts.ts";
import { formatTable } from "./table.ts";
import { type ToolFact, toolFacts, warnOfServers } from "./tool-facts.ts";

export interface ListFlags {
  readonly allowProjectHooks?: boolean;
  readonly config?: string;
  readonly dir?: string;
  readonly verbose?: boolean;
  readonly json?: boolean;
  readonly set?: ContextValues;
}

export async function toolsCommand(ports: CliPorts, flags: ListFlags): Promise<ExitCode> {
  const { loaded } = await openProject(ports, flags);
  const project = soundProject(loaded);
  const preview = await previewProject(ports, { place: flags, project, flags });
  warnOfServers(ports.terminal, preview);
  const facts = (_project: Project, holds: ConditionCheck) => toolFacts(project, holds, preview);
  return list(ports, flags, facts, toolTable, toolDetails);
}

export async function hooksCommand(ports: CliPorts, flags: ListFlags): Promise<ExitCode> {
  const { settings } = await loadConfig(ports, userFlags(flags).config);
  const isAllowed = flags.allowProjectHooks ?? settings.allowProjectHooks;
  const all = (project: Project, holds: ConditionCheck): readonly HookFact[] => [
    ...hookFacts(project, holds),
    ...shellHookFacts(project, settings.hooks, isAllowed),
  ];
  return list(ports, flags, all, hookTable, hookDetails);
}

export async function agentsCommand(ports: CliPorts, flags: ListFlags): Promise<ExitCode> {
  return list(ports, flags, agentFacts, agentTable, agentDetails);
}

export async function artifactsCommand(ports: CliPorts, flags: ListFlags & { type?: string }): Promise<ExitCode> {
  const chosen = (project: Project, holds: ConditionCheck): readonly ArtifactFact[] =>
    artifactFacts(project, holds).filter(({ type }) => flags.type === undefined || type === flags.type);
  return list(ports, flags, chosen, artifactTable, artifactDetails);
}

async function list<Fact>(
  ports: CliPorts,
  flags: ListFlags,
  facts: (project: Project, holds: ConditionCheck) => readonly Fact[],
  table: (rows: readonly Fact[], columns: number) => string,
  details: (row: Fact) => string,
): Promise<ExitCode> {
  const { terminal } = ports;
  const { loaded } = await openProject(ports, flags);
  const rows = facts(soundProject(loaded), await conditionCheck(ports, flags.set));
  if (flags.json) terminal.out(`${JSON.stringify(rows)}\n`);
  else if (flags.verbose) terminal.out(rows.map(details).join("\n"));
  else terminal.out(table(rows, terminal.columns));
  return 0;
}

export function toolTable(rows: readonly ToolFact[], columns: number): string {
  const cells = rows.map((tool) => [
    tool.name,
    tool.visible ? "yes" : "no",
    tool.source,
    tool.parameters.map(({ name, required }) => (required ? name : `${name}?`)).join(", "),
    tool.visible ? firstSentence(tool.description) : (tool.why ?? ""),
  ]);
  return table(["TOOL", "SHOWN", "SOURCE", "PARAMETERS", "DESCRIPTION"], cells, columns, "There are no tools.");
}

export function toolDetails(tool: ToolFact): string {
  return block(`${tool.name}  ${tool.source}`, [
    tool.visible ? "shown to the model" : `not shown to the model: ${tool.why ?? ""}`,
    ...(tool.bundle === undefined ? [] : [`bundle ${tool.bundle}`]),
    ...(tool.timeout_ms === undefined ? [] : [`timeout ${tool.timeout_ms} ms`]),
    ...tool.parameters.map(({ name, type, required, description }) => {
      return `${name}: ${type}${required ? ", required" : ""}${description === undefined ? "" : `: ${description}`}`;
    }),
    ...tool.description.trim().split("\n"),
  ]);
}

export function hookTable(rows: readonly HookFact[], columns: number): string {
  const cells = rows.map((hook) => [
    hook.event,
    String(hook.priority),
    hook.active ? hook.name : `${hook.name} (inactive)`,
    hook.source,
    hook.when ?? "",
  ]);
  const listed = table(["EVENT", "PRIORITY", "HOOK", "SOURCE", "WHEN"], cells, columns, "There are no hooks.");
  const reasons = new Set(rows.flatMap(({ why }) => (why === undefined ? [] : [`\ninactive: ${why}\n`])));
  return [listed, ...reasons].join("");
}

export function hookDetails(hook: HookFact): string {
  return block(`${hook.event}  ${hook.priority}  ${hook.name}  ${hook.source}`, [
    ...(hook.active ? [] : [`inactive: ${hook.why ?? "the condition of its bundle is false"}`]),
    ...(hook.failed === undefined ? [] : [`the condition of its bundle is unclear: ${hook.failed}`]),
    `tier ${hook.tier}`,
    ...(hook.bundle === undefined ? [] : [`bundle ${hook.bundle}`]),
    ...(hook.when === undefined ? [] : [`when ${hook.when}`]),
    ...(hook.timeout_ms === undefined ? [] : [`timeout ${hook.timeout_ms} ms`]),
    ...(hook.on_error === undefined ? [] : [`on error ${hook.on_error}`]),
    `${hook.examples} examples`,
  ]);
}

export function agentTable(rows: readonly AgentFact[], columns: number): string {
  const cells = rows.map((agent) => [
    agent.active ? agent.name : `${agent.name} (inactive)`,
    agent.model ?? "as its parent",
    agent.tools.join(", "),
    agent.source,
    firstSentence(agent.description),
  ]);
  return table(["AGENT", "MODEL", "TOOLS", "SOURCE", "DESCRIPTION"], cells, columns, "There are no agents.");
}

export function agentDetails(agent: AgentFact): string {
  const { tools_policy: policy } = agent;
  return block(`${agent.name}  ${agent.source}`, [
    ...(agent.active ? [] : ["inactive: the condition of its bundle is false"]),
    ...(agent.bundle === undefined ? [] : [`bundle ${agent.bundle}`]),
    `model ${agent.model ?? "as its parent"}`,
    `tools ${agent.tools.join(", ") || "none"}`,
    ...(agent.hooks.length === 0 ? [] : [`hooks ${agent.hooks.join(", ")}`]),
    ...(policy === undefined ? [] : [`tools policy ${policyText(policy)}`]),
    ...agent.description.trim().split("\n"),
  ]);
}

export function artifactTable(rows: readonly ArtifactFact[], columns: number): string {
  const cells = rows.map((artifact) => [
    artifact.type,
    artifact.name,
    artifact.priority === undefined ? "" : String(artifact.priority),
    artifact.active ? "yes" : "no",
    artifact.source,
    artifact.condition ?? "",
  ]);
  const header = ["TYPE", "NAME", "PRIORITY", "ACTIVE", "SOURCE", "CONDITION"];
  return table(header, cells, columns, "There are no typed artifacts.");
}

export function artifactDetails(artifact: ArtifactFact): string {
  const { priority, version, description, tags = [], condition, active, failed } = artifact;
  return block(`${artifact.name}  ${artifact.type}  ${artifact.source}`, [
    ...(priority === undefined ? [] : [`priority ${priority}`]),
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(description === undefined ? [] : [description]),
    ...(tags.length === 0 ? [] : [`tags ${tags.join(", ")}`]),
    ...(condition === undefined ? [] : [`condition ${condition} → ${failed ?? String(active)}`]),
    ...(["tools", "hooks", "agents"] as const).flatMap((kind) => {
      const names = artifact[kind] ?? [];
      return names.length === 0 ? [] : [`${kind} ${names.join(", ")}`];
    }),
  ]);
}

function table(header: readonly string[], rows: readonly (readonly string[])[], columns: number, none: string): string {
  return rows.length === 0 ? `${none}\n` : formatTable(header, rows, columns);
}

function block(title: string, lines: readonly string[]): string {
  return `${[title, ...lines.map((line) => `  ${line}`.trimEnd())].map(visibleRow).join("\n")}\n`;
}

/** Of the description, past its heading. */
function firstSentence(description: string): string {
  const line = description.split("\n").find((text) => text.trim() !== "" && !text.startsWith("#")) ?? "";
  return /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
}
