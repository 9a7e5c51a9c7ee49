/** The text of an optional file → what it holds, by kind. No reader throws; one that reports an error leaves the file out. */
import { readProjectAliases } from "./aliases.ts";
import { readProjectCommand } from "./command-file.ts";
import { BYTES_PER_TOKEN, MAX_CONTEXT_FILE_TOKENS } from "./context-sources.ts";
import type { OptionalKind } from "./file-kinds.ts";
import { readHooksFile } from "./hook-files.ts";
import { readMcpJson } from "./mcp-json.ts";
import { readRepositoryMemory } from "./memory-table.ts";
import type { InstructionsContent, OptionalContents } from "./optional-file.ts";
import { readProjectProfile } from "./project-profile.ts";
import { type Reader, warning } from "./schema.ts";
import { readSkill } from "./skill-table.ts";

const MAX_CHARS = MAX_CONTEXT_FILE_TOKENS * BYTES_PER_TOKEN;
const MAX_IMPORTS = 20;
/** `@path` as other agents import files with it: at the beginning of a word, outside of code. */
const IMPORT = /(?:^|\s)@((?:~|\.{1,2})?[\w./-]*[\w-]\.\w+)(?=$|[\s,;)])/gm;

export const optionalReaders: {
  readonly [Kind in OptionalKind]: (text: string, reader: Reader) => OptionalContents[Kind] | undefined;
} = {
  instructions: readInstructions,
  mcp: readMcpJson,
  skill: readSkill,
  command: readProjectCommand,
  aliases: readProjectAliases,
  profile: readProjectProfile,
  memory: readRepositoryMemory,
  hooks: readHooksFile,
  hookScript: () => ({}),
};

function readInstructions(text: string, reader: Reader): InstructionsContent {
  const names = [...text.matchAll(IMPORT)].map(([, path = ""]) => path);
  const imports = [...new Set(names)].slice(0, MAX_IMPORTS);
  if (text.length <= MAX_CHARS) return { text, imports };
  // At the end of a line where there is one: half a line says something else.
  const kept = text.slice(0, text.lastIndexOf("\n", MAX_CHARS) + 1 || MAX_CHARS).toWellFormed();
  const message = `The file is cut: the prompt has its first ${kept.length} of ${text.length} characters (${MAX_CONTEXT_FILE_TOKENS} tokens for each context file). Shorten it, or move parts into context files of folders below.`;
  reader.report(warning("context-cut", { file: reader.file, line: 1, column: 1 }, message));
  return { text: kept, imports, cutChars: text.length - kept.length };
}
