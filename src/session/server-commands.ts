/** `/mcp`, `/mcp:restart NAME`, `/mcp:approve NAME`, `/mcp:SERVER` and `/mcp:SERVER:PROMPT`: the MCP servers of a session as slash commands. */
import type { McpServer } from "#artifacts";
import { counted, type ServerPrompt, visibleLine } from "#base";
import { type BuiltInRuns, promptInput, type SlashEntry, type SlashOutcome, type SlashSource } from "#engine";
import type { McpServerState } from "#mcp";
import { ReasonError, textArguments } from "#protocol";
import type { SessionServers } from "./servers.ts";

/** Of all servers; a source has at most 1000 rows. */
const MAX_PROMPT_ROWS = 800;

const ACTION_SCHEMA = {
  ...textArguments("action"),
  properties: { action: { type: "string", enum: ["status", "restart"] } },
} as const;

export interface ServerCommands {
  readonly source: SlashSource;
  readonly builtIns: BuiltInRuns;
}

/** `declared`: also those that no turn has needed yet. */
export function serverCommands(
  declared: readonly Pick<McpServer, "name">[],
  servers: Pick<SessionServers, "states" | "restart" | "prompts">,
): ServerCommands {
  function states(): readonly McpServerState[] {
    const known = new Map(servers.states().map((state) => [state.name, state]));
    return declared.map(({ name }) => known.get(name) ?? notStarted(name));
  }

  function find(name: string): McpServerState {
    const found = states().find((state) => state.name === name);
    if (found !== undefined) return found;
    const names = declared.map((server) => server.name).join(", ");
    const there = names === "" ? "It has none" : `It has ${names}`;
    const detail = `this session has no MCP server '${visibleLine(name).slice(0, 100)}'. ${there}`;
    throw new ReasonError("InvalidCommand", detail);
  }

  async function restart(name: string): Promise<SlashOutcome> {
    find(name);
    await servers.restart(name);
    return { text: statusText(find(name)) };
  }

  function list(): SlashOutcome {
    if (declared.length === 0) return { text: "This session has no MCP servers. To add one: harness mcp add" };
    return { text: states().map(stateLine).join("\n") };
  }

  function entry({ name }: Pick<McpServer, "name">): SlashEntry {
    return {
      ...row(name, `show the state of the MCP server ${name}, or restart it`),
      args_schema: ACTION_SCHEMA,
      run: ({ action }) => (action === "restart" ? restart(name) : { text: statusText(find(name)) }),
    };
  }

  /** A server that lists many leaves room for those of the others. */
  function prompts(): readonly SlashEntry[] {
    const all = servers.prompts();
    const share = Math.floor(MAX_PROMPT_ROWS / Math.max(1, all.length));
    return all.flatMap(({ server, prompts: listed }) => listed.slice(0, share).map((one) => promptEntry(server, one)));
  }

  const fixed: readonly SlashEntry[] = [
    { ...row("list", "the same as /mcp"), args_schema: textArguments(), run: list },
    {
      ...row("restart", "end an MCP server and connect it again"),
      args_schema: textArguments("server!"),
      run: ({ server = "" }) => restart(server),
    },
    {
      ...row("approve", "approve an MCP server, or its changed tools"),
      args_schema: textArguments("server!"),
      humanOnly: "approve an MCP server",
      run: ({ server = "" }) => ({ text: approvalText(server) }),
    },
  ];
  return {
    // The names of the fixed rows are reserved: no server has one of them.
    source: {
      owner: "MCP servers",
      namespaces: ["mcp"],
      entries: () => [...fixed, ...declared.map(entry), ...prompts()],
    },
    builtIns: { mcp: list },
  };
}

/** The engine gets its messages inside the turn, through the gate. */
function promptEntry(server: string, { name, description, args }: ServerPrompt): SlashEntry {
  const names = args.map((one) => `${one.name}${one.isRequired ? "!" : ""}`);
  return {
    ...row(`${server}:${name}`, description === "" ? `a prompt of the MCP server ${server}` : description),
    args_schema: textArguments(...names),
    run: (given) => ({ input: promptInput(server, name, given) }),
  };
}

function row(name: string, description: string): Pick<SlashEntry, "namespace" | "name" | "description"> {
  return { namespace: "mcp", name, description };
}

/** Somebody has to read what is approved: a client with a terminal on this machine asks there, and does not run the row. */
function approvalText(server: string): string {
  const name = /^[A-Za-z0-9_-]{1,64}$/.test(server) ? server : "NAME";
  return `To approve it, run this in a terminal on the machine of the session: harness mcp approve ${name}`;
}

function notStarted(name: string): McpServerState {
  return { name, state: "stopped", tools: 0, waiting: 0, restarts: 0 };
}

function stateLine({ name, state, tools, waiting, lastError }: McpServerState): string {
  const facts = [state, counted(tools, "tool"), ...(waiting > 0 ? [waitingText(name, waiting)] : [])];
  return `  ${name}: ${facts.join(", ")}${lastError === undefined ? "" : `; last error: ${visibleLine(lastError)}`}`;
}

function statusText(status: McpServerState): string {
  const { name, state, tools, waiting, protocolVersion, restarts, lastError, reason } = status;
  return [
    `${name}: ${state}`,
    `  tools: ${tools}${waiting > 0 ? `, and ${waitingText(name, waiting)}` : ""}`,
    `  restarts: ${restarts}`,
    ...(protocolVersion === undefined ? [] : [`  protocol: MCP ${visibleLine(protocolVersion)}`]),
    ...(lastError === undefined ? [] : [`  last error: ${visibleLine(lastError)}`]),
    ...(reason === undefined ? [] : [`  reason: ${visibleLine(reason)}`]),
  ].join("\n");
}

function waitingText(name: string, waiting: number): string {
  return `${counted(waiting, "changed tool")} to approve with /mcp:approve ${name}`;
}
