/** The tools that come with the program, and what is known about each of them by its name. */
import type { Clock } from "#base";
import type { ToolSource } from "#engine";
import { askUserTool } from "./ask-user.ts";
import { delegationFacts } from "./delegation-facts.ts";
import { editTool } from "./edit.ts";
import { createExecTool, execFacts } from "./exec.ts";
import type { BuiltinTool, ToolFacts } from "./facts.ts";
import { fetchTool } from "./fetch.ts";
import { globTool } from "./glob.ts";
import { jobFacts } from "./job-facts.ts";
import { listTool } from "./list.ts";
import { memoryFacts } from "./memory.ts";
import { moveTool } from "./move.ts";
import { planFacts } from "./plan.ts";
import { readTool } from "./read.ts";
import { removeTool } from "./remove.ts";
import { rereadFacts } from "./reread.ts";
import { searchTool } from "./search.ts";
import { skillFacts } from "./skill.ts";
import { todosFacts } from "./todos.ts";
import { writeTool } from "./write.ts";

/** In the order in which the model sees them. */
const builtinTools: readonly (BuiltinTool | typeof execFacts)[] = [
  readTool,
  writeTool,
  editTool,
  listTool,
  globTool,
  searchTool,
  moveTool,
  removeTool,
  execFacts,
  fetchTool,
  askUserTool,
];

/** A tool of no pack is always there. */
function packOf(name: string): "fs" | "shell" | "web" | undefined {
  if (name === execFacts.name) return "shell";
  return name.startsWith("fs.") ? "fs" : name.startsWith("web.") ? "web" : undefined;
}

/** `packs`: only these, and what is in no pack. Default: all. */
export function createBuiltinTools(clock: Pick<Clock, "sleep">, packs?: readonly string[]): ToolSource {
  const offered = builtinTools.filter(({ name }) => {
    const pack = packOf(name);
    return packs === undefined || pack === undefined || packs.includes(pack);
  });
  const tools = offered.map((tool) => ("run" in tool ? tool : createExecTool(clock)));
  return { name: "builtin", tools: () => tools };
}

/** Those that belong to one session: made with it. */
const sessionTools: readonly ToolFacts[] = [planFacts, todosFacts, ...Object.values(jobFacts)];

export const builtinToolNames: readonly string[] = [...builtinTools, ...sessionTools].map(({ name }) => name);
/** Those that hand work to other agents; there in a project. */
export const delegationToolNames: readonly string[] = Object.values(delegationFacts).map(({ name }) => name);

/** Of all tools of the program, those of a session or a project included. */
export const toolFacts: readonly ToolFacts[] = [
  ...builtinTools,
  ...sessionTools,
  skillFacts,
  ...Object.values(memoryFacts),
  rereadFacts,
  ...Object.values(delegationFacts),
];

const byName = new Map(toolFacts.map((facts) => [facts.name, facts]));

/** Undefined for the name of any other tool. */
export function factsOf(name: string): ToolFacts | undefined {
  return byName.get(name);
}

/** What is before the names of the program's own tools: a tool of anybody else that had one would pass for one of them. */
const OWN_PREFIXES: ReadonlySet<string> = new Set([
  ...[...byName.keys()].flatMap((name) => /^[^.]+\./.exec(name) ?? []),
  "meta.",
  "delegation.",
  "mcp.",
]);

/** Rules, the quiet preset and the gate know the program's own tools by name, so nobody else may give it to theirs. */
export function isReservedToolName(name: string): boolean {
  return byName.has(name) || [...OWN_PREFIXES].some((prefix) => name.startsWith(prefix));
}
