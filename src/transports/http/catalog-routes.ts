/** Routes about the server itself: handshake, health, what it offers, and its description. */
import { answerHandshake } from "./handshake.ts";
import type { Route } from "./route.ts";

export const catalogRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/handshake",
    summary: "What the server speaks; before the first command; each is another client",
    handshake: false,
    query: { protocol_version: "The version that the client speaks; one that the server does not is refused." },
    answers: { 200: "The handshake, with the client that further requests can name." },
    async handle({ principal, query }) {
      const handshake = answerHandshake(query.get("protocol_version"));
      principal.shakeHands();
      return { status: 200, body: { ...handshake, client: principal.remember() } };
    },
  },
  {
    method: "GET",
    path: "/v1/health",
    summary: "Liveness, version, state of each part and counters; degraded when a part does not work",
    handshake: false,
    answers: { 200: "{ status, version, … }" },
    handle: async ({ health }) => ({ status: 200, body: await health() }),
  },
  list("/v1/tools", "tools", "Registered tools with their schemas", ({ backend }) =>
    backend.tools().map(({ name, label, class: toolClass, description, parameters }) => {
      return { name, label, class: toolClass, description, parameters };
    }),
  ),
  list("/v1/providers", "providers", "Providers and the models known of them", ({ backend }) => backend.providers()),
  list("/v1/slash-commands", "slash_commands", "Commands that a person can type", ({ backend }) =>
    backend.slashCommands(),
  ),
  list("/v1/profiles", "profiles", "Profiles; none in this version", () => []),
  list("/v1/skills", "skills", "Skills; none in this version", () => []),
  list(
    "/v1/mcp/servers",
    "servers",
    "MCP servers of open sessions, and those that no session has started",
    ({ backend }) => backend.servers(),
  ),
];

function list(
  path: string,
  name: string,
  summary: string,
  items: (call: Parameters<Route["handle"]>[0]) => readonly unknown[],
): Route {
  return {
    method: "GET",
    path,
    summary,
    handshake: false,
    answers: { 200: `{ ${name}: […] }` },
    handle: async (call) => ({ status: 200, body: { [name]: items(call) } }),
  };
}
