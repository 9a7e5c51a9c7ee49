/** `context`: how much of the conversation the model is shown, and which files join the prompt. */

import { isAbsolute, posix } from "node:path";
import { defined } from "#base";
import type { ContextConfig, SourceLocation } from "./project.ts";
import {
  choice,
  defineTable,
  error,
  type FieldType,
  field,
  integer,
  list,
  nested,
  type TableValues,
  text,
  words,
} from "./schema.ts";

/** Defaults of a project that has a `harness.md` or `harness.yaml`. */
export const DEFAULT_MAX_HISTORY = 50;
export const DEFAULT_CONTEXT_TOKENS = 128_000;

const MAX_HISTORY = 100_000;
const MAX_CONTEXT_TOKENS = 100_000_000;
const MAX_CONTEXT_FILES = 100;

/** A path as it is written, cleaned up, with where it is written. */
export interface WrittenPath {
  readonly path: string;
  readonly place: SourceLocation;
}

/** Relative to the project and inside it; links are looked at when it is read. */
export const pathInside: FieldType<WrittenPath> = {
  shown: "a path inside the project",
  read(tree, reader) {
    const written = words(this.shown).read(tree, reader);
    if (written === undefined) return undefined;
    const path = posix.normalize(written).replace(/\/+$/, "");
    if (isAbsolute(path) || path === ".." || path.startsWith("../") || path.includes("\0")) {
      const message = `"${written.slice(0, 200)}" is outside the project.`;
      return reader.report(error("outside-project", tree.place, message, { expected: this.shown }));
    }
    return { path, place: tree.place };
  },
};

export const contextTable = defineTable(
  "Context of an agent",
  "Which parts of the conversation and which files the model sees. An agent inherits the fields that it does not set from its parent.",
).of({
  max_history: field(integer(1, MAX_HISTORY), `\`${DEFAULT_MAX_HISTORY}\``).means(
    "The number of turns before Harness compacts the conversation. With `compaction: off`: the number of turns that the model sees.",
  ),
  max_tokens: field(integer(1, MAX_CONTEXT_TOKENS), `\`${DEFAULT_CONTEXT_TOKENS}\``).means(
    "The size of a request, in tokens, above which Harness compacts the conversation. The conversation always has at least 8,000 tokens of room.",
  ),
  compaction: field(choice("summarize", "prune", "off"), "`summarize`").means(
    "How Harness makes a long conversation shorter: see [long sessions](../guide/long-sessions.md). `prune` asks no model. `off` compacts only on `/compact`.",
  ),
  compaction_model: field(words("`provider:name`"), "the model of the session").means(
    "The model that writes the summaries, for example a cheaper one.",
  ),
  system_prompt: field(text()).means(
    "The system prompt, for `harness.yaml`. In a Markdown file the body takes precedence.",
  ),
  files: field(list(pathInside, { max: MAX_CONTEXT_FILES }), "none").means(
    "Files whose text is added to the prompt, in this order.",
  ),
});

/** The configuration, and the files with their places, for whoever has to say that one is missing. */
export interface WrittenContext {
  readonly config: ContextConfig;
  readonly files: readonly WrittenPath[];
  readonly systemPromptPlace: SourceLocation;
}

export const contextType = nested(contextTable, writtenContext);

export function writtenContext({ values, at }: TableValues<typeof contextTable.fields>): WrittenContext {
  const files = values.files ?? [];
  const { max_history: maxHistory, max_tokens: maxTokens, system_prompt: systemPrompt } = values;
  const { compaction, compaction_model: compactionModel } = values;
  return {
    config: {
      files: files.map(({ path }) => path),
      ...defined({ maxHistory, maxTokens, compaction, compactionModel }),
      ...(systemPrompt === undefined || systemPrompt.trim() === "" ? {} : { systemPrompt }),
    },
    files,
    systemPromptPlace: at("system_prompt"),
  };
}
