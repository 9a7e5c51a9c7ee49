/** `/profile` and `/profiles:NAME`: the profile of a session with where each value comes from, and the way to another one. */
import { type Project, type Settings, skillsOf } from "#artifacts";
import { counted, visibleLine } from "#base";
import type { SlashEntry, SlashSource } from "#engine";
import { textArguments } from "#protocol";
import type { SessionDependencies } from "./dependencies.ts";

const NAMED_SOURCES = 10;
const NAMED_TOOLS = 40;

export interface ProfileParts {
  readonly settings: Settings;
  /** `provider:name` that the next step uses. */
  readonly model: string;
  readonly project: Project | undefined;
  readonly tools: readonly string[];
  /** MCP servers of the session. */
  readonly servers: readonly string[];
}

/** `/profile`. */
export function profileText({ settings, model, project, tools, servers }: ProfileParts): string {
  const { profile } = settings;
  const rows = valuesOf(settings).map(
    ([key, value, origin]) => `  ${key.padEnd(20)} ${value}  (${visibleLine(origin)})`,
  );
  const skills = project === undefined ? [] : skillsOf(project).map(({ name }) => name);
  return [
    `Profile: ${visibleLine(profile.name)} (${visibleLine(profile.source)})`,
    ...rows,
    `Model in use: ${visibleLine(model)}`,
    `${counted(tools.length, "tool")}${listed(tools)}`,
    `${counted(skills.length, "skill")}${listed(skills)}`,
    `${counted(servers.length, "MCP server")}${listed(servers)}`,
  ].join("\n");
}

export function profileCommands(
  profiles: SessionDependencies["profiles"],
  project: () => Project | undefined,
): SlashSource {
  return {
    owner: "profiles",
    namespaces: ["profiles"],
    entries: () => (profiles === undefined ? [] : profiles.known(project()).map(({ name }) => entryOf(profiles, name))),
  };
}

function entryOf(profiles: NonNullable<SessionDependencies["profiles"]>, name: string): SlashEntry {
  return {
    ...{ namespace: "profiles", name, args_schema: textArguments("options"), humanOnly: "change the profile" },
    description: "continue in a new session with this profile; --turns N (default 5), or --in-place",
    run: ({ options = "" }, caller) => profiles.switchTo(name, options, caller),
  };
}

/** Key, value and where it comes from. */
function valuesOf(settings: Settings): readonly (readonly [string, string, string])[] {
  const { models, promptHeader, contextSources, toolPacks, skillPacks, permissions, profile, retention } = settings;
  const origin = (key: string): string => settings.origins[key] ?? "default";
  const sources = [...new Set([...permissions, ...settings.labelRules].map(({ source }) => visibleLine(source)))];
  const more = sources.length > NAMED_SOURCES ? ", …" : "";
  const days = profile.contentDays ?? retention.contentDays;
  const header = promptHeader?.text.split("\n").length ?? 0;
  return [
    ["default_model", visibleLine(models[0]?.model ?? "by the keys that are there"), origin("default_model")],
    ["prompt_header", header === 0 ? "none" : counted(header, "line"), origin("prompt_header")],
    ["context_sources", contextSources.join(", ") || "none", origin("context_sources")],
    ["context", contextText(settings.context), origin("context")],
    ["tool_packs", toolPacks?.join(", ") ?? "all", origin("tool_packs")],
    ["skill_packs", skillPacks?.join(", ") ?? "builtin", origin("skill_packs")],
    [
      "permissions",
      counted(permissions.length + settings.labelRules.length, "rule"),
      sources.length === 0 ? "default" : `${sources.slice(0, NAMED_SOURCES).join(", ")}${more}`,
    ],
    ["strict", String(settings.strictPermissions), origin("strict")],
    ["mcp_servers", settings.mcpServers.map(({ name }) => name).join(", ") || "none", serverOrigins(settings)],
    ["retention", days === undefined ? "30 days" : counted(days, "day"), origin("retention")],
    ["allow_project_hooks", String(settings.allowProjectHooks), origin("allow_project_hooks")],
  ];
}

function contextText({ maxHistory, maxTokens, compaction, compactionModel }: Settings["context"]): string {
  const said = { max_history: maxHistory, max_tokens: maxTokens, compaction, compaction_model: compactionModel };
  const fields = Object.entries(said).flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${value}`]));
  return visibleLine(fields.join(", ")) || "as the project says";
}

/** Each server says where it is declared. */
function serverOrigins({ mcpServers, origins }: Settings): string {
  const files = mcpServers.flatMap(({ pin, declaredIn }) => pin?.declaredIn ?? declaredIn ?? []);
  return [...new Set(files)].join(", ") || (origins.mcp_servers ?? "default");
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > NAMED_TOOLS ? ", …" : "";
  return `: ${names.slice(0, NAMED_TOOLS).map(visibleLine).join(", ")}${more}`;
}
