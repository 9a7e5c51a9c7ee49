/**
 * Every kind of file that a project brings: what people call it and what it can do once it is acked. An artifact belongs to the
 * project, which loads whole or not at all. An optional file was written for other agents as well: each has an answer of its own, and
 * one that was denied is left out. One more optional kind is one row here, its content in `optional-file.ts` and its reader in
 * `optional-readers.ts`.
 */
import { memoryTiers } from "#base";
import { type ContextSource, contextSources } from "./context-sources.ts";

interface FileKindRow {
  /** What people call such a file. */
  readonly name: string;
  /** What a file can do once it is acked. */
  readonly power: string;
}

export interface OptionalKindRow extends FileKindRow {
  /** Where such files are found: paths below a folder, with `*` for a part of one name and `**` for any folders, in order. */
  readonly patterns: (options: OptionalPlaces) => readonly string[];
  /** `repository`: in each folder from the root of the repository down to the project. */
  readonly from: "project" | "repository";
  /** Whether a file that is gone may have guarded something, so that its removal needs an ack. */
  readonly guards: boolean;
}

/** What a user chooses about optional files. */
export interface OptionalPlaces {
  /** Whether shell hooks of a project may run; without it nobody is asked about them. */
  readonly projectHooks?: boolean;
  readonly contextSources: readonly ContextSource[];
}

const artifactKinds = {
  config: {
    name: "root file",
    power: "defines who the agent is, which model it uses, and what runs without asking",
  },
  tool: { name: "tool", power: "a script that the model can call" },
  hook: { name: "hook", power: "a script that runs on events, without being called" },
  agent: { name: "agent", power: "an agent that can receive delegated tasks" },
  plugin: { name: "bundle", power: "text for the prompt, with tools and hooks" },
  builtin: { name: "bundle", power: "text for the prompt, with tools and hooks" },
  override: { name: "bundle", power: "text for the prompt, with tools and hooks" },
  context: { name: "context file", power: "text for the prompt" },
  eval: { name: "eval case", power: "calls, rules and scripts that harness eval runs" },
} as const satisfies Readonly<Record<string, FileKindRow>>;

/** In the order in which they are read. */
export const optionalKinds = {
  instructions: {
    name: "context file",
    power: "text for the prompt",
    patterns: (options) => options.contextSources.flatMap((source) => contextSources[source]),
    from: "repository",
    guards: false,
  },
  mcp: {
    name: "list of MCP servers",
    power: "programs and addresses whose tools the agent could call; each of them needs its own approval",
    patterns: () => [".mcp.json"],
    from: "project",
    guards: false,
  },
  skill: {
    name: "skill",
    power: "instructions that the model can load; its scripts run only as ordinary commands",
    // Of two skills with one name the later one counts.
    patterns: () => [".claude/skills/*/SKILL.md", ".agents/skills/*/SKILL.md", ".harness/skills/*/SKILL.md"],
    from: "project",
    guards: false,
  },
  command: {
    name: "slash command",
    power: "a prompt that is sent when somebody types its name; nothing in it is run",
    // Of two commands with one name the later one counts.
    patterns: () => [".claude/commands/**/*.md", ".harness/commands/**/*.md"],
    from: "project",
    guards: false,
  },
  aliases: {
    name: "list of aliases",
    power: "short forms that run its skills, commands and agents when somebody types them",
    patterns: () => [".harness/aliases.toml"],
    from: "project",
    guards: false,
  },
  profile: {
    name: "profile",
    power: "the model, instructions, tools and stricter rules of sessions that are started with it by name",
    patterns: () => [".harness/profiles/*.toml"],
    from: "project",
    guards: false,
  },
  memory: {
    name: "memory",
    power: "text that joins a turn when it matches the input; nothing in it is run",
    patterns: () => memoryTiers.map((tier) => `.harness/memory/${tier}/*.md`),
    from: "project",
    guards: false,
  },
  hooks: {
    name: "shell hooks",
    power: "commands that run on events of the session, in the sandbox",
    patterns: ({ projectHooks }) => (projectHooks === true ? [".harness/hooks.toml", ".claude/settings.json"] : []),
    from: "project",
    guards: true,
  },
  hookScript: {
    name: "script of a shell hook",
    power: "a program that a shell hook of the project runs, in the sandbox",
    // Found in what the hooks name.
    patterns: () => [],
    from: "project",
    guards: true,
  },
} as const satisfies Readonly<Record<string, OptionalKindRow>>;

export type ArtifactKind = Exclude<keyof typeof artifactKinds, "eval">;
export type OptionalKind = keyof typeof optionalKinds;

/** Of everything that somebody can be asked about. */
export const fileKinds: Readonly<Record<keyof typeof artifactKinds | OptionalKind, FileKindRow>> = {
  ...artifactKinds,
  ...optionalKinds,
};

export function isOptionalKind(kind: string): kind is OptionalKind {
  return Object.hasOwn(optionalKinds, kind);
}
