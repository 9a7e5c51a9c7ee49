/** The part of the gate for MCP servers: the call is the effect and was judged as that, so it reaches what it names and nothing else. */
import {
  EffectError,
  GET_PROMPT_TOOL,
  promptReference,
  READ_RESOURCE_TOOL,
  RESOURCES_TOOL,
  resourceReference,
  type ServerPort,
  serverToolName,
} from "#base";
import type { ToolCall } from "#engine";

/** `admit` checks the ticket and records the effect; what it rejects with refuses the request. */
export function gatedServers(
  servers: ServerPort,
  { tool, args }: ToolCall,
  admit: (target: string) => Promise<void>,
): ServerPort {
  /** By the judged name and the judged arguments. */
  async function pass(isJudged: boolean, target: string): Promise<void> {
    if (!isJudged) throw new EffectError("AccessDenied", `${tool.name} may not ask a server for anything else`);
    await admit(target);
  }
  return {
    async call(request, signal) {
      const name = serverToolName(request.server, request.tool);
      await pass(name === tool.name && request.args === args, name);
      return servers.call(request, signal);
    },
    async resources(server, timeoutMs, signal) {
      const isNamed = args.server === undefined || args.server === server;
      await pass(tool.name === RESOURCES_TOOL && isNamed, `${RESOURCES_TOOL} ${server}`);
      return servers.resources(server, timeoutMs, signal);
    },
    async read(request, signal) {
      const { server, uri } = request;
      const isJudged = tool.name === READ_RESOURCE_TOOL && args.server === server && args.uri === uri;
      await pass(isJudged, resourceReference(server, uri));
      return servers.read(request, signal);
    },
    async prompt(request, signal) {
      const { server, prompt } = request;
      const isJudged = tool.name === GET_PROMPT_TOOL && args.server === server && args.prompt === prompt;
      await pass(isJudged && args.arguments === request.args, promptReference(server, prompt));
      return servers.prompt(request, signal);
    },
    async complete(completion, signal) {
      const { server, of } = completion;
      const isPrompt = "prompt" in of;
      const named = isPrompt ? args.prompt === of.prompt : args.uri === of.template;
      const isJudged =
        tool.name === (isPrompt ? GET_PROMPT_TOOL : READ_RESOURCE_TOOL) && args.server === server && named;
      await pass(isJudged, isPrompt ? promptReference(server, of.prompt) : resourceReference(server, of.template));
      return servers.complete(completion, signal);
    },
  };
}
