/** A session that is opened like any other, shows what its first request would hold, and ends. It leaves no log and nothing to undo. */
import { defined } from "#base";
import type { Approver, ModelRequest, RequestPreview, ToolSource } from "#engine";
import type { McpServerState } from "#mcp";
import type { CommandOf } from "#protocol";
import { openSession, type SessionDependencies, type SessionServers } from "#session";
import { openStore } from "#stores";

export interface PreviewedTool {
  readonly tool: RequestPreview["tools"][number]["tool"];
  readonly hidden?: RequestPreview["tools"][number]["hidden"];
  /** For people: the MCP server or the plugin. Absent for what is built in or in files of the project. */
  readonly source?: string;
}

export interface SessionPreview {
  readonly request: ModelRequest;
  /** In the order of a request, those that the model is not shown among them. */
  readonly tools: readonly PreviewedTool[];
  readonly servers: readonly McpServerState[];
}

export async function previewSession(
  dependencies: SessionDependencies,
  folder: string,
  context: CommandOf<"SetContext">["values"] = {},
): Promise<SessionPreview> {
  const { clock, extensions } = dependencies;
  const programServers = { ...dependencies.programServers, open: new Set<Pick<SessionServers, "states">>() };
  const store = await openStore({ kind: "memory" }, { clock });
  const program = { ...dependencies, store, undo: undefined, programServers };
  const live = await openSession(program, { kind: "CreateSession", working_dir: folder, context }, nobody);
  try {
    const { request, tools } = await live.engine.preview();
    const plugins = namesOf(extensions.toolSources);
    const sourceOf = (name: string): string | undefined => {
      const [, server, rest] = /^mcp\.([^.]+)(\..+)?$/.exec(name) ?? [];
      if (server !== undefined) return rest === undefined ? "MCP servers" : `MCP server ${server}`;
      const plugin = plugins.get(name);
      return plugin === undefined ? undefined : `plugin ${plugin}`;
    };
    return {
      request,
      tools: tools.map(({ tool, hidden }) => ({ tool, ...defined({ hidden, source: sourceOf(tool.name) }) })),
      servers: [...programServers.open].flatMap((servers) => servers.states()),
    };
  } finally {
    await live.release();
  }
}

function namesOf(sources: readonly ToolSource[]): ReadonlyMap<string, string> {
  return new Map(sources.flatMap((source) => source.tools().map(({ name }) => [name, source.name] as const)));
}

/** No turn runs, so nothing is asked. */
const nobody: Approver = {
  timeoutMs: 0,
  canAnswer: () => false,
  decide: async () => {
    throw new Error("a preview runs no call");
  },
  answer: async () => undefined,
  ack: async () => undefined,
};
