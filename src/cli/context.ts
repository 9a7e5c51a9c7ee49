/** `harness context`: what the model would see, block by block, with where each comes from, what it costs and why it is there. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { contextInForce, contextTexts, instructionTexts, type Project, skillList, skillsOf } from "#artifacts";
import { defined, messageOf, visibleLine, visibleLines } from "#base";
import {
  ackCommand,
  basePrompt,
  conditionCheck,
  loadSettings,
  openProject,
  type ProjectPlace,
  previewProject,
  promptBlocks,
  type RunFlags,
  type StoreFlags,
  soundProject,
  userFlags,
  withProfile,
} from "#program";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import { filesWithoutEffect } from "./context-files.ts";
import { memorySections, sourceSections } from "./context-joins.ts";
import { tokenCounter } from "./context-tokens.ts";
import type { ExitCode } from "./exit-code.ts";
import type { ListFlags } from "./project-lists.ts";
import { formatTable } from "./table.ts";
import { requestFacts, type ServerFact, serverFacts, toolFacts, warnOfServers } from "./tool-facts.ts";

const DEFAULT_BUDGET = 128_000;
const MAX_COMPARED_BYTES = 10 * 1024 * 1024;

export interface ContextFlags
  extends Pick<RunFlags, "profile" | "framework" | "allowProjectHooks">,
    Pick<ListFlags, "config" | "dir" | "verbose" | "json" | "set"> {
  readonly agent?: string;
  readonly budget?: number;
  /** What a turn would begin with. */
  readonly input?: string;
  /** A file that `--json` has written before. */
  readonly diff?: string;
  readonly session?: string;
  readonly store: StoreFlags["store"];
}

export interface Section {
  readonly kind: string;
  readonly name: string;
  readonly source: string;
  readonly priority: number;
  readonly active: boolean;
  readonly condition?: { readonly text: string; readonly result: string };
  /** Why it is not shown to the model. */
  readonly hidden?: string;
  /** What people should know about it. */
  readonly note?: string;
  readonly tokens: number;
  readonly text: string;
}

interface Report {
  readonly model: string;
  /** How the tokens were counted. */
  readonly counted: string;
  readonly sections: readonly Section[];
  readonly tokens: number;
  readonly budget: number;
  readonly mcp_servers: readonly ServerFact[];
  /** What is sent; absent for an agent of the project, which sends what its task says. */
  readonly request?: ReturnType<typeof requestFacts>;
}

export async function contextCommand(ports: CliPorts, flags: ContextFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const { session } = flags;
  if (session !== undefined) return (await import("./context-session.ts")).sessionContext(ports, { ...flags, session });
  const { allowProjectHooks: projectHooks, ...others } = flags;
  const place = await withProfile(ports, { ...others, ...defined({ projectHooks }) }, userFlags(others));
  const project = soundProject((await openProject(ports, place)).loaded);
  const report = await makeReport(ports, project, place);
  if (flags.diff !== undefined) return compare(ports, flags, report);
  if (flags.json) terminal.out(`${JSON.stringify(report)}\n`);
  else terminal.out(render(report, flags, terminal.columns));
  return 0;
}

async function makeReport(ports: CliPorts, project: Project, flags: ContextFlags & ProjectPlace): Promise<Report> {
  const holds = await conditionCheck(ports, flags.set);
  const { settings, warnings } = await loadSettings(
    ports,
    defined({ profile: flags.profile, framework: flags.framework }),
    project,
  );
  for (const warning of warnings) ports.terminal.err(`warning: ${visibleLines(warning)}\n`);
  const agent = flags.agent === undefined ? undefined : findAgent(project, flags.agent);
  const model = agent?.model ?? ports.env.HARNESS_MODEL ?? settings.models[0]?.model ?? "no model configured";
  const counter = await tokenCounter(model);
  const redactor = await ports.outward.load();
  // As the model would see it, and before lines are drawn around it.
  const command = ackCommand(ports, flags, { ...flags, ...defined({ allowProjectHooks: flags.projectHooks }) });
  const section = ({ hidden, ...block }: Omit<Section, "tokens">): Section => {
    const text = redactor.text(block.text);
    // What waits is asked about by the command that looks at the same files.
    return {
      ...block,
      ...defined({ hidden: hidden?.replace("harness ack", command) }),
      text,
      tokens: counter.count(text),
    };
  };
  const blocks = promptBlocks({
    project:
      agent === undefined ? project : { ...project, identity: { text: agent.prompt, place: agent.place }, bundles: [] },
    condition(bundle) {
      if (bundle.condition === undefined) return { holds: true };
      const { holds: yes, failed } = holds(bundle.condition);
      return failed === undefined ? { holds: yes } : { error: failed };
    },
    files:
      agent === undefined
        ? [...instructionTexts(project), ...contextTexts(project, project.config.context)]
        : contextTexts(project, agent.context ?? { files: [] }),
    skills: agent === undefined ? skillList(skillsOf(project)) : "",
    standing: basePrompt(settings),
    workspace: project.root,
    platform: process.platform,
  });
  const named = agent?.tools.map((tool) => ("ref" in tool ? tool.ref : tool.name));
  const preview = await previewProject(ports, { place: flags, project, flags });
  warnOfServers(ports.terminal, preview);
  const tools = toolFacts(project, holds, preview).filter(({ name }) => named === undefined || named.includes(name));
  const joins = async (): Promise<readonly Omit<Section, "tokens">[]> => [
    ...(await sourceSections(ports, project, holds, flags)),
    ...(await memorySections(ports, project, settings, flags.input)),
  ];
  const sections = [
    ...blocks.map((block) => section(block)),
    ...(agent === undefined ? await filesWithoutEffect(ports, project, settings, flags) : []).map((file) =>
      section({ ...file, priority: 0, active: false, text: "" }),
    ),
    ...(agent === undefined ? await joins() : []).map((block) => section(block)),
    ...tools.map(({ name, source, visible, why, description, schema, parameters }) =>
      section({
        kind: "tool",
        name,
        source,
        priority: 0,
        active: visible,
        ...defined({ hidden: why }),
        text: JSON.stringify({ name, description, parameters: schema ?? parameters }),
      }),
    ),
  ];
  const tokens = sections.reduce((sum, { active, tokens: own }) => (active ? sum + own : sum), 0);
  const budget = flags.budget ?? contextInForce(settings.context, project.config).maxTokens ?? DEFAULT_BUDGET;
  return {
    ...{ model, counted: counter.how, sections, tokens, budget },
    mcp_servers: serverFacts(preview),
    ...(agent === undefined ? { request: requestFacts(preview) } : {}),
  };
}

