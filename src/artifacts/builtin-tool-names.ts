/** Names of the tools that come with the program, for whoever checks files without loading the tools themselves. */
export const builtinToolNames: readonly string[] = [
  "fs.read",
  "fs.write",
  "fs.edit",
  "fs.list",
  "fs.glob",
  "fs.search",
  "fs.move",
  "fs.remove",
  "exec",
  "web.fetch",
  "ask_user",
];

/** Those that hand work to other agents; there in a project that has some. */
export const delegationToolNames: readonly string[] = [
  "delegate",
  "delegate_async",
  "task.poll",
  "task.await",
  "task.cancel",
];

/** What is before the names of the program's own tools: a tool of anybody else that had one would pass for one of them. */
const OWN_PREFIXES: readonly string[] = ["fs.", "web.", "task.", "meta.", "delegation.", "mcp."];

/** Rules, the quiet preset and the gate know the program's own tools by name, so nobody else may give it to theirs. */
export function isReservedToolName(name: string): boolean {
  if (builtinToolNames.includes(name) || delegationToolNames.includes(name)) return true;
  return OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
}
