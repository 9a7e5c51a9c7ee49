/** `harness inspect`: one look at what would run here: model, policy, tools, hooks, agents, bundles, limits; and what has run. */

import { resolve } from "node:path";
import type { Project } from "#artifacts";
import { visibleLine } from "#base";
import {
  conditionCheck,
  loadSettings,
  logOf,
  type OpenedProject,
  openProject,
  previewProject,
  problemText,
  type StoreFlags,
  withStore,
} from "#program";
import type { Event } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import { eventLine, isFailure } from "./event-line.ts";
import type { ExitCode } from "./exit-code.ts";
import { lastEvents, namedOrLatest } from "./latest-session.ts";
import { agentFacts, artifactFacts, hookFacts, policyText, settingsFacts } from "./project-facts.ts";
import {
  agentDetails,
  agentTable,
  artifactDetails,
  artifactTable,
  hookDetails,
  hookTable,
  type ListFlags,
  toolDetails,
  toolTable,
} from "./project-lists.ts";
import { requestFacts, serverFacts, toolFacts, warnOfServers } from "./tool-facts.ts";

const SHOWN_EVENTS = 50;

export interface InspectFlags extends ListFlags {
  readonly events?: boolean;
  readonly failures?: boolean;
  readonly session?: string;
  readonly store: StoreFlags["store"];
}

/** A project with errors is not shown: its problems are, and the exit code is 2. Events of the log are shown all the same. */
export async function inspectCommand(ports: CliPorts, flags: InspectFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const opened = await openProject(ports, flags);
  const { project, problems } = opened.loaded;
  const wanted = flags.events === true || flags.failures === true || flags.session !== undefined;
  const recorded = wanted ? await recordedEvents(ports, opened, flags) : undefined;
  const snapshot = project === undefined ? undefined : await takeSnapshot(ports, project, flags);
  if (flags.json) {
    const broken = project === undefined ? { reason: "ConfigInvalid" } : {};
    terminal.out(`${JSON.stringify({ ...broken, ...snapshot, problems: problems.map(problemText), ...recorded })}\n`);
  } else {
    for (const problem of problems) terminal.err(`${visibleLine(`${problem.severity}: ${problemText(problem)}`)}\n`);
    if (snapshot !== undefined) terminal.out(render(snapshot, flags, terminal.columns));
    if (recorded !== undefined) terminal.out(renderRecorded(recorded));
  }
  return project === undefined ? 2 : 0;
}

type Snapshot = Awaited<ReturnType<typeof takeSnapshot>>;

async function takeSnapshot(ports: CliPorts, project: Project, flags: InspectFlags) {
  const holds = await conditionCheck(ports, flags.set);
  const { settings } = await loadSettings(ports, {}, project);
  const preview = await previewProject(ports, { place: flags, project, flags });
  warnOfServers(ports.terminal, preview);
  return {
    root: project.root,
    file: project.configFile ?? null,
    version: project.version,
    model: ports.env.HARNESS_MODEL ?? settings.models[0]?.model ?? null,
    fallbacks: settings.models.slice(1).map(({ model }) => model),
    ...settingsFacts(project),
    tools: toolFacts(project, holds, preview),
    mcp_servers: serverFacts(preview),
    request: requestFacts(preview),
    hooks: hookFacts(project, holds),
    agents: agentFacts(project, holds),
    artifacts: artifactFacts(project, holds),
  };
}

interface Recorded {
  readonly session: string;
  readonly events?: readonly Event[];
  readonly failures?: readonly Event[];
}

async function recordedEvents(ports: CliPorts, { root }: OpenedProject, flags: InspectFlags): Promise<Recorded> {
  return withStore(ports, logOf(flags.store, root), async (store) => {
    const meta = await namedOrLatest(store, flags.session, resolve(root));
    return {
      session: meta.id,
      // A session that is named without saying what of it: its events.
      ...(flags.events === true || flags.failures !== true
        ? { events: await lastEvents(store, meta, ({ kind }) => !kind.endsWith("Delta"), SHOWN_EVENTS) }
        : {}),
      ...(flags.failures === true ? { failures: await lastEvents(store, meta, isFailure, SHOWN_EVENTS) } : {}),
    };
  });
}

function render(snapshot: Snapshot, { verbose = false }: InspectFlags, columns: number): string {
  const { root, file, version, model, fallbacks, tools, hooks, agents, artifacts } = snapshot;
  const facts = [
    ["project", `${root} (${file ?? "no harness.md"}), version ${version.slice(0, 12)}`],
    ["model", model === null ? "none named; depends on which keys are set" : [model, ...fallbacks].join(" → ")],
    ...Object.entries(settingsLines(snapshot)),
  ];
  const width = Math.max(...facts.map(([name = ""]) => name.length));
  const section = <Fact>(
    title: string,
    rows: readonly Fact[],
    table: (rows: readonly Fact[], columns: number) => string,
    details: (row: Fact) => string,
  ): string =>
    `\n${title} (${rows.length})\n${verbose && rows.length > 0 ? rows.map(details).join("") : table(rows, columns)}`;
  return [
    ...facts.map(([name = "", text = ""]) => `${visibleLine(`${name.padEnd(width)}  ${text}`)}\n`),
    section("tools", tools, toolTable, toolDetails),
    section("hooks", hooks, hookTable, hookDetails),
    section("agents", agents, agentTable, agentDetails),
    section("artifacts", artifacts, artifactTable, artifactDetails),
  ].join("");
}

/** One line for each thing that applies to the project as a whole; what is at its default says so. */
function settingsLines(snapshot: Snapshot): Readonly<Record<string, string>> {
  const { tools_policy: policies, network, sandbox, budgets, delegation, meta, permissions } = snapshot;
  const list = (words: readonly string[]): string => (words.length === 0 ? "nothing" : words.join(" "));
  const policy = policies.map(({ tier, ...fact }) => `${tier}: ${policyText(fact)}`);
  const hosts = network.map(({ tier, allowed_domains: domains }) => `${tier}: ${list(domains)}`);
  const rules = permissions.map(({ effect, rule, source }) => `${effect} ${rule} (${source})`);
  return {
    policy: policy.join("; ") || "none: the model sees every tool",
    permissions: rules.join("; ") || "no rules of the project",
    network: hosts.join("; ") || "any public host",
    sandbox: sandbox ?? "as the machine allows",
    budgets: pairs(budgets) || "none",
    delegation: pairs(delegation),
    meta: pairs(meta),
  };
}

function pairs(value: unknown, prefix = ""): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${prefix} ${JSON.stringify(value)}`;
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .map(([key, inner]) => pairs(inner, prefix === "" ? key : `${prefix}.${key}`))
    .join(", ");
}

function renderRecorded({ session, events, failures }: Recorded): string {
  const part = (title: string, list: readonly Event[] | undefined, none: string): string => {
    if (list === undefined) return "";
    return `\n${title} of ${session}\n${list.length === 0 ? `${none}\n` : list.map((event) => `${eventLine(event)}\n`).join("")}`;
  };
  return part("events", events, "There are none.") + part("failures", failures, "Nothing failed.");
}
