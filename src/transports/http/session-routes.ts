/** Routes of sessions. Each is one command or one read; what they do is done behind `control` and the store. */
import {
  type Command,
  type CommandKind,
  ReasonError,
  type SessionId,
  type SessionInfo,
  sessionInfoOf,
} from "#protocol";
import { parseCommand } from "#protocol/schemas";
import type { Answer, Route, RouteCall } from "./route.ts";
import { answerOfTurn } from "./turn-answer.ts";
import { wireReply } from "./web-socket.ts";

const LIST_LIMIT = 100;
const MAX_LIST_LIMIT = 1000;
const LAST_EVENTS = 20;
/** A body may have many more that mean nothing. */
const MAX_IGNORED = 20;
const MAX_LAST_EVENTS = 200;
const LOG_PAGE = 500;
const MAX_LOG_PAGE = 1000;

const SINCE = "Events with a higher id come first; without it and without the header, only what happens from now on.";

export const sessionRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/sessions",
    summary: "Sessions of the log, newest first, with what they do now",
    handshake: false,
    query: { working_dir: "Only of this folder.", limit: `At most so many; default ${LIST_LIMIT}.` },
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
    method: "POST",
    path: "/v1/sessions",
    summary: "Create a session, or open a stored one with resume",
    command: "CreateSession",
    handshake: true,
    answers: {
      201: "The session, which is in the log; ignored_fields names fields of the body that mean nothing.",
      200: "The session that was resumed.",
    },
    async handle(call) {
      const command = parseCommand({ ...call.body, kind: "CreateSession" });
      const { session } = await call.principal.submit(command);
      if (session === undefined) throw new Error("CreateSession did not answer with a session");
      const isNew = command.kind === "CreateSession" && command.resume === undefined;
      // Whoever believes that a field has set something learns that it has not.
      const ignored = Object.keys(call.body).filter((name) => !Object.hasOwn(command, name));
      const named = ignored.length === 0 ? {} : { ignored_fields: ignored.slice(0, MAX_IGNORED) };
      return { status: isNew ? 201 : 200, body: { ...(await viewOf(call, session)), ...named } };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}",
    summary: "One session and its last events",
    handshake: false,
    query: { events: `How many of its last events; default ${LAST_EVENTS}, at most ${MAX_LAST_EVENTS}.` },
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
    method: "DELETE",
    path: "/v1/sessions/{id}",
    summary: "End a session; its log stays",
    command: "EndSession",
    handshake: true,
    answers: { 204: "It is not open any more." },
    async handle(call) {
      const session = call.session();
      const isOpen = call.openSessions().has(session);
      if (isOpen) await call.principal.submit({ kind: "EndSession", session });
      else await viewOf(call, session);
      return { status: 204 };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/events",
    summary: "Events as they happen, as server-sent events; opens a stored session again",
    command: "AttachSession",
    handshake: true,
    query: { since: SINCE },
    headers: { "Last-Event-ID": "As since; beats it." },
    answers: { 200: "id: the event's id, event: its kind, data: the event." },
    type: "text/event-stream",
    async handle(call) {
      await call.streamEvents(call.session(), "sse");
      return "taken";
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/input",
    summary: "Start a turn",
    command: "SendInput",
    handshake: true,
    query: {
      wait: "turn: answer when the turn has ended, with its answer, cost and tools.",
      mode: "queue: wait for the running turn (QueueInput). steer: tell the running turn (SteerTurn).",
    },
    answers: {
      202: "{ turn }: the log has the input, and its turn has begun; or { kind } for a mode: the log has it.",
      200: "With wait=turn: how the turn ended.",
    },
    handle: sendInput,
  },
  commandRoute(
    "cancel",
    "CancelTurn",
    "Cancel the running turn",
    "The turn was told to stop; the log says when it has.",
  ),
  commandRoute("permission", "AnswerPermission", "Answer a permission request; the first human counts"),
  commandRoute("model", "SetModel", "Use another model from the next step on"),
  {
    method: "POST",
    path: "/v1/sessions/{id}/plan-mode",
    summary: "Enter plan mode, or answer the plan",
    handshake: true,
    body: {
      type: "object",
      properties: {
        active: { type: "boolean", description: "true: EnterPlanMode. false: ExitPlanMode." },
        approve: { type: "boolean", description: "Of ExitPlanMode; default true." },
      },
      required: ["active"],
    },
    answers: { 202: "It is carried out, and in the log." },
    async handle(call) {
      const { active, approve = true } = call.body;
      if (typeof active !== "boolean") throw new ReasonError("InvalidCommand", { detail: "active is true or false" });
      return submit(call, active ? { kind: "EnterPlanMode" } : { kind: "ExitPlanMode", approve });
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/commands",
    summary: "Any command of the protocol for this session, for those that have no route of their own",
    handshake: true,
    body: { type: "object", properties: { kind: { type: "string" } }, required: ["kind"] },
    answers: { 202: "What the command came to." },
    handle: (call) => submit(call, call.body),
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/undo",
    summary: "Take back, or with redo make again, what calls changed in the workspace",
    handshake: true,
    body: {
      type: "object",
      properties: {
        turn: { type: "string", description: "Default: the newest turn that can be undone." },
        call_id: { type: "string", description: "One call; beats turn." },
        redo: { type: "boolean" },
        skip_conflicts: { type: "boolean" },
      },
    },
    answers: { 202: "{ result }: what was restored." },
    handle(call) {
      const { redo = false, ...fields } = call.body;
      const kind = redo === true ? "Redo" : fields.call_id === undefined ? "UndoTurn" : "UndoCall";
      return submit(call, { ...fields, kind });
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/branch",
    summary: "Make a new session of the events up to the end of a turn; not with a token for named sessions",
    command: "CreateSession",
    handshake: true,
    body: {
      type: "object",
      properties: { at: { type: "integer", description: "Id of a TurnEnded event; default: the last one." } },
    },
    answers: { 201: "{ session, at, created }" },
    async handle(call) {
      const { at } = call.body;
      if (at !== undefined && (typeof at !== "number" || !Number.isSafeInteger(at))) {
        throw new ReasonError("InvalidCommand", { detail: "at is the id of an event" });
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
    summary: "Events of the log, a page at a time",
    handshake: false,
    query: { after: "Events with a higher id; default 0.", limit: `At most so many; default ${LOG_PAGE}.` },
    answers: { 200: "{ events: […], next }: next is the after of the next page, null at the end." },
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
    query: { format: "jsonl (default): canonical events with their evidence. markdown: to read." },
    answers: { 200: "Lines of JSON, or Markdown." },
    type: "application/x-ndjson",
    async handle(call) {
      const format = call.query.get("format") ?? "jsonl";
      if (format !== "jsonl" && format !== "markdown") {
        throw new ReasonError("InvalidCommand", { detail: "format is jsonl or markdown" });
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

function commandRoute(
  name: string,
  kind: CommandKind,
  summary: string,
  carriedOut = "It is carried out, and in the log.",
): Route {
  return {
    method: "POST",
    path: `/v1/sessions/{id}/${name}`,
    summary,
    command: kind,
    handshake: true,
    answers: { 202: carriedOut },
    handle: (call) => submit(call, { ...call.body, kind }),
  };
}

async function sendInput(call: RouteCall): Promise<Answer> {
  const mode = call.query.get("mode");
  if (mode !== "steer") await reopen(call);
  if (mode === "queue") return submit(call, { ...call.body, kind: "QueueInput" });
  if (mode === "steer") return submit(call, { ...call.body, kind: "SteerTurn" });
  if (mode !== null) throw new ReasonError("InvalidCommand", { detail: "mode is queue or steer" });
  const wait = call.query.get("wait");
  if (wait === null) return submit(call, { ...call.body, kind: "SendInput" });
  if (wait !== "turn") throw new ReasonError("InvalidCommand", { detail: "wait is turn" });
  const command = forSession(call, { ...call.body, kind: "SendInput" });
  if (command.kind !== "SendInput") throw new Error("the command changed its kind");
  const body = await answerOfTurn(call, command);
  await call.recheckToken();
  return { status: 200, body };
}

/** A session that ended because nobody needed it, or whose program was killed, goes on with the input. One that was ended does not. */
async function reopen(call: RouteCall): Promise<void> {
  const session = call.session();
  if (call.openSessions().has(session)) return;
  const meta = await call.backend.store.get(session);
  if (meta?.state === "active") await call.ensureOpen(session);
}

/** A stored session that is not open is told apart from one that never was. */
async function submit(call: RouteCall, fields: Readonly<Record<string, unknown>>): Promise<Answer> {
  const command = forSession(call, fields);
  try {
    return {
      status: 202,
      body: call.backend.cleanValue(wireReply(command.kind, await call.principal.submit(command))),
    };
  } catch (error) {
    if (!(error instanceof ReasonError) || error.reason !== "SessionNotFound") throw error;
    await metaOf(call, call.session());
    throw new ReasonError("SessionClosed", { session: call.session() }, { cause: error });
  }
}

function forSession(call: RouteCall, fields: Readonly<Record<string, unknown>>): Command {
  return parseCommand({ ...fields, session: call.session() });
}

async function metaOf({ backend, principal }: RouteCall, session: SessionId) {
  principal.mayRead(session);
  const meta = await backend.store.get(session);
  if (meta === undefined) throw new ReasonError("SessionNotFound", { session });
  return meta;
}

async function viewOf(call: RouteCall, session: SessionId): Promise<SessionInfo> {
  return sessionInfoOf(await metaOf(call, session), call.openSessions().get(session));
}

function count(query: URLSearchParams, name: string, fallback: number, max: number, min = 1): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new ReasonError("InvalidCommand", { detail: `${name} is a number from ${min} to ${max}` });
  }
  return value;
}
