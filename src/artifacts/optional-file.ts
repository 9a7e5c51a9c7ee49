/** Optional files of a project as values: what a file of each kind holds. Plain data that goes through JSON unchanged. */
import type { Memory } from "#base";
import type { OptionalKind } from "./file-kinds.ts";
import type { HooksContent } from "./hook-files.ts";
import type { McpServersContent } from "./mcp-json.ts";

/** By kind; what the reader of that kind returns. */
export interface OptionalContents {
  readonly instructions: InstructionsContent;
  readonly mcp: McpServersContent;
  readonly skill: SkillContent;
  readonly command: CommandContent;
  readonly aliases: AliasesContent;
  readonly profile: ProfileContent;
  readonly memory: Memory;
  readonly hooks: HooksContent;
  readonly hookScript: Readonly<Record<never, never>>;
}

/** A context file such as `AGENTS.md`: text for the prompt. */
export interface InstructionsContent {
  /** At most what one context file may take. */
  readonly text: string;
  /** What was cut off its end. */
  readonly cutChars?: number;
  /** Files that it imports with `@path`. They are not followed. */
  readonly imports: readonly string[];
}

/** A `SKILL.md`. */
export interface SkillContent {
  readonly name: string;
  /** On one line. */
  readonly description: string;
  readonly body: string;
  /** Absent: it limits nothing. */
  readonly allowedTools?: readonly string[];
  readonly triggers: { readonly files: readonly string[]; readonly keywords: readonly string[] };
}

/** A slash command in Markdown. */
export interface CommandContent {
  /** As it is typed behind the namespace: `git:commit` for `git/commit.md`. */
  readonly name: string;
  readonly description: string;
  /** The prompt, before arguments are put into it. */
  readonly body: string;
  /** For whoever runs it: what the file asks for and does not get. */
  readonly notices: readonly string[];
}

/** `.harness/aliases.toml`. */
export interface AliasesContent {
  /** By name, what each stands for in the end. */
  readonly targets: Readonly<Record<string, string>>;
}

/** A profile of the project. It says something only in a session that has it, so it is parsed there. */
export interface ProfileContent {
  readonly name: string;
  readonly text: string;
}

/** A file that somebody allowed, in its allowed version. */
export type OptionalFile<Kind extends OptionalKind = OptionalKind> = {
  readonly [Each in Kind]: {
    readonly kind: Each;
    /** As a `SourceLocation.file`. */
    readonly file: string;
    /** SHA-256 of its bytes, hex. */
    readonly hash: string;
    readonly content: OptionalContents[Each];
    /** Absent: the project. */
    readonly origin?: "built-in" | "user";
  };
}[Kind];

/** A file whose version on disk has no effect. */
export interface LeftOutFile {
  readonly kind: OptionalKind;
  readonly file: string;
  readonly why: "denied" | "not-acked" | "broken";
  /** The version that was allowed before is in force instead. */
  readonly earlier: boolean;
}

/** Those of one kind, in the order in which they were found. */
export function optionalFiles<Kind extends OptionalKind>(
  { optional }: { readonly optional: readonly OptionalFile[] },
  kind: Kind,
): readonly OptionalFile<Kind>[] {
  // The kind says what the rest is; the compiler does not follow that for a kind that is a parameter.
  return optional.filter((file) => file.kind === kind) as unknown as readonly OptionalFile<Kind>[];
}
