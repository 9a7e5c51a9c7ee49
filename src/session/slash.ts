/** The slash commands of one session: those of the program, then one source for each kind of thing that a session can have. */
import { optionalFiles } from "#artifacts";
import { visibleLine } from "#base";
import type { LiveSession } from "#control";
import {
  aliasSource,
  type BuiltInRuns,
  createSlashRegistry,
  type SlashEntry,
  type SlashRegistry,
  type SlashSource,
  type Tool,
} from "#engine";
import { agentCommands } from "./agent-commands.ts";
import type { SessionDependencies } from "./dependencies.ts";
import { projectCommands } from "./markdown-commands.ts";
import { profileCommands, profileText } from "./profile-commands.ts";
import type { ProjectRuntime } from "./project.ts";
import { serverCommands } from "./server-commands.ts";
import type { SessionServers } from "./servers.ts";
import { skillCommands } from "./skill-commands.ts";

export interface SessionSlashParts {
  readonly dependencies: Pick<SessionDependencies, "slash" | "settings" | "profiles">;
  /** `provider:name` that the next step uses. */
  readonly model: () => string;
  readonly tools: () => readonly Pick<Tool, "name">[];
  readonly servers: Pick<SessionServers, "states" | "restart" | "prompts">;
  readonly rules: LiveSession["rules"];
  readonly runtime: ProjectRuntime | undefined;
  readonly work: BuiltInRuns;
}

/** Throws ConfigInvalid when two sources claim the same namespace. */
export function sessionSlash({
  dependencies,
  servers,
  rules,
  runtime,
  model,
  tools,
  work,
}: SessionSlashParts): SlashRegistry {
  const { slash, settings, profiles } = dependencies;
  const project = () => runtime?.live.current();
  const mcp = serverCommands(settings.mcpServers, servers);
  // An alias of the user hides one of the project.
  const targets = () => new Map([...projectAliases(runtime), ...slash.aliases]);
  const aliases = aliasSource(targets, () => registry);
  const sources: readonly SlashSource[] = [
    ...slash.sources,
    skillCommands(runtime),
    projectCommands(runtime),
    agentCommands(runtime),
    profileCommands(profiles, project),
    mcp.source,
    aliases,
  ];
  const listRules: SlashEntry["run"] = () => ({ text: rulesText(rules()) });
  const registry = createSlashRegistry(sources, {
    ...slash.builtIns,
    ...mcp.builtIns,
    ...work,
    rules: listRules,
    permissions: listRules,
    profile: () => ({
      text: profileText({
        ...{ settings, model: model(), project: project() },
        tools: tools().map(({ name }) => name),
        servers: servers.states().map(({ name }) => name),
      }),
    }),
  });
  return registry;
}

/** Only those of a file that somebody allowed. */
function projectAliases(runtime: ProjectRuntime | undefined): readonly (readonly [string, string])[] {
  const files = runtime === undefined ? [] : optionalFiles(runtime.live.current(), "aliases");
  return files.flatMap(({ content }) => Object.entries(content.targets));
}

function rulesText(rules: ReturnType<LiveSession["rules"]>): string {
  if (rules.length === 0) return "No rules: read-only calls run, everything else asks.";
  return rules
    .map(({ effect, rule, source }) => `  ${effect.padEnd(5)} ${visibleLine(rule)}  (${visibleLine(source)})`)
    .join("\n");
}
