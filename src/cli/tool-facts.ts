/** The tools of a folder as rows: those that a request holds, exactly as it holds them, and beside them those that are not shown. */

import { type Project, type ToolArtifact, toolVisible } from "#artifacts";
import { defined, paint, visibleLine } from "#base";
import type { ConditionCheck, SessionPreview } from "#program";
import { placeText } from "./project-facts.ts";
import type { Terminal } from "./terminal.ts";

type SentTool = SessionPreview["request"]["tools"][number];

export interface ToolFact {
  readonly name: string;
  readonly source: string;
  readonly bundle?: string;
  readonly description: string;
  readonly parameters: readonly { name: string; type: string; required: boolean; description?: string }[];
  /** The JSON Schema of its arguments as the model is sent it; absent where it is not sent. */
  readonly schema?: SentTool["parameters"];
  readonly timeout_ms?: number;
  /** Whether the model is shown it; `why` when it is not. */
  readonly visible: boolean;
  readonly why?: string;
}

/** In the order of a request, those that are not shown among them. */
export function toolFacts(project: Project, holds: ConditionCheck, preview: SessionPreview): readonly ToolFact[] {
  const artifacts = new Map(project.tools.map((tool) => [tool.name, tool]));
  const sent = new Map(preview.request.tools.map((tool) => [tool.name, tool]));
  const rows = preview.tools.map(({ tool, hidden, source }): ToolFact => {
    const { name, description, deferred } =
      sent.get(tool.name) === undefined ? tool : { ...tool, ...sent.get(tool.name) };
    const artifact = artifacts.get(name);
    const schema = sent.get(name)?.parameters;
    return {
      name,
      source: artifact === undefined ? (source ?? "built-in") : placeText(artifact.place),
      ...defined({ bundle: artifact?.bundle }),
      description,
      parameters: artifact?.parameters ?? schemaParameters(schema ?? tool.parameters),
      ...defined({ schema, timeout_ms: artifact === undefined ? tool.timeoutMs : artifact.timeoutMs }),
      ...(schema === undefined ? { visible: false, why: whyNot(hidden, deferred === true) } : { visible: true }),
    };
  });
  const listed = new Set(rows.map(({ name }) => name));
  const added = preview.request.tools.filter(({ name }) => !listed.has(name)).map(addedFact);
  const absent = project.tools.filter(({ name }) => !listed.has(name)).map((tool) => absentFact(project, tool, holds));
  const behind = rows.findLastIndex(({ name }) => artifacts.has(name)) + 1 || rows.length;
  return [...rows.slice(0, behind), ...absent, ...rows.slice(behind), ...added];
}

/** As `--json` prints what a request holds. */
export function requestFacts({ request: { system, tools } }: SessionPreview) {
  return { system, tools };
}

export interface ServerFact {
  readonly name: string;
  readonly state: string;
  readonly tools: number;
  readonly reason?: string;
}

export function serverFacts({ servers }: SessionPreview): readonly ServerFact[] {
  return servers.map(({ name, state, tools, lastError }) => {
    return { name, state, tools, ...(state === "ready" ? {} : defined({ reason: lastError })) };
  });
}

/** A server whose tools are missing from the request is named with its reason. */
export function warnOfServers(terminal: Pick<Terminal, "err" | "colour">, preview: SessionPreview): void {
  for (const { name, state, reason } of serverFacts(preview)) {
    if (state === "ready" || state === "idle") continue;
    const why = reason ?? (state === "starting" ? "it has not answered within its startup time" : `it is ${state}`);
    const text = `warning: the MCP server '${name}' is not connected: ${visibleLine(why)}`;
    terminal.err(`${paint(terminal, "yellow", text)}\n`);
  }
}

function whyNot(hidden: SessionPreview["tools"][number]["hidden"], isDeferred: boolean): string {
  if (hidden !== undefined) return `${hidden.why} (${hidden.source})`;
  return isDeferred
    ? "its server is lazy: the model finds it with mcp.search"
    : "a plugin leaves it out of the request";
}

/** A plugin's middleware has added it to the request. */
function addedFact({ name, description, parameters }: SentTool): ToolFact {
  const source = "added to the request by a plugin";
  return { name, source, description, parameters: schemaParameters(parameters), schema: parameters, visible: true };
}

/** A tool of a file that the session does not have: its condition does not hold, or it has no script. */
function absentFact(project: Project, tool: ToolArtifact, holds: ConditionCheck): ToolFact {
  const { name, description, parameters, condition } = tool;
  const policy = toolVisible(project.config.toolsPolicies, name);
  const failed = condition === undefined ? undefined : holds(condition).failed;
  const why =
    tool.script === undefined
      ? "it has no script"
      : policy.allowed
        ? (failed ?? "the condition of its bundle is false")
        : `${policy.why} (${policy.source})`;
  return {
    name,
    source: placeText(tool.place),
    ...defined({ bundle: tool.bundle }),
    description,
    parameters,
    ...defined({ timeout_ms: tool.timeoutMs }),
    visible: false,
    why,
  };
}

/** The parameters of a JSON Schema as a tool file would list them. */
function schemaParameters(schema: Readonly<Record<string, unknown>>): ToolFact["parameters"] {
  const { properties = {}, required = [] } = schema as {
    properties?: Readonly<Record<string, { type?: unknown; description?: unknown }>>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    // A server of somebody else may list anything here.
    const { type, description } = typeof property === "object" && property !== null ? property : {};
    return {
      name,
      type: typeof type === "string" ? type : "any",
      required: Array.isArray(required) && required.includes(name),
      ...(typeof description === "string" ? { description } : {}),
    };
  });
}
