/** What of a server's tools has changed since somebody approved them, and its approval. */
import type { McpServer } from "#artifacts";
import type { KeptTools } from "#mcp";
import { serverFolders } from "#stores";
import type { ProgramPorts } from "./ports.ts";

export interface ToolChanges {
  /** Names of the tools that may be offered. */
  readonly tools: readonly string[];
  /** Texts of the tools before and now; `before` is absent for a new one. In the words of the server. */
  readonly changes: readonly { readonly tool: string; readonly before?: string; readonly now: string }[];
  /** Of what is listed above, and of nothing else. */
  approve(): void;
}

/** Undefined for a server that was never connected. Starts nothing. */
export async function waitingTools(
  { env }: Pick<ProgramPorts, "env">,
  server: McpServer,
  log: (text: string) => void,
): Promise<ToolChanges | undefined> {
  const { approveWaiting, createToolKeeper } = await import("#mcp");
  const keeper = createToolKeeper(serverFolders(env).tools, (_level, text) => log(text));
  const kept = keeper.read(server);
  if (kept === undefined) return undefined;
  const text = (tool: KeptTools["waiting"][number]): string => {
    const { name, description, ...schemas } = tool;
    return `${name}\n${description}\n${JSON.stringify(schemas, undefined, 2)}\n`;
  };
  const hidden = new Set([...kept.absent, ...kept.waiting.map(({ name }) => name)]);
  return {
    tools: kept.approved.flatMap(({ name }) => (hidden.has(name) ? [] : [name])),
    changes: kept.waiting.map((tool) => {
      const before = kept.approved.find(({ name }) => name === tool.name);
      return { tool: tool.name, now: text(tool), ...(before !== undefined && { before: text(before) }) };
    }),
    approve: () => keeper.write(server, approveWaiting(kept)),
  };
}
