/** `[memory]` of `config.toml`: whether memories join turns, and whether the agent may write them. */
import { defined } from "#base";
import { defineTable, type FieldType, flag, integer, nested } from "./schema.ts";
import { defaultSettings, type MemorySettings } from "./settings.ts";

const MAX_TURN_TOKENS = 50_000;

const memorySettingsTable = defineTable({
  title: "Memory",
  about: "What the agent [remembers](../guide/memory.md) of earlier sessions.",
  fields: {
    enabled: {
      type: flag,
      default: `\`${defaultSettings.memory.enabled}\``,
      meaning: "If false, no memory joins a turn, and the agent has no tools for memories.",
    },
    write: {
      type: flag,
      default: `\`${defaultSettings.memory.write}\``,
      meaning:
        "If true, the agent has the tools `memory.write` and `memory.forget`. Each call needs approval, unless a rule allows it.",
    },
    max_tokens: {
      type: integer(0, MAX_TURN_TOKENS),
      default: "`1500`",
      meaning:
        "How many tokens the memories may take that join one turn, estimated. Core memories have 2,000 of their own.",
    },
  },
});

export const memorySettings: FieldType<MemorySettings> = nested(memorySettingsTable, ({ values }) => ({
  enabled: values.enabled ?? defaultSettings.memory.enabled,
  write: values.write ?? defaultSettings.memory.write,
  ...defined({ maxTokens: values.max_tokens }),
}));
