/** The slash commands of one session: those of the program, then one source for each kind of thing that a session can have. */
import { optionalFiles } from "#artifacts";
import { type Memory, visibleLine } from "#base";
import type { LiveSession } from "#control";
import {
  aliasSource,
  type BuiltInRuns,
  createSlashRegistry,
  type Redaction,
  type SlashEntry,
  type SlashRegistry,
  type SlashSource,
  type Tool,
} from "#engine";
import { ReasonError } from "#protocol";
import { agentCommands } from "./agent-commands.ts";
import type { SessionDependencies } from "./dependencies.ts";
import { projectCommands } from "./markdown-commands.ts";
import type { SessionMemory } from "./memory.ts";
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
  readonly memory: Pick<SessionMemory, "considered" | "port">;
  readonly redaction: Pick<Redaction, "output">;
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
  memory,
  redaction,
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
    memory: memoryRun(memory),
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
  return {
    ...registry,
    async run(...given) {
      const outcome = await registry.run(...given);
      return outcome.text === undefined ? outcome : { ...outcome, text: redactedText(redaction, outcome.text) };
    },
  };
}

/** Every client may read it: it leaves as clean as an event. */
function redactedText(redaction: SessionSlashParts["redaction"], text: string): string {
  return redaction
    .output([{ type: "text", text }])
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("");
}

/** Only those of a file that somebody allowed. */
function projectAliases(runtime: ProjectRuntime | undefined): readonly (readonly [string, string])[] {
  const files = runtime === undefined ? [] : optionalFiles(runtime.live.current(), "aliases");
  return files.flatMap(({ content }) => Object.entries(content.targets));
}

const FOUND = 10;

function memoryRun({ considered, port }: SessionSlashParts["memory"]): SlashEntry["run"] {
  return async ({ text }, { identityClass }) => {
    if (text !== undefined) {
      // An agent searches with a call, which is on the record and brings labels.
      if (identityClass !== "human") throw new ReasonError("NotAllowed", "Only a human may search memories by hand.");
      const found = await port.search(text, FOUND);
      return { text: found.map((memory) => `  ${memoryLine(memory)}`).join("\n") || "No memory matches." };
    }
    const lines = considered().map(({ memory, isChosen, why, tokens }) => {
      return `  ${isChosen ? "+" : "-"} ${memoryLine(memory)} (${isChosen ? `${tokens} tokens, ` : ""}${visibleLine(why)})`;
    });
    return { text: lines.join("\n") || "No memory came close in the last turn. To find one: /memory WORDS" };
  };
}

function memoryLine({ scope, name, description }: Memory): string {
  return visibleLine(`${scope}/${name}: ${description}`);
}

function rulesText(rules: ReturnType<LiveSession["rules"]>): string {
  if (rules.length === 0) return "No rules: read-only calls run, everything else asks.";
  return rules
    .map(({ effect, rule, source }) => `  ${effect.padEnd(5)} ${visibleLine(rule)}  (${visibleLine(source)})`)
    .join("\n");
}
