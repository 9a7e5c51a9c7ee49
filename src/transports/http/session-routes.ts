/** Routes that read sessions, and the one that makes a session of another. Those that are commands are in `command-routes.ts`. */
import { ReasonError, type SessionId, sessionInfoOf } from "#protocol";
import type { Route, RouteCall } from "./route.ts";
import { metaOf, viewOf } from "./session-view.ts";

const LIST_LIMIT = 100;
const MAX_LIST_LIMIT = 1000;
const LAST_EVENTS = 20;
const MAX_LAST_EVENTS = 200;
const LOG_PAGE = 500;
const MAX_LOG_PAGE = 1000;

export const sessionRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/sessions",
    summary: "Sessions in the log, newest first, with their current state",
    handshake: false,
    query: { working_dir: "Only sessions of this folder.", limit: `The maximum number; default ${LIST_LIMIT}.` },
    answers: { 200: "{ sessions: […] }" },
    async handle(call) {
      const workingDir = call.query.get("working_dir");
      const limit = count(call.query, "limit", LIST_LIMIT, MAX_LIST_LIMIT);
      const open = call.openSessions();
      const named = call.principal.claims.sessions;
      const sessions =
        named === undefined
          ? await call.backend.store.list({ limit, ...(workingDir === null ? {} : { workingDir }) })
          : await namedSessions(call, named, { limit, workingDir });
      return { status: 200, body: { sessions: sessions.map((meta) => sessionInfoOf(meta, open.get(meta.id))) } };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}",
    summary: "One session and its last events",
    handshake: false,
    query: { events: `The number of last events; default ${LAST_EVENTS}, at most ${MAX_LAST_EVENTS}.` },
    answers: { 200: "The session, with events: […]." },
    async handle(call) {
      const view = await viewOf(call, call.session());
      const limit = count(call.query, "events", LAST_EVENTS, MAX_LAST_EVENTS, 0);
      const after = Math.max(0, view.last_event_id - limit);
      const events = limit === 0 ? [] : await call.backend.store.read(call.session(), { after, limit });
      return { status: 200, body: { ...view, events } };
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/branch",
    summary: "Create a new session from the events up to the end of a turn; not with a token for named sessions",
    commands: ["CreateSession"],
    handshake: true,
    body: {
      type: "object",
      properties: { at: { type: "integer", description: "Id of a TurnEnded event; default: the last one." } },
    },
    answers: { 201: "{ session, at, created }" },
    async handle(call) {
      const { at } = call.body;
      if (at !== undefined && (typeof at !== "number" || !Number.isSafeInteger(at))) {
        throw new ReasonError("InvalidCommand", "at must be the id of an event");
      }
      call.principal.mayRead(call.session());
      // A branch is none of the sessions that a token names: whoever is bound to some could not use it.
      call.principal.allow("CreateSession");
      return { status: 201, body: await call.backend.branch(call.session(), at) };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/log",
    summary: "Events in the log, page by page",
    handshake: false,
    query: { after: "Events with a higher id; default 0.", limit: `The maximum number; default ${LOG_PAGE}.` },
    answers: { 200: "{ events: […], next }: next is the value of after for the next page, or null at the end." },
    async handle(call) {
      await viewOf(call, call.session());
      const after = count(call.query, "after", 0, Number.MAX_SAFE_INTEGER, 0);
      const limit = count(call.query, "limit", LOG_PAGE, MAX_LOG_PAGE);
      const events = await call.backend.store.read(call.session(), { after, limit });
      return { status: 200, body: { events, next: events.length < limit ? null : (events.at(-1)?.id ?? null) } };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/export",
    summary: "The whole session as a file",
    handshake: false,
    query: { format: "jsonl (default): canonical events with their evidence. markdown: a readable transcript." },
    answers: { 200: "Lines of JSON, or Markdown." },
    type: "application/x-ndjson",
    async handle(call) {
      const format = call.query.get("format") ?? "jsonl";
      if (format !== "jsonl" && format !== "markdown") {
        throw new ReasonError("InvalidCommand", "format must be jsonl or markdown");
      }
      const meta = await metaOf(call, call.session());
      const type = format === "jsonl" ? "application/x-ndjson" : "text/markdown; charset=utf-8";
      return { text: call.backend.exportSession(meta, format), type };
    },
  },
];

/** Those of a token, newest first: in a list of all they could be behind any number of others. */
async function namedSessions(
  { backend }: RouteCall,
  named: readonly SessionId[],
  { limit, workingDir }: { readonly limit: number; readonly workingDir: string | null },
) {
  const found = await Promise.all(named.map((id) => backend.store.get(id)));
  return found
    .filter((meta) => meta !== undefined)
    .filter((meta) => workingDir === null || meta.workingDir === workingDir)
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .slice(0, limit);
}

function count(query: URLSearchParams, name: string, fallback: number, max: number, min = 1): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new ReasonError("InvalidCommand", `${name} must be a number from ${min} to ${max}`);
  }
  return value;
}
