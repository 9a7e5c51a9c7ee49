/** Files in which a project declares shell hooks: `.harness/hooks.toml`, and the `hooks` of `.claude/settings.json`. */
import { isRecord, jsonIn, messageOf } from "#base";
import type { SourceLocation } from "./project.ts";
import { defineTable, error, type Reader, readTable, required, warning } from "./schema.ts";
import {
  MAX_MATCHER_CHARS,
  MAX_SHELL_HOOK_MS,
  MAX_SHELL_HOOKS,
  makeShellHook,
  type ShellHook,
  shellHookEvent,
} from "./shell-hook.ts";
import { isShellCommand, shellHooksType } from "./shell-hook-table.ts";
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
        const { type, command, timeout } = isRecord(entry) ? entry : {};
        if (type !== undefined && type !== "command") {
          reader.report(
            warning(
              "not-read",
              at(name),
              `Harness runs hooks of type "command" only. It ignores one of type ${JSON.stringify(type)}.`,
            ),
          );
        } else if (typeof command !== "string" || !isShellCommand(command) || !isDeadline(timeout)) {
          wrong(`a hook of "hooks.${name}"`, name);
        } else {
          const { line } = at(command);
          const timeoutMs = timeout === undefined ? undefined : timeout * 1000;
          hooks.push(makeShellHook({ event, command, matcher, timeoutMs, source: `${file}:${line}`, tier: "project" }));
        }
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

function isDeadline(timeout: unknown): timeout is number | undefined {
  if (timeout === undefined) return true;
  return typeof timeout === "number" && timeout > 0 && timeout * 1000 <= MAX_SHELL_HOOK_MS;
}
