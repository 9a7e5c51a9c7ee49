/**
 * What is known about the tool of a call by its name. Of a built-in tool it is what stands on the tool; of any other it is nothing,
 * whatever that tool says about itself, since rules and the quiet preset would take its word.
 */
import { factsOf, type PathArgument, type ToolFacts, type ToolKind, toolFacts } from "#tools";

/** A tool as rules name it. */
export interface NamedTool {
  readonly tool: string;
  readonly label: string;
}

const canonical = new Map(toolFacts.map(({ name, label }) => [label, name]));

/** The canonical name where a rule has the label of a built-in tool: a foreign tool cannot add one. */
export function canonicalName(written: string): string {
  return canonical.get(written) ?? written;
}

export function isBuiltin(name: string): boolean {
  return factsOf(name) !== undefined;
}

export function kindOf(name: string): ToolKind {
  return factsOf(name)?.kind ?? "other";
}

/** Of an MCP server: nobody else may use this beginning. */
export function isServerTool(name: string): boolean {
  return name.startsWith("mcp.");
}

export function isCommand(name: string): boolean {
  return kindOf(name) === "command";
}

export function toolsOfKind(...kinds: readonly ToolKind[]): readonly NamedTool[] {
  return toolFacts.flatMap(({ name, label, kind }) => (kinds.includes(kind) ? [{ tool: name, label }] : []));
}

/** Every argument that names files, globs included; none when the tool is not one for files. */
export function pathArguments(name: string): readonly PathArgument[] {
  return factsOf(name)?.paths ?? [];
}

export function isFileTool(name: string): boolean {
  return pathArguments(name).length > 0;
}

/** The arguments that name one file or folder each. */
export function pathNames(name: string): readonly string[] {
  return pathArguments(name).flatMap((path) => (path.means === "glob" ? [] : [path.name]));
}

/** What those say in a call. */
export function namedPaths(name: string, args: Readonly<Record<string, unknown>>): readonly string[] {
  return textsOf(pathNames(name), args);
}

export function textsOf(names: readonly string[], args: Readonly<Record<string, unknown>>): readonly string[] {
  return names.map((name) => args[name]).filter((value) => typeof value === "string");
}

/** For judging an effect as the call of a built-in tool. */
export function builtinFacts(name: string): ToolFacts {
  const facts = factsOf(name);
  if (facts === undefined) throw new Error(`${name} is not a built-in tool`);
  return facts;
}
