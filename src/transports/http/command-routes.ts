/**
 * Routes that are commands, from the table of the protocol: the body has the fields of the command. What a route says or does beside
 * its row is in `details`; one that several commands share chooses among them there.
 */
import { type CommandKind, commandKinds, commandRows, ReasonError } from "#protocol";
import { commandFrom, parseCommand, wireReply } from "#protocol/schemas";
import type { Answer, Route, RouteCall } from "./route.ts";
import { metaOf, viewOf } from "./session-view.ts";
import { answerOfTurn } from "./turn-answer.ts";

/** A body may have many more that mean nothing. */
const MAX_IGNORED = 20;
/** Of commands that have none of their own. */
const ANY_COMMAND = "POST /v1/sessions/{id}/commands";

type Details = Partial<Omit<Route, "method" | "path" | "commands">>;

const details: Readonly<Record<string, Details>> = {
  "POST /v1/sessions": {
    summary: "Create a session, or open a stored one with resume",
    answers: {
      201: "The session, which is in the log; ignored_fields lists unknown fields of the body.",
      200: "The session that was resumed.",
    },
    async handle(call) {
      const command = commandFrom("CreateSession", call.body);
      const { session } = await call.principal.submit(command);
      // Whoever believes that a field has set something learns that it has not.
      const ignored = Object.keys(call.body).filter((name) => !Object.hasOwn(command, name));
      const named = ignored.length === 0 ? {} : { ignored_fields: ignored.slice(0, MAX_IGNORED) };
      const status = command.resume === undefined ? 201 : 200;
      return { status, body: { ...(await viewOf(call, session)), ...named } };
    },
  },
  "DELETE /v1/sessions/{id}": {
    summary: "End a session; its log stays",
    answers: { 204: "The session is no longer open." },
    async handle(call) {
      const session = call.session();
      const isOpen = call.openSessions().has(session);
      if (isOpen) await call.principal.submit({ kind: "EndSession", session });
      else await viewOf(call, session);
      return { status: 204 };
    },
  },
  "GET /v1/sessions/{id}/events": {
    summary: "Live events, as server-sent events; reopens a stored session",
    query: {
      since: "Sends stored events with a higher id first. Without it and without the header, only new events.",
    },
    headers: { "Last-Event-ID": "Same as since, and takes precedence." },
    answers: { 200: "id: the event's id, event: its kind, data: the event." },
    type: "text/event-stream",
    async handle(call) {
      await call.streamEvents(call.session(), "sse");
      return "taken";
    },
  },
  "POST /v1/sessions/{id}/input": {
    summary: "Start a turn",
    query: {
      wait: "turn: respond when the turn has ended, with its answer, cost and tools.",
      mode: "queue: start after the running turn (QueueInput). steer: send it to the running turn (SteerTurn).",
    },
    answers: {
      202: "{ turn }: the input is in the log, and its turn has started. With a mode: { kind }, and the input is in the log.",
      200: "With wait=turn: how the turn ended.",
    },
    handle: sendInput,
  },
  "POST /v1/sessions/{id}/cancel": { answers: { 202: "The turn is stopping; the log says when it has stopped." } },
  "POST /v1/sessions/{id}/plan-mode": {
    summary: "Enter plan mode, or answer the plan",
    body: {
      type: "object",
      properties: {
        active: { type: "boolean", description: "true: EnterPlanMode. false: ExitPlanMode." },
        approve: { type: "boolean", description: "For ExitPlanMode; default true." },
        plan: { type: "string", description: "For ExitPlanMode: the text to agree on, instead of the proposed one." },
        reason: { type: "string", description: "For ExitPlanMode: why the plan is rejected." },
        call_id: { type: "string", description: "For ExitPlanMode: the call of the plan that was shown." },
      },
      required: ["active"],
    },
    async handle(call) {
      const { active, approve = true, ...answer } = call.body;
      if (typeof active !== "boolean") throw new ReasonError("InvalidCommand", "active must be true or false");
      return submit(call, active ? { kind: "EnterPlanMode" } : { ...answer, kind: "ExitPlanMode", approve });
    },
  },
  "POST /v1/sessions/{id}/undo": {
    summary: "Undo, or with redo apply again, what calls changed in the workspace",
    body: {
      type: "object",
      properties: {
        turn: { type: "string", description: "Default: the newest turn that can be undone." },
        call_id: { type: "string", description: "One call; takes precedence over turn." },
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
  [ANY_COMMAND]: {
    summary: "Any protocol command for this session, for commands without their own route",
    body: { type: "object", properties: { kind: { type: "string" } }, required: ["kind"] },
    answers: { 202: "The result of the command." },
    handle: (call) => submit(call, call.body),
  },
};

export const commandRoutes: readonly Route[] = [
  ...Map.groupBy(commandKinds, (kind) => commandRows[kind].route ?? ANY_COMMAND),
].map(([name, kinds]) => routeOf(name, kinds));

function routeOf(name: string, commands: readonly CommandKind[]): Route {
  // Its type in the row says so.
  const [method, path] = name.split(" ") as [Route["method"], string];
  const [kind] = commands;
  const given = details[name];
  if (kind === undefined || (commands.length > 1 && given?.handle === undefined)) {
    throw new Error(`${name} does not say which command it is`);
  }
  return {
    method,
    path,
    summary: commandRows[kind].text,
    commands,
    handshake: true,
    answers: { 202: "The command was executed and is in the log." },
    handle: (call) => submit(call, { ...call.body, kind }),
    ...given,
  };
}

async function sendInput(call: RouteCall): Promise<Answer> {
  const mode = call.query.get("mode");
  if (mode !== "steer") await reopen(call);
  if (mode === "queue") return submit(call, { ...call.body, kind: "QueueInput" });
  if (mode === "steer") return submit(call, { ...call.body, kind: "SteerTurn" });
  if (mode !== null) throw new ReasonError("InvalidCommand", "mode must be queue or steer");
  const wait = call.query.get("wait");
  if (wait === null) return submit(call, { ...call.body, kind: "SendInput" });
  if (wait !== "turn") throw new ReasonError("InvalidCommand", "wait is turn");
  const body = await answerOfTurn(call, commandFrom("SendInput", { ...call.body, session: call.session() }));
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
  const command = parseCommand({ ...fields, session: call.session() });
  try {
    const reply = await call.principal.submit(command);
    return { status: 202, body: call.backend.cleanValue(wireReply(command.kind, reply)) };
  } catch (error) {
    if (!(error instanceof ReasonError) || error.reason !== "SessionNotFound") throw error;
    await metaOf(call, call.session());
    throw new ReasonError("SessionClosed", { session: call.session() }, { cause: error });
  }
}
