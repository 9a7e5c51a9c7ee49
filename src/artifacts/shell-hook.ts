/**
 * Shell hooks: commands of the user or of a project that Harness runs at six points of a session. Plain data; what a hook is told
 * and what its answer means is decided where it is run.
 */

import { defined } from "#base";
import { hookScripts } from "./hook-scripts.ts";

/** The time that a hook of this event has where it names none. */
export const shellHookDeadlinesMs = {
  SessionStart: 5_000,
  UserPromptSubmit: 5_000,
  PreToolUse: 30_000,
  PostToolUse: 30_000,
  Compact: 60_000,
  Stop: 5_000,
} as const;

export type ShellHookEvent = keyof typeof shellHookDeadlinesMs;

export const shellHookEvents = Object.keys(shellHookDeadlinesMs) as readonly ShellHookEvent[];

/** The same event by the name that other agents give it. */
const ALIASES: Readonly<Record<string, ShellHookEvent>> = { PreCompact: "Compact" };

export function shellHookEvent(written: string): ShellHookEvent | undefined {
  return (
    shellHookEvents.find((event) => event === written) ??
    (Object.hasOwn(ALIASES, written) ? ALIASES[written] : undefined)
  );
}

/** Of one file; more is a mistake, or a flood. */
export const MAX_SHELL_HOOKS = 100;
export const MAX_SHELL_HOOK_MS = 600_000;
export const MAX_SHELL_COMMAND_CHARS = 8_192;
export const MAX_MATCHER_CHARS = 1_000;

export interface ShellHook {
  readonly event: ShellHookEvent;
  /** For a shell. */
  readonly command: string;
  /** Which tools, as a regular expression; absent: all. For other events: which source or trigger. */
  readonly matcher?: string;
  /** A permission rule: of the calls that the matcher names, those that it may cover. */
  readonly condition?: string;
  readonly timeoutMs: number;
  /** What a failure means; only `PreToolUse` blocks. */
  readonly onError: "block" | "allow";
  /** `file:line`. */
  readonly source: string;
  /** `user`: the owner's own file. `project`: a file of the workspace, which needs an ack and the user's permission. */
  readonly tier: "user" | "project";
  /** Files of the workspace that the command runs, as far as it says so. They need not be there. */
  readonly scripts: readonly string[];
}

/** A hook as a file declares it, with the defaults of its event. */
export function makeShellHook(
  given: Pick<ShellHook, "event" | "command" | "source" | "tier"> &
    Partial<{
      matcher: string | undefined;
      condition: string | undefined;
      timeoutMs: number | undefined;
      onError: ShellHook["onError"] | undefined;
    }>,
): ShellHook {
  const { event, command, source, tier, matcher, condition, timeoutMs, onError } = given;
  return {
    event,
    command,
    source,
    tier,
    // `*` and nothing are two ways to say all.
    ...(matcher === undefined || matcher === "" || matcher === "*" ? {} : { matcher }),
    ...defined({ condition }),
    timeoutMs: timeoutMs ?? shellHookDeadlinesMs[event],
    onError: onError ?? (event === "PreToolUse" ? "block" : "allow"),
    scripts: hookScripts(command),
  };
}

/** Events that are about a call of a tool. */
export function isAboutTool(event: ShellHookEvent): boolean {
  return event === "PreToolUse" || event === "PostToolUse";
}

const PLAIN_WORD = /^[\w@%+:,./-]+$/;

/** A program with its arguments, which no shell reads, as a command for a shell. Only the folder of the project is filled in. */
export function commandOfWords(words: readonly string[]): string {
  // With exec, a word never stands for something that the shell itself does.
  return [
    "exec",
    ...words.map(
      (word) =>
        word
          .split(/\$\{CLAUDE_PROJECT_DIR\}/)
          .map(quoted)
          .join(PROJECT_DIR) || "''",
    ),
  ].join(" ");
}

const PROJECT_DIR = '"$CLAUDE_PROJECT_DIR"';

function quoted(text: string): string {
  if (text === "" || PLAIN_WORD.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
