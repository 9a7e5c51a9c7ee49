/** What a profile makes of the settings. A profile of a project narrows what the user chose, and cannot loosen it. */
import { defined } from "#base";
import type { Profile } from "./profile-table.ts";
import type { ModelSettings, Settings, ToolPack } from "./settings.ts";
import type { UserRules } from "./user-table.ts";

/** The profile wins, and rules add up. */
export function applyProfile(settings: Settings, { values, presets, inForce }: Profile): Settings {
  const { default_model: model, permissions, mcp_servers: servers = [] } = values;
  const isReplaced = (name: string): boolean => servers.some((server) => server.name === name);
  const header = values.prompt_header?.trim();
  const rules = [...presets, ...(permissions === undefined ? [] : [permissions])];
  const strict = rules.findLast((one) => one.strict !== undefined)?.strict;
  return {
    ...settings,
    profile: inForce,
    origins: { ...settings.origins, ...originsOf(inForce, strict) },
    models: model === undefined ? settings.models : [modelNamed(model, settings.models)],
    permissions: [...settings.permissions, ...rules.flatMap((one) => one.permissions)],
    labelRules: [...settings.labelRules, ...rules.flatMap((one) => one.labelRules)],
    strictPermissions: strict ?? settings.strictPermissions,
    mcpServers: [
      ...settings.mcpServers.filter(({ name }) => !isReplaced(name)),
      ...servers.map((server) => ({ ...server, declaredIn: inForce.source })),
    ],
    contextSources: values.context_sources ?? settings.contextSources,
    context: { ...settings.context, ...values.context },
    allowProjectHooks: values.allow_project_hooks ?? settings.allowProjectHooks,
    ...defined({
      promptHeader: header === undefined ? undefined : { text: header, source: inForce.source },
      toolPacks: values.tool_packs satisfies readonly ToolPack[] | undefined,
      skillPacks: values.skill_packs,
    }),
  };
}

/** What is left of a project's profile in these settings, with a warning for each value that would loosen them. */
export function narrowedProfile(profile: Profile, settings: Settings): Profile {
  const { values, presets, inForce } = profile;
  const ignored: string[] = [];
  const ignore = (key: string, why: string): void => {
    ignored.push(`${inForce.source}: ${key} is ignored, because ${why}`);
  };
  const narrowed = (rules: UserRules, where: string): UserRules => {
    const { strict, ...others } = rules;
    const kept = rules.permissions.filter(({ effect }) => effect !== "allow");
    if (kept.length < rules.permissions.length)
      ignore(`allow of ${where}`, "a profile of a project cannot allow calls");
    if (strict === false) ignore(`strict of ${where}`, "a profile of a project cannot turn it off");
    return { ...others, permissions: kept, ...(strict === true ? { strict } : {}) };
  };
  const {
    mcp_servers: servers,
    permissions,
    retention,
    allow_project_hooks: hooks,
    context_sources: sources,
    ...others
  } = values;
  if (servers !== undefined) ignore("mcp_servers", "a project declares servers in .mcp.json or harness.md");
  if (retention !== undefined) ignore("retention", "how long the log keeps content is the user's choice");
  if (hooks === true) ignore("allow_project_hooks", "only the user can allow the hooks of a project");
  const isChosen = settings.origins.context_sources !== "built-in";
  const kept = isChosen ? sources?.filter((source) => settings.contextSources.includes(source)) : sources;
  if (kept !== sources && kept?.length !== sources?.length) {
    ignore("a part of context_sources", `${settings.origins.context_sources} does not name it`);
  }
  const own = permissions === undefined ? undefined : narrowed(permissions, "permissions");
  const { contentDays: _, ...rest } = inForce;
  const dropped = new Set([
    ...(servers === undefined ? [] : ["mcp_servers"]),
    ...(retention === undefined ? [] : ["retention"]),
    ...(hooks === true ? ["allow_project_hooks"] : []),
  ]);
  return {
    inForce: { ...rest, sets: inForce.sets.filter((key) => !dropped.has(key)) },
    values: {
      ...others,
      ...defined({ permissions: own, context_sources: kept, allow_project_hooks: hooks === false ? hooks : undefined }),
    } as Profile["values"],
    presets: presets.map((preset) => narrowed(preset, "permission_presets")),
    // Those about its keys came with the project.
    warnings: ignored,
  };
}

/** Rules say themselves where they are written. */
function originsOf({ sets, source }: Profile["inForce"], strict: boolean | undefined): Settings["origins"] {
  const keys = sets.filter((key) => key !== "permissions");
  return Object.fromEntries([...keys, ...(strict === undefined ? [] : ["strict"])].map((key) => [key, source]));
}

function modelNamed(model: string, known: readonly ModelSettings[]): ModelSettings {
  return known.find((one) => one.model === model) ?? { model };
}