function findAgent(project: Project, name: string): Project["agents"][number] {
  const agent = project.agents.find((one) => one.name === name);
  if (agent !== undefined) return agent;
  const known = project.agents.map((one) => one.name).join(", ") || "none";
  throw new ReasonError("UsageInvalid", `there is no agent ${name}; agents here: ${known}`);
}

function render({ model, counted, sections, tokens, budget }: Report, flags: ContextFlags, columns: number): string {
  const share = ((100 * tokens) / budget).toFixed(1);
  const head = `${visibleLine(`${model} · ${tokens} of ${budget} tokens (${share} %), ${counted}`)}\n\n`;
  if (flags.verbose !== true) {
    const isFile = (kind: string): boolean => kind !== "tool";
    const hasNotes = sections.some(({ kind, hidden, note }) => isFile(kind) && (hidden ?? note) !== undefined);
    const rows = sections.map(({ active, kind, name, tokens: own, source, hidden, note }) => {
      const row = [active ? "✅" : "⚪", kind, name, active ? String(own) : "–", source];
      return hasNotes ? [...row, isFile(kind) ? (hidden ?? note ?? "") : ""] : row;
    });
    const titles = ["", "KIND", "NAME", "TOKENS", "SOURCE", ...(hasNotes ? ["NOTE"] : [])];
    return head + formatTable(titles, rows, columns);
  }
  return head + sections.map(details).join("\n");
}

function details({ active, kind, name, priority, source, condition, hidden, note, tokens, text }: Section): string {
  const state = active ? "ACTIVE" : "INACTIVE";
  const lines = [
    `${active ? "✅" : "⚪"} ${name} (${kind}, priority ${priority}, ${state})`,
    `   Source: ${source}`,
    ...(condition === undefined ? [] : [`   Condition: ${condition.text} → ${condition.result}`]),
    ...(hidden === undefined ? [] : [`   Not shown: ${hidden}`]),
    ...(note === undefined ? [] : [`   Note: ${note}`]),
    `   Tokens: ${tokens}`,
    ...(kind === "tool" ? [] : text.split("\n").map((line) => `   │ ${line}`)),
  ];
  return `${lines.map(visibleLine).join("\n")}\n`;
}

/** 1 when anything is another, so that a build can stop at it. */
async function compare(ports: CliPorts, flags: ContextFlags, now: Report): Promise<ExitCode> {
  const file = resolve(ports.cwd, flags.diff ?? "");
  const before = new Map((await readReport(file)).sections.map((section) => [keyOf(section), section]));
  const after = new Map(now.sections.map((section) => [keyOf(section), section]));
  const changes: { change: string; kind: string; name: string; tokens: number }[] = [];
  for (const [key, section] of after) {
    const old = before.get(key);
    const { kind, name } = section;
    const delta = (section.active ? section.tokens : 0) - (old?.active ? old.tokens : 0);
    if (old === undefined) changes.push({ change: "added", kind, name, tokens: delta });
    else if (old.active !== section.active) {
      changes.push({ change: section.active ? "now active" : "now inactive", kind, name, tokens: delta });
    } else if (old.text !== section.text) changes.push({ change: "changed", kind, name, tokens: delta });
  }
  for (const [key, { kind, name, active, tokens }] of before) {
    if (!after.has(key)) changes.push({ change: "gone", kind, name, tokens: active ? -tokens : 0 });
  }
  if (flags.json) ports.terminal.out(`${JSON.stringify({ changes })}\n`);
  else if (changes.length === 0) ports.terminal.out("The model would see the same.\n");
  else {
    const rows = changes.map(({ change, kind, name, tokens }) => [
      change,
      kind,
      name,
      `${tokens > 0 ? "+" : ""}${tokens}`,
    ]);
    ports.terminal.out(formatTable(["CHANGE", "KIND", "NAME", "TOKENS"], rows, ports.terminal.columns));
  }
  return changes.length === 0 ? 0 : 1;
}

function keyOf({ kind, name }: Pick<Section, "kind" | "name">): string {
  return `${kind} ${name}`;
}

async function readReport(file: string): Promise<Pick<Report, "sections">> {
  const invalid = (why: string): never => {
    throw new ReasonError("UsageInvalid", `--diff ${file}: ${why}`);
  };
  let text = "";
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    invalid(messageOf(error));
  }
  if (text.length > MAX_COMPARED_BYTES) invalid("the file is too large");
  try {
    const report: unknown = JSON.parse(text);
    if (typeof report === "object" && report !== null && "sections" in report && Array.isArray(report.sections)) {
      return { sections: report.sections };
    }
  } catch {
    invalid("it is not JSON");
  }
  return invalid("it is not what harness context --json writes");
}
