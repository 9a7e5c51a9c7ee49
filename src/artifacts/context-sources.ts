/** Files in which repositories keep instructions for agents, by the name that `context_sources` knows them by. One more is one row. */

/** Relative to the folder that is looked at; `*` stands for a part of one name. */
export const contextSources = {
  "AGENTS.md": ["AGENTS.md"],
  "CLAUDE.md": ["CLAUDE.md"],
  ".cursorrules": [".cursorrules", ".cursor/rules/*.mdc"],
  "GEMINI.md": ["GEMINI.md"],
  ".windsurfrules": [".windsurfrules"],
  ".github/copilot-instructions.md": [".github/copilot-instructions.md"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ContextSource = keyof typeof contextSources;

export const DEFAULT_CONTEXT_SOURCES: readonly ContextSource[] = ["AGENTS.md"];

/** Of the text of one context file, estimated. */
export const MAX_CONTEXT_FILE_TOKENS = 8_000;
/** Of the texts of all of them together. */
export const MAX_CONTEXT_TOKENS = 32_000;
export const BYTES_PER_TOKEN = 4;
