/** The parsers of slash commands, aliases, skills and memories, loaded when somebody has written one. */
import type { parseAliases } from "./aliases.ts";
import type { parseCommandFile } from "./command-file.ts";
import type { isMemoryName, memoryFileText, readKeptMemory } from "./memory-table.ts";
import type { readOwnSkill } from "./own-skill.ts";

export interface WordParsers {
  readonly parseAliases: typeof parseAliases;
  readonly parseCommandFile: typeof parseCommandFile;
}

export async function loadWordParsers(): Promise<WordParsers> {
  const [aliases, commands] = await Promise.all([import("./aliases.ts"), import("./command-file.ts")]);
  return { parseAliases: aliases.parseAliases, parseCommandFile: commands.parseCommandFile };
}

export async function loadSkillReader(): Promise<typeof readOwnSkill> {
  return (await import("./own-skill.ts")).readOwnSkill;
}

export interface MemoryFormat {
  readonly readKeptMemory: typeof readKeptMemory;
  readonly isMemoryName: typeof isMemoryName;
  readonly memoryFileText: typeof memoryFileText;
}

export async function loadMemoryFormat(): Promise<MemoryFormat> {
  return import("./memory-table.ts");
}
