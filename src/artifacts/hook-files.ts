/** Files in which a project declares shell hooks: `.harness/hooks.toml`, and the `hooks` of `.claude/settings.json`. */
import { isRecord, jsonIn, messageOf } from "#base";
import type { SourceLocation } from "./project.ts";
import { defineTable, error, type Reader, readTable, required, warning } from "./schema.ts";
import {
  commandOfWords,
  isAboutTool,
  MAX_MATCHER_CHARS,
  MAX_SHELL_HOOK_MS,
  MAX_SHELL_HOOKS,
  makeShellHook,
  type ShellHook,
  type ShellHookEvent,
  shellHookEvent,
} from "./shell-hook.ts";
import { isHookCondition, isShellCommand, shellHooksType } from "./shell-hook-table.ts";
import { parseToml } from "./toml-tree.ts";

export interface HooksContent {
  readonly hooks: readonly ShellHook[];
}

const fileTable = defineTable(
  "hooks.toml",
  "Shell hooks of a project. They run only with `--allow-project-hooks`, after an ack.",
).of({ hooks: required(shellHooksType("project")).means("A list of tables: `[[hooks]]`.") });

export function readHooksFile(text: string, reader: Reader): HooksContent | undefined {
  return reader.file.endsWith(".json") ? readClaudeSettings(text, reader) : readToml(text, reader);
}

function readToml(text: string, reader: Reader): HooksContent | undefined {
  try {
    const { root } = parseToml(reader.file, text);
    return { hooks: readTable(fileTable, root, reader).values.hooks ?? [] };
  } catch (cause) {
    return reader.report(error("not-toml", { file: reader.file, line: 1, column: 1 }, messageOf(cause)));
  }
}

/** No position is kept by the parser: a command is shown where its text first stands. */
function readClaudeSettings(text: string, reader: Reader): HooksContent | undefined {
  const { file } = reader;
  const at = (written?: string): SourceLocation => {
    const index = written === undefined ? 0 : Math.max(0, text.indexOf(JSON.stringify(written)));
    return { file, line: text.slice(0, index).split("\n").length, column: 1 };
  };
  const settings = jsonIn(text);
  if (!isRecord(settings)) return reader.report(error("not-json", at(), "The file is not a JSON object."));
  const { hooks: byEvent = {}, ...others } = settings;
  if (Object.keys(others).length > 0) {
    const message = `Harness reads only "hooks" of this file. It ignores: ${Object.keys(others).slice(0, 20).join(", ")}.`;
    reader.report(warning("not-read", at(), message));
  }
  const hooks: ShellHook[] = [];
  const wrong = (what: string, written?: string): void =>
    reader.report(error("wrong-value", at(written), `${what} is not valid here.`, { expected: SHAPE }));
  if (!isRecord(byEvent)) wrong('"hooks"');
  for (const [name, groups] of Object.entries(isRecord(byEvent) ? byEvent : {})) {
    const event = shellHookEvent(name);
    if (event === undefined) {
      reader.report(warning("not-read", at(name), `Harness has no event ${name}. It ignores its hooks.`));
      continue;
    }
    if (!Array.isArray(groups)) wrong(`"hooks.${name}"`, name);
    for (const group of Array.isArray(groups) ? groups : []) {
      const { matcher = "", hooks: entries } = isRecord(group) ? group : {};
      if (typeof matcher !== "string" || matcher.length > MAX_MATCHER_CHARS || !Array.isArray(entries)) {
        wrong(`an entry of "hooks.${name}"`, name);
        continue;
      }
      for (const entry of entries) {
        const fields = isRecord(entry) ? entry : {};
        const ignored = ignoredIn(fields, event);
        if (ignored !== undefined) reader.report(warning("not-read", at(name), ignored));
        if (!isRun(fields, event)) continue;
        const command = commandOf(fields);
        const { timeout, if: condition } = fields;
        if (command === undefined || !isDeadline(timeout) || !isCondition(condition)) {
          wrong(`a hook of "hooks.${name}"`, name);
          continue;
        }
        const { line } = at(typeof fields.command === "string" ? fields.command : undefined);
        const timeoutMs = timeout === undefined ? undefined : timeout * 1000;
        const source = `${file}:${line}`;
        hooks.push(makeShellHook({ event, command, matcher, condition, timeoutMs, source, tier: "project" }));
      }
    }
  }
  if (hooks.length <= MAX_SHELL_HOOKS) return { hooks };
  return reader.report(
    error("wrong-length", at(), `There are ${hooks.length} hooks.`, { expected: `at most ${MAX_SHELL_HOOKS}` }),
  );
}

const SHAPE =
  '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "…", "timeout": 30}]}]}}';

type Entry = Readonly<Record<string, unknown>>;

/** Other agents do not run a hook with a condition on an event that is about no tool. */
function isRun({ type, if: condition }: Entry, event: ShellHookEvent): boolean {
  return (type === undefined || type === "command") && (condition === undefined || isAboutTool(event));
}

/** What is different here from what the author of a hook wrote, for people. */
function ignoredIn(entry: Entry, event: ShellHookEvent): string | undefined {
  const { type, shell, if: condition } = entry;
  if (type !== undefined && type !== "command") {
    return `Harness runs hooks of type "command" only. It ignores one of type ${JSON.stringify(type)}.`;
  }
  if (condition !== undefined && !isAboutTool(event)) return `A hook of ${event} with "if" never runs.`;
  if (entry.async === true || entry.asyncRewake === true) return "Harness waits for a hook with async.";
  if (entry.once === true) return "Harness runs a hook with once each time.";
  if (shell !== undefined && shell !== "bash") return `Harness runs hooks in Bash, not in ${JSON.stringify(shell)}.`;
  return undefined;
}

/** With `args`, other agents start the program without a shell. */
function commandOf({ command, args }: Entry): string | undefined {
  if (typeof command !== "string") return undefined;
  if (args === undefined) return isShellCommand(command) ? command : undefined;
  if (command.trim() === "" || command.startsWith("-") || !Array.isArray(args)) return undefined;
  if (!args.every((arg): arg is string => typeof arg === "string")) return undefined;
  const whole = commandOfWords([command, ...args]);
  return isShellCommand(whole) ? whole : undefined;
}

function isDeadline(timeout: unknown): timeout is number | undefined {
  if (timeout === undefined) return true;
  return typeof timeout === "number" && timeout > 0 && timeout * 1000 <= MAX_SHELL_HOOK_MS;
}

function isCondition(condition: unknown): condition is string | undefined {
  return condition === undefined || (typeof condition === "string" && isHookCondition(condition));
}
