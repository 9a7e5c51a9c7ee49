/** Routes about the server itself: handshake, health, what it offers, and its description. */
import { ReasonError, SessionId } from "#protocol";
import { answerHandshake } from "./handshake.ts";
import type { Route } from "./route.ts";

type Call = Parameters<Route["handle"]>[0];

export const catalogRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/handshake",
    summary: "The handshake, which comes before the first command; each one creates a client",
    handshake: false,
    query: {
      protocol_version: "The protocol version of the client; the server refuses a version that it does not support.",
    },
    answers: { 200: "The handshake, with the client id for later requests." },
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
  list("/v1/providers", "providers", "Providers and their known models", ({ backend }) => backend.providers()),
  {
    ...list("/v1/slash-commands", "slash_commands", "Commands that a person can type", slashCommandsOf),
    query: { session: "Those of this session, which is open; default: those of any session." },
  },
  {
    ...list("/v1/profiles", "profiles", "Profiles that a session can have, and which one is active", (call) =>
      call.backend.profiles(namedSession(call)),
    ),
    query: { session: "With those of its project, and which one it has; default: those of any session." },
  },
  {
    ...list("/v1/skills", "skills", "Skills of a session: their names and descriptions", (call) =>
      slashCommandsOf(call)
        .filter(({ namespace, name }) => namespace === "skills" && name !== "reload")
        .map(({ name, description }) => ({ name, description })),
    ),
    query: { session: "Those of this session, which is open; default: none." },
  },
  list("/v1/schedules", "schedules", "Schedules of this user: their times, and what became of their ticks", (call) => {
    // They name folders and sessions that are none of those that a token may be limited to.
    call.principal.allow("CreateSession");
    return call.backend.schedules();
  }),
  list(
    "/v1/mcp/servers",
    "servers",
    "MCP servers of open sessions, and configured ones that no session has started",
    ({ backend }) => backend.servers(),
  ),
];

function slashCommandsOf(call: Call): ReturnType<Call["backend"]["slashCommands"]> {
  return call.backend.slashCommands(namedSession(call));
}

function namedSession({ principal, query }: Call): SessionId | undefined {
  const named = query.get("session");
  if (named === null) return undefined;
  if (!SessionId.is(named)) throw new ReasonError("InvalidCommand", "session is the id of a session");
  principal.mayRead(named);
  return named;
}

function list(
  path: string,
  name: string,
  summary: string,
  items: (call: Call) => readonly unknown[] | Promise<readonly unknown[]>,
): Route {
  return {
    method: "GET",
    path,
    summary,
    handshake: false,
    answers: { 200: `{ ${name}: […] }` },
    handle: async (call) => ({ status: 200, body: { [name]: await items(call) } }),
  };
}
