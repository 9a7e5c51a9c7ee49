/** `[context]` of `config.toml` and of a profile: how long conversations are made shorter, where the project does not say. */
import { defined } from "#base";
import { contextTable, DEFAULT_CONTEXT_TOKENS, DEFAULT_MAX_HISTORY } from "./context-table.ts";
import { defineTable, type FieldType, nested } from "./schema.ts";
import type { ContextSettings } from "./settings.ts";

const { max_history, max_tokens, compaction, compaction_model } = contextTable.fields;

const contextSettingsTable = defineTable(
  "Context",
  "How Harness makes [long conversations](../guide/long-sessions.md) shorter. What `context` of a project sets takes precedence.",
).of({
  max_history: { ...max_history, default: `none; \`${DEFAULT_MAX_HISTORY}\` in a project` },
  max_tokens: { ...max_tokens, default: `the model's window; \`${DEFAULT_CONTEXT_TOKENS}\` in a project` },
  compaction,
  compaction_model,
});

export const contextSettings: FieldType<ContextSettings> = nested(contextSettingsTable, ({ values }) =>
  defined({
    maxHistory: values.max_history,
    maxTokens: values.max_tokens,
    compaction: values.compaction,
    compactionModel: values.compaction_model,
  }),
);
