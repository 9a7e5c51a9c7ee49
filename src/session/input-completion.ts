/**
 * What can stand in the place of an input that somebody types: slash commands and their arguments, prompts of MCP servers,
 * `@server:uri`, and files of the workspace behind `@`. Servers are asked for values and resources if they are connected, with what was typed there and nothing else. It is
 * no call of the agent: nothing of it reaches the conversation.
 */
import type { ServerResource } from "#base";
import type { Redaction, SlashRegistry } from "#engine";
import { completeSlash, type SlashCommand, typedWord } from "#protocol";
import type { CompletePath } from "./path-completion.ts";
import type { SessionServers } from "./servers.ts";

const MAX_LINES = 100;
/** The word that a line ends with, as mentions are read: in quotes when it has blanks. */
const MENTION = /(?:^|[\s([{"'`,])@("[^"\n]*|[^\s@"'`]*)$/;

export interface InputCompletionParts {
  readonly slash: SlashRegistry;
  readonly servers: Pick<SessionServers, "complete" | "prompts" | "resources" | "states">;
  readonly redaction: Pick<Redaction, "output">;
  readonly paths: CompletePath;
  /** What `/model` can name. */
  models(): readonly string[];
}

/** Whole inputs, at most 100, best first. */
export type CompleteInput = (text: string, signal: AbortSignal) => Promise<readonly string[]>;

export function createInputCompletion({ slash, servers, redaction, ...from }: InputCompletionParts): CompleteInput {
  async function complete(text: string, signal: AbortSignal): Promise<readonly string[]> {
    const mention = MENTION.exec(text)?.[1];
    if (mention !== undefined) {
      const before = text.slice(0, text.length - mention.length);
      return (await mentions(mention, signal)).map((word) => before + word);
    }
    if (/^\/\S*$/.test(text)) return completeSlash(text, slash.rows());
    const [, word = ""] = /^\/(\S+)\s/.exec(text) ?? [];
    const command = slash.rows().find((one) => typedWord(one) === word);
    return command === undefined ? [] : values(command, text, signal);
  }

  /** Of the argument that the line ends with. */
  async function values(command: SlashCommand, text: string, signal: AbortSignal): Promise<readonly string[]> {
    const typed = typedArguments(command, text);
    if (typed === undefined) return [];
    const { name, value, others, isLast } = typed;
    const before = text.slice(0, text.length - value.length);
    const isModel = typedWord(command) === "model";
    const known = isModel ? from.models() : command.args_schema.properties[name]?.enum;
    if (known !== undefined) return known.filter((one) => one.startsWith(value)).map((one) => before + one);
    const [, server = "", prompt = ""] = /^([^:]+):(.+)$/.exec(command.name) ?? [];
    const isPrompt =
      command.namespace === "mcp" &&
      servers.prompts().some((one) => one.server === server && one.prompts.some((listed) => listed.name === prompt));
    if (!isPrompt || isSecret([value, ...Object.values(others)])) return [];
    const found = await servers.complete({ server, of: { prompt }, argument: name, value, others }, signal);
    // Only the last argument may have blanks in it.
    return found.filter((one) => one !== "" && (isLast || !/\s/.test(one))).map((one) => before + one);
  }

  async function mentions(typed: string, signal: AbortSignal): Promise<readonly string[]> {
    const [, server, uri = ""] = /^([a-z0-9][a-z0-9_-]{0,31}):(.*)$/.exec(typed) ?? [];
    if (server === undefined || !readyServers().includes(server)) {
      const names = readyServers().filter((name) => name.startsWith(typed));
      const paths = await from.paths(typed.replace(/^"/, ""), MAX_LINES, signal);
      return [...names.map((name) => `${name}:`), ...paths.map(quotedPath)];
    }
    const listed = await servers.resources(server, signal);
    const uris = listed.filter((one) => !one.isTemplate && one.uri.startsWith(uri)).map((one) => one.uri);
    if (uris.length > 0 || isSecret([uri])) return uris.map((one) => `${server}:${one}`);
    for (const template of listed) {
      const open = template.isTemplate ? openVariable(template, uri) : undefined;
      if (open === undefined) continue;
      const of = { template: template.uri };
      const found = await servers.complete({ server, of, ...open, others: {} }, signal);
      if (found.length > 0) return found.map((one) => `${server}:${open.before}${encodeURIComponent(one)}`);
    }
    return [];
  }

  function readyServers(): readonly string[] {
    return servers.states().flatMap(({ name, state }) => (state === "ready" ? [name] : []));
  }

  /** It would leave for the server. */
  function isSecret(typed: readonly string[]): boolean {
    const content = [{ type: "text" as const, text: typed.join("\n") }];
    return redaction.output(content) !== content;
  }

  return async (text, signal) => {
    const found = (await complete(text, signal)).slice(0, MAX_LINES);
    const content = found.map((line) => ({ type: "text" as const, text: line }));
    return redaction.output(content).flatMap((block) => (block.type === "text" ? [block.text] : []));
  };
}

/** As a mention has to be written to end where the path does. */
function quotedPath(path: string): string {
  return /[\s@'`]/.test(path) ? `"${path}"` : path;
}

interface TypedArguments {
  readonly name: string;
  readonly value: string;
  readonly others: Readonly<Record<string, string>>;
  readonly isLast: boolean;
}

/** As `parseSlash` reads them. Undefined: there are more words than arguments. */
function typedArguments({ args_schema }: SlashCommand, text: string): TypedArguments | undefined {
  const names = Object.keys(args_schema.properties);
  let left = text.replace(/^\/\S+\s+/, "");
  const others: [string, string][] = [];
  for (const [index, name] of names.entries()) {
    const isLast = index === names.length - 1;
    const [whole, value = ""] = /^(\S*)\s+/.exec(left) ?? [];
    if (isLast || whole === undefined) return { name, value: left, others: Object.fromEntries(others), isLast };
    others.push([name, value]);
    left = left.slice(whole.length);
  }
  return undefined;
}

/** The first variable of a template, where what was typed is a beginning of it. */
function openVariable({ uri: template }: ServerResource, uri: string) {
  const [, before = "", argument] = /^([^{]*)\{([A-Za-z_][\w.]*)\}/.exec(template) ?? [];
  if (argument === undefined || before === "" || !uri.startsWith(before)) return undefined;
  return { before, argument, value: uri.slice(before.length) };
}
