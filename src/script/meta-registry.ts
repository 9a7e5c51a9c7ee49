/**
 * Tools, hooks and agents that a run adds to itself. They are checked like those in files, a hook may refuse them, and they live
 * as long as the run. What they may do is decided where it is decided for all others.
 */
import {
  type AgentArtifact,
  globFault,
  globMatches,
  type HookArtifact,
  type MetaConfig,
  type Problem,
  type ScriptChecker,
  type ToolArtifact,
} from "#artifacts";
import type { Hook, HookDispatcher, HookPoint, HookSource, Tool, ToolSource } from "#engine";
import { isRecord } from "./arguments.ts";
import { metaTools } from "./meta-tools.ts";
import type { Scripts } from "./scripts.ts";
import { type MetaKind, RegistrationBlocked, type ScriptMeta, type ToolDescriptor } from "./services.ts";

const MAX_LISTED = 1_000;
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Fields as in the frontmatter of a file, with `name` and the body (`description`, `prompt`) beside them. */
export type MetaFields = Readonly<Record<string, unknown>>;

export interface Parsed<Artifact> {
  /** Absent when there was an error. */
  readonly artifact?: Artifact;
  readonly problems: readonly Problem[];
}

/** The parsers of the files, for fields that came from a script. */
export interface MetaParser {
  tool(fields: MetaFields): Parsed<ToolArtifact>;
  hook(fields: MetaFields): Parsed<HookArtifact>;
  agent(fields: MetaFields): Parsed<AgentArtifact>;
}

export interface MetaRegistryOptions {
  /** As it is now: of what was registered, only as much as it allows is in force. */
  config(): MetaConfig;
  readonly parser: MetaParser;
  readonly checker: ScriptChecker;
  /** Asked when something is registered, since scripts need the registry in turn. */
  scripts(): Scripts;
  /** Asked before anything takes effect: `meta.register_tool`, `meta.register_hook`, `meta.register_agent`. */
  readonly hooks: HookDispatcher;
  /** Names that a registration may not take, of files and of the program. */
  taken(kind: MetaKind): Iterable<string>;
  /** The tools that the model can see now, registered ones included. */
  tools(): readonly Tool[];
}

export interface MetaRegistry extends ScriptMeta {
  /** `meta.*` for the model, then what was registered. */
  readonly source: ToolSource;
  readonly hooks: HookSource;
  agents(): readonly AgentArtifact[];
}

export function createMetaRegistry(options: MetaRegistryOptions): MetaRegistry {
  const { parser, checker } = options;
  const tools = new Map<string, Tool>();
  const hooks = new Map<string, Hook>();
  const agents = new Map<string, AgentArtifact>();
  const kept = { tool: tools, hook: hooks, agent: agents };

  function capOf(kind: MetaKind): number {
    const { enabled, maxTools, maxHooks, maxAgents } = options.config();
    return enabled ? { tool: maxTools, hook: maxHooks, agent: maxAgents }[kind] : 0;
  }

  /** Those that the configuration allows now, the oldest first. */
  function inForce<Kept>(kind: MetaKind, all: ReadonlyMap<string, Kept>): readonly Kept[] {
    return [...all.values()].slice(0, capOf(kind));
  }

  function checkRoom(kind: MetaKind, name: string): void {
    if (!options.config().enabled) throw new Error("meta is not enabled: set meta.enabled in harness.md");
    if (!NAME.test(name) || name.startsWith("meta."))
      throw new Error(`${JSON.stringify(name)} is not a name for a ${kind}`);
    if (kept[kind].has(name) || [...options.taken(kind)].includes(name)) {
      throw new Error(`the ${kind} ${name} already exists`);
    }
    const cap = capOf(kind);
    if (kept[kind].size >= cap) throw new Error(`at most ${cap} ${kind}s may be registered (meta.max_${kind}s)`);
  }

  /** Parses, checks and compiles; gives the step that makes it take effect. */
  function prepare(kind: MetaKind, fields: MetaFields): () => void {
    const name = nameOf(fields);
    checkRoom(kind, name);
    switch (kind) {
      case "tool": {
        const artifact = usable(parser.tool(fields), (tool) => checker.tool(tool));
        const tool = options.scripts().tool(artifact);
        if (tool === undefined) throw new Error(`tool ${name} has no script`);
        return () => void tools.set(name, tool);
      }
      case "hook": {
        const artifact = usable(parser.hook(fields), (hook) => checker.hook(hook));
        const hook = options.scripts().hook(artifact);
        return () => void hooks.set(name, hook);
      }
      case "agent": {
        const artifact = usable(parser.agent(fields), () => []);
        return () => void agents.set(name, artifact);
      }
    }
  }

  async function register(kind: MetaKind, fields: MetaFields, at: HookPoint): Promise<void> {
    prepare(kind, fields);
    const verdict = await options.hooks.dispatch(`meta.register_${kind}`, fields, at);
    if (verdict.blocked) throw new RegistrationBlocked(verdict.hook, verdict.reason);
    if (!isRecord(verdict.payload)) throw new Error(`a hook on meta.register_${kind} left no fields`);
    // What a hook changed is checked like what came in, and others may have registered while hooks were asked.
    prepare(kind, verdict.payload)();
  }

  const registry: MetaRegistry = {
    get maxCallDepth() {
      return options.config().maxCallDepth;
    },
    listTools(pattern) {
      const fault = pattern === "" ? undefined : globFault(pattern);
      if (fault !== undefined) throw new Error(`${JSON.stringify(pattern)} is not a pattern for tools: ${fault}`);
      const found: ToolDescriptor[] = [];
      for (const { name, description } of options.tools()) {
        if ((pattern === "" || globMatches(pattern, name)) && found.length < MAX_LISTED)
          found.push({ name, description });
      }
      return found;
    },
    register,
    source: {
      name: "meta",
      tools: () => (options.config().enabled ? [...metaTools(registry), ...inForce("tool", tools)] : []),
    },
    hooks: { hooks: (event) => inForce("hook", hooks).filter((hook) => hook.event === event) },
    agents: () => inForce("agent", agents),
  };
  return registry;
}

function nameOf(fields: MetaFields): string {
  if (typeof fields.name === "string") return fields.name;
  throw new Error("name must be a string");
}

function usable<Artifact>(parsed: Parsed<Artifact>, check: (artifact: Artifact) => readonly Problem[]): Artifact {
  const problems = [...parsed.problems, ...(parsed.artifact === undefined ? [] : check(parsed.artifact))];
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length === 0 && parsed.artifact !== undefined) return parsed.artifact;
  throw new Error(
    errors
      .map(({ place, message, expected }) => {
        const want = expected === undefined ? "" : ` (expected: ${expected})`;
        return `${place.line}:${place.column}: ${message}${want}`;
      })
      .join("\n") || "it could not be read",
  );
}
