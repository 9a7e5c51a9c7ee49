/**
 * What can stand in the place of an input that somebody types: slash commands and their arguments, prompts of MCP servers,
 * `@server:uri`, and files of the workspace behind `@`. Servers are asked for values and resources if they are connected, with what was
 * typed there and nothing else. What is looked up passes the gate; nothing of it reaches the conversation.
 */
import {
  EffectError,
  GET_PROMPT_TOOL,
  READ_RESOURCE_TOOL,
  RESOURCES_TOOL,
  type ServerCompletion,
  type ServerResource,
} from "#base";
import type { Redaction, SlashRegistry } from "#engine";
import type { LookUp } from "#governance";
import { type ClientId, completeSlash, type SlashCommand, typedWord } from "#protocol";
import type { CompletePath } from "./path-completion.ts";
import type { SessionServers } from "./servers.ts";

const MAX_LINES = 100;
/** What comes later than the next key is of no use. */
const LIST_MS = 2_000;
/** The word that a line ends with, as mentions are read: in quotes when it has blanks. */
const MENTION = /(?:^|[\s([{"'`,])@("[^"\n]*|[^\s@"'`]*)$/;

export interface InputCompletionParts {
  readonly slash: SlashRegistry;
  readonly servers: Pick<SessionServers, "prompts" | "states">;
  readonly lookUp: LookUp;
  readonly redaction: Pick<Redaction, "output">;
  readonly paths: CompletePath;
  /** What `/model` can name. */
  models(): readonly string[];
}

/** Whole inputs, at most 100, best first. */
export type CompleteInput = (text: string, by: ClientId) => Promise<readonly string[]>;

export function createInputCompletion({
  slash,
  servers,
  redaction,
  lookUp,
  ...from
}: InputCompletionParts): CompleteInput {
  async function complete(text: string, by: ClientId): Promise<readonly string[]> {
    const mention = MENTION.exec(text)?.[1];
    if (mention !== undefined) {
      const before = text.slice(0, text.length - mention.length);
      return (await mentions(mention, by)).map((word) => before + word);
    }
    if (/^\/\S*$/.test(text)) return completeSlash(text, slash.rows());
    const [, word = ""] = /^\/(\S+)\s/.exec(text) ?? [];
    const command = slash.rows().find((one) => typedWord(one) === word);
    return command === undefined ? [] : values(command, text, by);
  }

  /** Of the argument that the line ends with. */
  async function values(command: SlashCommand, text: string, by: ClientId): Promise<readonly string[]> {
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
    const found = await completed({ server, of: { prompt }, argument: name, value, others }, by);
    // Only the last argument may have blanks in it.
    return found.filter((one) => one !== "" && (isLast || !/\s/.test(one))).map((one) => before + one);
  }

  async function mentions(typed: string, by: ClientId): Promise<readonly string[]> {
    const [, server, uri = ""] = /^([a-z0-9][a-z0-9_-]{0,31}):(.*)$/.exec(typed) ?? [];
    if (server === undefined || !readyServers().includes(server)) {
      const names = readyServers().filter((name) => name.startsWith(typed));
      const paths = await from.paths(typed.replace(/^"/, ""), MAX_LINES, by);
      return [...names.map((name) => `${name}:`), ...paths.map(quotedPath)];
    }
    const listed = await resources(server, by);
    const uris = listed.filter((one) => !one.isTemplate && one.uri.startsWith(uri)).map((one) => one.uri);
    if (uris.length > 0 || isSecret([uri])) return uris.map((one) => `${server}:${one}`);
    for (const template of listed) {
      const open = template.isTemplate ? openVariable(template, uri) : undefined;
      if (open === undefined) continue;
      const of = { template: template.uri };
      const found = await completed({ server, of, ...open, others: {} }, by);
      if (found.length > 0) return found.map((one) => `${server}:${open.before}${encodeURIComponent(one)}`);
    }
    return [];
  }

  async function completed(completion: ServerCompletion, by: ClientId): Promise<readonly string[]> {
    const { server, of, argument, value, others } = completion;
    const lookup =
      "prompt" in of
        ? { tool: GET_PROMPT_TOOL, args: { server, prompt: of.prompt, arguments: { ...others, [argument]: value } } }
        : { tool: READ_RESOURCE_TOOL, args: { server, uri: of.template } };
    return (await lookUp({ ...lookup, by }, (ports, signal) => ports.servers.complete(completion, signal))) ?? [];
  }

  async function resources(server: string, by: ClientId): Promise<readonly ServerResource[]> {
    try {
      const lookup = { tool: RESOURCES_TOOL, args: { server }, by };
      return (await lookUp(lookup, ({ servers: port }, signal) => port.resources(server, LIST_MS, signal))) ?? [];
    } catch (error) {
      if (error instanceof EffectError) return []; // slow or gone: nothing is offered
      throw error;
    }
  }

  function readyServers(): readonly string[] {
    return servers.states().flatMap(({ name, state }) => (state === "ready" ? [name] : []));
  }

  /** It would leave for the server. */
  function isSecret(typed: readonly string[]): boolean {
    const content = [{ type: "text" as const, text: typed.join("\n") }];
    return redaction.output(content) !== content;
  }

  return async (text, by) => {
    const found = (await complete(text, by)).slice(0, MAX_LINES);
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
