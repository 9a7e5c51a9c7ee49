/** `[[hooks]]` of `config.toml` and of `.harness/hooks.toml`: commands that run at points of a session. */
import {
  choice,
  defineTable,
  error,
  type FieldType,
  field,
  flag,
  integer,
  list,
  nearestTo,
  nested,
  type Reader,
  required,
  type TableValues,
  textThat,
  wrongValue,
} from "./schema.ts";
import {
  isAboutTool,
  MAX_MATCHER_CHARS,
  MAX_SHELL_COMMAND_CHARS,
  MAX_SHELL_HOOK_MS,
  MAX_SHELL_HOOKS,
  makeShellHook,
  type ShellHook,
  type ShellHookEvent,
  shellHookEvent,
  shellHookEvents,
} from "./shell-hook.ts";

const event: FieldType<ShellHookEvent> = {
  shown: shellHookEvents.map((name) => `\`${name}\``).join(", "),
  read(tree, reader) {
    const written = tree.kind === "scalar" ? String(tree.value) : "";
    const found = shellHookEvent(written);
    if (found === undefined) reader.report({ ...wrongValue(tree, this.shown), ...nearestTo(written, shellHookEvents) });
    return found;
  },
};

const command = textThat(`command of at most ${MAX_SHELL_COMMAND_CHARS} characters`, isShellCommand);

export function isShellCommand(text: string): boolean {
  return text.trim() !== "" && text.length <= MAX_SHELL_COMMAND_CHARS && !text.includes("\0");
}

const hookTable = defineTable(
  "Shell hook",
  "A command that Harness runs at a point of the session: see [shell hooks](../guide/shell-hooks.md). It gets JSON on standard input and answers with its exit code or with JSON, as hooks of Claude Code and Codex do. It runs in the *workspace* confinement.",
).of({
  event: required(event).means("When the command runs. `PreCompact` is another name of `Compact`."),
  cmd: field(command).means("The command, for Bash. Either this or `command`."),
  command: field(command).means("The same as `cmd`."),
  matcher: field(
    textThat(
      `regular expression of at most ${MAX_MATCHER_CHARS} characters`,
      (text) => text.length <= MAX_MATCHER_CHARS,
    ),
    "every tool",
  ).means(
    "The tools that a `PreToolUse` or `PostToolUse` hook runs for: `Bash`, `Edit|Write`, `mcp__.*`, or the canonical name (`exec`). RE2 syntax. For `SessionStart`, the source (`startup`, `resume`).",
  ),
  if: field(
    textThat(`permission rule of at most ${MAX_MATCHER_CHARS} characters`, isHookCondition),
    "every call",
  ).means(
    "A [permission rule](permissions.md) such as `Bash(git push *)`: of the calls that `matcher` names, a `PreToolUse` or `PostToolUse` hook runs for those that the rule may cover, in any part of a command. If Harness cannot tell, the hook runs.",
  ),
  timeout_ms: field(
    integer(1, MAX_SHELL_HOOK_MS),
    "5000; 30000 for `PreToolUse` and `PostToolUse`; 60000 for `Compact`",
  ).means(
    "The deadline. At the deadline Harness sends SIGTERM to the whole process group, and SIGKILL 5 seconds later.",
  ),
  on_error: field(choice("block", "allow"), "`block` for `PreToolUse`, else `allow`").means(
    "What happens if the command fails, times out or gives no clear answer. Only a `PreToolUse` hook can block. `allow` lets the call pass with a warning.",
  ),
});

function toShellHook(
  { values, place }: TableValues<typeof hookTable.fields>,
  reader: Reader,
  tier: ShellHook["tier"],
): ShellHook | undefined {
  const { cmd, command: long = cmd, event: on } = values;
  if (cmd !== undefined && long !== cmd) {
    return reader.report(
      error("wrong-value", place, "cmd and command name two different commands.", { expected: "one of them" }),
    );
  }
  if (long === undefined) {
    return reader.report(
      error("missing-key", place, `${hookTable.title}: "cmd" is missing.`, { expected: command.shown }),
    );
  }
  if (on === undefined) return undefined;
  const source = `${place.file}:${place.line}`;
  const { matcher, if: condition, timeout_ms: timeoutMs, on_error: onError } = values;
  if (condition !== undefined && !isAboutTool(on)) {
    return reader.report(
      error("wrong-value", place, `"if" is about calls of tools, and ${on} is not.`, {
        expected: "a PreToolUse or PostToolUse hook",
      }),
    );
  }
  return makeShellHook({ event: on, command: long, source, tier, matcher, condition, timeoutMs, onError });
}

export function isHookCondition(text: string): boolean {
  return text.trim() !== "" && text.length <= MAX_MATCHER_CHARS;
}

export function shellHooksType(tier: ShellHook["tier"]): FieldType<readonly ShellHook[]> {
  return list(
    nested(hookTable, (read, reader) => toShellHook(read, reader, tier)),
    { max: MAX_SHELL_HOOKS },
  );
}

/** Of `config.toml`. */
export const shellHookFields = {
  hooks: field(shellHooksType("user"), "`[]`").means(
    "Commands that run at points of every session, as a list of tables: `[[hooks]]`.",
  ),
  allow_project_hooks: field(flag, "`false`").means(
    "If true, the shell hooks of a project run after you acked the files that declare them. The same as `--allow-project-hooks`.",
  ),
} as const;
