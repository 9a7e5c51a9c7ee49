/**
 * The tools of servers as they were last approved, a file for each entry: what is offered before a server is connected, and what its
 * list is compared with afterwards. Values of variables and headers are not part of an entry's name here.
 */
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { McpServer } from "#artifacts";
import { canonicalHash, canonicalJson, ifThere, isRecord, messageOf, type ServerPrompt } from "#base";
import { makePrivateDirectory, writePrivateFile } from "#world";
import type { McpLog } from "./mcp-world.ts";
import { readPrompts } from "./prompt-list.ts";
import type { ListedTool } from "./tool-list.ts";

const FORMAT = 1;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FILES = 500;
const FILE_NAME = /^[0-9a-f]{64}\.json$/;

/** What a server has besides its tools. Nobody has to approve it: people ask for it by name, and it is never offered as a tool. */
export interface KeptBesides {
  readonly hasResources: boolean;
  /** Absent where it offers none at all. */
  readonly prompts?: readonly ServerPrompt[];
}

export interface KeptTools extends Partial<KeptBesides> {
  readonly approved: readonly ListedTool[];
  /** As the server lists them, where that is not what was approved. */
  readonly waiting: readonly ListedTool[];
  /** Names of those that were approved and that the server no longer lists. */
  readonly absent: readonly string[];
}

export interface ToolKeeper {
  /** Undefined where nothing was kept. What cannot be read counts as approved by nobody. */
  read(server: McpServer): KeptTools | undefined;
  /** Says in the log when it cannot. */
  write(server: McpServer, kept: KeptTools): void;
}

/** Of a program that keeps nothing. */
export const keepsNothing: ToolKeeper = { read: () => undefined, write: () => undefined };

/** Undefined: there is no folder to keep them in. */
export function createToolKeeper(directory: string | undefined, log: McpLog): ToolKeeper {
  if (directory === undefined) return keepsNothing;
  const fileOf = (server: McpServer): string => join(directory, `${entryHash(server)}.json`);
  return {
    read(server) {
      try {
        const text = ifThere(() => readFileSync(fileOf(server), "utf8"));
        return text === undefined ? undefined : parse(text);
      } catch (error) {
        log(
          "error",
          `${server.name}: ${fileOf(server)} cannot be read, so none of its tools is approved: ${messageOf(error)}`,
        );
        return { approved: [], waiting: [], absent: [] };
      }
    },
    write(server, kept) {
      const { name } = server;
      try {
        makePrivateDirectory(directory);
        const text = JSON.stringify({ format: FORMAT, name, ...kept });
        if (Buffer.byteLength(text) > MAX_BYTES) throw new Error(`its tools take more than ${MAX_BYTES} bytes`);
        writePrivateFile(fileOf(server), text, { durable: false });
        removeOldest(directory);
      } catch (error) {
        log("warn", `${name}: its tools could not be kept in ${fileOf(server)}: ${messageOf(error)}`);
      }
    },
  };
}

/** What is done with its tools, and which version of its program was approved: neither makes it another server. */
const PASSING = new Set(
  "startupTimeoutMs toolTimeoutMs discovery enabledTools disabledTools readOnlyTools sampling pin declaredIn writable sha256".split(
    " ",
  ),
);

/** What decides which tools a server lists and who it is. Of variables and headers the names alone: values may be secret. */
function entryHash({ connection, ...rest }: McpServer): string {
  const lasting = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([key]) => !PASSING.has(key)));
  const named =
    connection.kind === "stdio"
      ? { env: Object.keys(connection.env).toSorted() }
      : { headers: Object.keys(connection.headers).toSorted() };
  return canonicalHash({ ...lasting(rest), connection: { ...lasting(connection), ...named } });
}

function parse(text: string): KeptTools {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || value.format !== FORMAT) throw new Error("it has another format");
  const { approved, waiting, absent } = value;
  if (!areTools(approved) || !areTools(waiting) || !Array.isArray(absent)) throw new Error("it is damaged");
  const { hasResources, prompts } = value;
  const read = readPrompts(() => undefined);
  if (Array.isArray(prompts)) read.add(prompts.map(asListed));
  const besides = { hasResources: hasResources === true, ...(Array.isArray(prompts) && { prompts: read.prompts() }) };
  return { approved, waiting, absent: absent.map(String), ...besides };
}

/** As a server would list it, so that one reader checks both. */
function asListed(prompt: unknown): unknown {
  if (!isRecord(prompt) || !Array.isArray(prompt.args)) return undefined;
  const args = prompt.args.map((arg) => (isRecord(arg) ? { name: arg.name, required: arg.isRequired } : undefined));
  return { name: prompt.name, description: prompt.description, arguments: args };
}

/** Written by this program after every check; a file that somebody has edited is still a list of tools. */
function areTools(value: unknown): value is readonly ListedTool[] {
  return Array.isArray(value) && value.every(isTool);
}

function isTool(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value.name === "string" &&
    typeof value.description === "string" &&
    isRecord(value.inputSchema)
  );
}

/** Entries that nobody uses any more would stay for ever. */
function removeOldest(directory: string): void {
  const names = readdirSync(directory).filter((name) => FILE_NAME.test(name));
  if (names.length <= MAX_FILES) return;
  const files = names.map((name) => {
    const path = join(directory, name);
    return { path, changedMs: ifThere(() => statSync(path))?.mtimeMs ?? 0 };
  });
  const oldest = files.toSorted((a, b) => a.changedMs - b.changedMs).slice(0, names.length - MAX_FILES);
  for (const { path } of oldest) rmSync(path, { force: true });
}

/** The same words and schemas, in whatever order the server wrote the keys. */
export function isSameTool(one: ListedTool, other: ListedTool): boolean {
  return one === other || canonicalJson(one) === canonicalJson(other);
}
