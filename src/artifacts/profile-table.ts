/** A profile: which model, context files, servers, tools and rules one kind of work uses. Reads no files. */
import { defined } from "#base";
import { mcpServersType } from "./mcp-table.ts";
import { choice, defineTable, flag, integer, list, textThat, type ValuesOf } from "./schema.ts";
import type { ModelSettings, ProfileInForce, Settings, ToolPack } from "./settings.ts";
import { readTomlFile } from "./toml-file.ts";
import { contextSourcesType, permissionsType } from "./user-table.ts";

const MAX_HEADER_CHARS = 16_384;
export const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
const MODEL = /^[a-z0-9_-]+:\S+$/i;

export const profileTable = defineTable({
  title: "Keys",
  about: "Every key is optional. A key that has its own section below is a TOML table, for example `[permissions]`.",
  fields: {
    schema_version: {
      type: integer(1, 1),
      default: "`1`",
      meaning: "The version of this format. Harness refuses a file with a version that it does not know.",
    },
    name: {
      type: textThat("name of small letters, digits, `-` and `_`, at most 32", (name) => PROFILE_NAME.test(name)),
      default: "the name of the file",
      meaning:
        "What sessions and `/profile` call the profile. In the folder of your profiles it must match the file name.",
    },
    default_model: {
      type: textThat("model as `provider:name`", (model) => MODEL.test(model)),
      default: "as in `config.toml`",
      meaning:
        "The default model. Its options come from the same model in `config.toml`, if it is there. The other models of `config.toml` are not its fallbacks.",
    },
    prompt_header: {
      type: textThat(
        `text of at most ${MAX_HEADER_CHARS} characters`,
        (text) => text.trim() !== "" && text.length <= MAX_HEADER_CHARS,
      ),
      default: "none",
      meaning: "Instructions that the system prompt gets after the text that says who the agent is.",
    },
    context_sources: {
      type: contextSourcesType,
      default: "as in `config.toml`",
      meaning:
        "Which [context files](../guide/writing-context.md#files-for-other-agents) of a repository Harness reads. Each needs your ack.",
    },
    mcp_servers: {
      type: mcpServersType,
      default: "none",
      meaning: "MCP servers by name. A server replaces the server of the same name in `config.toml`.",
    },
    tool_packs: {
      type: list(choice("fs", "shell", "web"), { max: 3 }),
      default: "all",
      meaning:
        "Which built-in tools the model gets. `fs`: all tools that start with `fs.`. `shell`: `exec`, which also runs git. `web`: `web.fetch`. `ask_user` and the tools of MCP servers, plugins and projects stay.",
    },
    permissions: {
      type: permissionsType,
      meaning: "Permission rules, in addition to those of `config.toml`. The strictest matching rule decides.",
    },
    allow_project_hooks: {
      type: flag,
      default: "as in `config.toml`",
      meaning: "Whether the shell hooks of a project may run, once each file was acked.",
    },
  },
});

export interface Profile {
  readonly inForce: ProfileInForce;
  readonly values: ValuesOf<typeof profileTable.fields>;
  readonly warnings: readonly string[];
}

/** `text` is the content of `file`. Throws ConfigInvalid with every problem. `stem` names a profile that has no `name`. */
export function parseProfile(file: string, text: string, { stem, source }: { stem: string; source: string }): Profile {
  const { values, warnings } = readTomlFile(file, text, profileTable);
  const { schema_version: _, name = stem, ...said } = values;
  const sets = Object.entries(said).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  return { inForce: { name, source, sets }, values, warnings };
}

/** The profile wins, and rules add up. */
export function applyProfile(settings: Settings, { values, inForce }: Profile): Settings {
  const { default_model: model, permissions, mcp_servers: servers = [] } = values;
  const isReplaced = (name: string): boolean => servers.some((server) => server.name === name);
  const header = values.prompt_header?.trim();
  return {
    ...settings,
    profile: inForce,
    models: model === undefined ? settings.models : [modelNamed(model, settings.models)],
    permissions: [...settings.permissions, ...(permissions?.permissions ?? [])],
    labelRules: [...settings.labelRules, ...(permissions?.labelRules ?? [])],
    strictPermissions: permissions?.strict ?? settings.strictPermissions,
    mcpServers: [...settings.mcpServers.filter(({ name }) => !isReplaced(name)), ...servers],
    contextSources: values.context_sources ?? settings.contextSources,
    allowProjectHooks: values.allow_project_hooks ?? settings.allowProjectHooks,
    ...defined({
      promptHeader: header === undefined ? undefined : { text: header, source: inForce.source },
      toolPacks: values.tool_packs satisfies readonly ToolPack[] | undefined,
    }),
  };
}

function modelNamed(model: string, known: readonly ModelSettings[]): ModelSettings {
  return known.find((one) => one.model === model) ?? { model };
}
