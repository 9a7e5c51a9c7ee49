/**
 * Tools by the names and fields that hooks of Claude Code and Codex know, in both directions. Paths are absolute there. A tool that
 * they do not have keeps its canonical name and its own arguments.
 */

import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "#base";

type Arguments = Readonly<Record<string, unknown>>;

interface Words {
  readonly name: string;
  /** Our field → theirs. A field that is not listed keeps its name. */
  readonly fields: Readonly<Record<string, string>>;
  /** Our fields that hold a path. */
  readonly paths?: readonly string[];
}

const words: Readonly<Record<string, Words>> = {
  exec: { name: "Bash", fields: { timeout_ms: "timeout", background: "run_in_background" } },
  "job.read": { name: "BashOutput", fields: { job: "bash_id" } },
  "job.stop": { name: "KillShell", fields: { job: "shell_id" } },
  plan: { name: "ExitPlanMode", fields: {} },
  "fs.read": { name: "Read", fields: { path: "file_path" }, paths: ["path"] },
  "fs.write": { name: "Write", fields: { path: "file_path" }, paths: ["path"] },
  "fs.edit": {
    name: "Edit",
    fields: { path: "file_path", old_text: "old_string", new_text: "new_string", all: "replace_all" },
    paths: ["path"],
  },
  "fs.glob": { name: "Glob", fields: {}, paths: ["path"] },
  "fs.search": { name: "Grep", fields: { ignore_case: "-i", context: "-C", output: "output_mode" }, paths: ["path"] },
  "fs.list": { name: "LS", fields: {}, paths: ["path"] },
  "web.fetch": { name: "WebFetch", fields: {} },
  delegate: { name: "Task", fields: { agent: "subagent_type", task: "prompt" } },
  delegate_async: { name: "Task", fields: { agent: "subagent_type", task: "prompt" } },
};

/** Names of tools that other agents have and that have no call of ours in them. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  Agent: ["delegate", "delegate_async"],
  AskUserQuestion: ["ask_user"],
  MultiEdit: ["fs.edit"],
  TaskOutput: ["job.read", "task.poll", "task.await"],
  TaskStop: ["job.stop", "task.cancel"],
  TodoWrite: ["todos"],
};

/** The tools that a list of another agent means by a name: `Task`, `mcp__server__tool`. Any other name stands for itself. */
export function ownToolNames(written: string): readonly string[] {
  const named = Object.entries(words).flatMap(([own, { name }]) => (name === written ? [own] : []));
  const known = [...named, ...(Object.hasOwn(otherNames, written) ? (otherNames[written] ?? []) : [])];
  if (known.length > 0) return known;
  const [, rest] = /^mcp__(.+)$/.exec(written) ?? [];
  if (rest === undefined) return [written];
  // Names of servers may have underscores in them.
  const cuts = [...rest.matchAll(/__(?=[^_])/g)].map(({ index }) => index);
  return cuts.length === 0 ? [`mcp.${rest}.*`] : cuts.map((at) => `mcp.${rest.slice(0, at)}.${rest.slice(at + 2)}`);
}

/** Names besides the one that a hook reads: hooks may be written for an older or a newer version of another agent. */
export function otherToolNames(tool: string): readonly string[] {
  return Object.entries(otherNames).flatMap(([name, own]) => (own.includes(tool) ? [name] : []));
}

export interface ForeignCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** `servers` are the names of the MCP servers of the session: none of them has a dot. */
export function foreignCall(tool: string, args: Arguments, root: string, servers: readonly string[]): ForeignCall {
  const known = Object.hasOwn(words, tool) ? words[tool] : undefined;
  if (known === undefined) return { name: serverName(tool, servers) ?? tool, input: args };
  const input = Object.entries(args).map(([field, value]) => {
    const isPath = known.paths?.includes(field) === true && typeof value === "string";
    return [known.fields[field] ?? field, isPath ? resolve(root, value) : value] as const;
  });
  return { name: known.name, input: Object.fromEntries(input) };
}

/** The arguments that `updated` means. What the hook left as it was told is as the call had it, also where that was redacted. */
export function ownArguments(tool: string, args: Arguments, told: Arguments, updated: Arguments): Arguments {
  const known = Object.hasOwn(words, tool) ? words[tool] : undefined;
  const ours = new Map(Object.entries(known?.fields ?? {}).map(([own, theirs]) => [theirs, own]));
  return Object.fromEntries(
    Object.entries(updated).map(([field, value]) => {
      const own = ours.get(field) ?? field;
      const isSame = Object.hasOwn(told, field) && Object.hasOwn(args, own) && isDeepStrictEqual(told[field], value);
      return [own, isSame ? args[own] : value];
    }),
  );
}

/** What a `PostToolUse` hook reads as the tool's response. */
export function foreignResponse({ name, input }: ForeignCall, content: string, isError: boolean): unknown {
  switch (name) {
    case "Bash":
      return { stdout: content, stderr: "", interrupted: false, isImage: false, is_error: isError };
    case "Write":
    case "Edit":
      return { filePath: input.file_path, success: !isError, content };
    case "Read":
      return { type: "text", file: { filePath: input.file_path, content }, is_error: isError };
    default:
      return { content, is_error: isError };
  }
}

/** The text of a response that a hook has changed, in the shape of the tool or of MCP. */
export function ownResponse(updated: unknown): string {
  if (typeof updated === "string") return updated;
  if (Array.isArray(updated)) return updated.map(ownResponse).join("\n");
  if (!isRecord(updated)) return JSON.stringify(updated);
  const { stdout, stderr, file, content, text } = updated;
  if (typeof stdout === "string")
    return [stdout, stderr].filter((part) => typeof part === "string" && part !== "").join("\n");
  if (isRecord(file) && typeof file.content === "string") return file.content;
  if (typeof content === "string" || Array.isArray(content)) return ownResponse(content);
  return typeof text === "string" ? text : JSON.stringify(updated);
}

function serverName(tool: string, servers: readonly string[]): string | undefined {
  const server = servers.find((name) => tool.startsWith(`mcp.${name}.`));
  return server === undefined ? undefined : `mcp__${server}__${tool.slice(`mcp.${server}.`.length)}`;
}
