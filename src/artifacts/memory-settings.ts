/** `[memory]` of `config.toml`: whether memories join turns, and whether the agent may write them. */
import { defined } from "#base";
import { defineTable, type FieldType, field, flag, integer, nested } from "./schema.ts";
import { defaultSettings, type MemorySettings } from "./settings.ts";

const MAX_TURN_TOKENS = 50_000;

const memorySettingsTable = defineTable(
  "Memory",
  "What the agent [remembers](../guide/memory.md) of earlier sessions.",
).of({
  enabled: field(flag, `\`${defaultSettings.memory.enabled}\``).means(
    "If false, no memory joins a turn, and the agent has no tools for memories.",
  ),
  write: field(flag, `\`${defaultSettings.memory.write}\``).means(
    "If true, the agent has the tools `memory.write` and `memory.forget`. Each call needs approval, unless a rule allows it.",
  ),
  max_tokens: field(integer(0, MAX_TURN_TOKENS), "`1500`").means(
    "How many tokens the memories may take that join one turn, estimated. Core memories have 2,000 of their own.",
  ),
});

export const memorySettings: FieldType<MemorySettings> = nested(memorySettingsTable, ({ values }) => ({
  enabled: values.enabled ?? defaultSettings.memory.enabled,
  write: values.write ?? defaultSettings.memory.write,
  ...defined({ maxTokens: values.max_tokens }),
}));
