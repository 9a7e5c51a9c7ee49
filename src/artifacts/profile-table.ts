/** A profile: which model, context files, servers, tools, skills and rules one kind of work uses. Reads no files. */
import { hash } from "node:crypto";
import { defined } from "#base";
import { contextSettings } from "./context-settings.ts";
import { mcpServersType } from "./mcp-table.ts";
import { isProfileName } from "./profile-name.ts";
import {
  choice,
  defineTable,
  field,
  flag,
  integer,
  list,
  nested,
  positive,
  textThat,
  type ValuesOf,
} from "./schema.ts";
import type { ProfileInForce } from "./settings.ts";
import { readTomlFile } from "./toml-file.ts";
import { contextSourcesType, permissionsTable, permissionsType, rulesOfTable, type UserRules } from "./user-table.ts";

const MAX_HEADER_CHARS = 16_384;
const MODEL = /^[a-z0-9_-]+:\S+$/i;
const MAX_PACKS = 32;

const fileStem = textThat("name of small letters, digits, `-` and `_`, at most 32", isProfileName);

const retentionTable = defineTable(
  "Retention",
  "How long the log keeps the content of sessions with this profile. The other limits are in `config.toml`.",
).of({
  content_days: field(positive, "as in `config.toml`").means(
    "Days after which Harness deletes the content of events. The record of what happened and when stays.",
  ),
});

export const profileTable = defineTable(
  "Keys",
  "Every key is optional. A key that has its own section below is a TOML table, for example `[permissions]`.",
).of({
  schema_version: field(integer(1, 1), "`1`").means(
    "The version of this format. Harness refuses a file with a version that it does not know.",
  ),
  name: field(fileStem, "the name of the file").means(
    "What sessions and `/profile` call the profile. In a folder of profiles it must match the file name.",
  ),
  default_model: field(
    textThat("model as `provider:name`", (model) => MODEL.test(model)),
    "as in `config.toml`",
  ).means(
    "The default model. Its options come from the same model in `config.toml`, if it is there. The other models of `config.toml` are not its fallbacks.",
  ),
  prompt_header: field(
    textThat(
      `text of at most ${MAX_HEADER_CHARS} characters`,
      (text) => text.trim() !== "" && text.length <= MAX_HEADER_CHARS,
    ),
    "none",
  ).means("Instructions that the system prompt gets after the text that says who the agent is."),
  context_sources: field(contextSourcesType, "as in `config.toml`").means(
    "Which [context files](../guide/writing-context.md#files-for-other-agents) of a repository Harness reads. Each needs your ack.",
  ),
  context: field(contextSettings, "as in `config.toml`").means(
    "How long conversations are made shorter, field by field before `config.toml`.",
  ),
  mcp_servers: field(mcpServersType, "none").means(
    "MCP servers by name. A server replaces the server of the same name in `config.toml`.",
  ),
  tool_packs: field(list(choice("fs", "shell", "web"), { max: 3 }), "all").means(
    "Which built-in tools the model gets. `fs`: all tools that start with `fs.`. `shell`: `exec`, which also runs git. `web`: `web.fetch`. `ask_user` and the tools of MCP servers, plugins and projects stay.",
  ),
  skill_packs: field(list(fileStem, { max: MAX_PACKS }), '`["builtin"]`').means(
    "Which packs of skills the model sees. `builtin`: the skills that ship with Harness. Any other name is a folder of skills in `skill-packs` of your configuration folder. Your own skills and those of the project stay.",
  ),
  permission_presets: field(list(fileStem, { max: MAX_PACKS }), "`[]`").means(
    "Sets of permission rules by name, each a file with the keys of [Permissions](#permissions): `no-edits` and `ask-first` are built in, yours are `presets/NAME.toml` of your configuration folder. They are added to `permissions`.",
  ),
  permissions: field(permissionsType).means(
    "Permission rules, in addition to those of `config.toml`. The strictest matching rule decides.",
  ),
  retention: field(
    nested(retentionTable, ({ values }) => ({ ...defined({ contentDays: values.content_days }) })),
  ).means("How long the log keeps content."),
  allow_project_hooks: field(flag, "as in `config.toml`").means(
    "Whether the shell hooks of a project may run, once each file was acked.",
  ),
});

export interface Profile {
  readonly inForce: ProfileInForce;
  readonly values: ValuesOf<typeof profileTable.fields>;
  /** What the presets say that it names; whoever reads their files adds them. */
  readonly presets: readonly UserRules[];
  readonly warnings: readonly string[];
}

/** `text` is the content of `file`. Throws ConfigInvalid with every problem. `stem` names a profile that has no `name`. */
export function parseProfile(
  file: string,
  text: string,
  { stem, source, scope }: { readonly stem: string } & Pick<ProfileInForce, "source" | "scope">,
): Profile {
  const { values, warnings } = readTomlFile(file, text, profileTable);
  const { schema_version: _, name = stem, ...said } = values;
  const sets = Object.entries(said).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  const version = scope === "built-in" ? undefined : hash("sha256", text, "hex");
  const inForce = { name, scope, source, sets, ...defined({ version, contentDays: values.retention?.contentDays }) };
  return { inForce, values, presets: [], warnings };
}

/** `text` is the content of `file`: the keys of [Permissions] at the top level. Throws ConfigInvalid. */
export function parsePreset(
  file: string,
  text: string,
): { readonly rules: UserRules; readonly warnings: readonly string[] } {
  const { values, warnings } = readTomlFile(file, text, permissionsTable);
  return { rules: rulesOfTable(values), warnings };
}
