/** The three routes of the small surface: events, prompt, cancel. They need no handshake and no session id. */
import { ReasonError, SessionId } from "#protocol";
import { parseCommand } from "#protocol/schemas";
import type { Route, RouteCall } from "./route.ts";

const QUERY = { session: "A session; default: the server's own session for these clients." };

export const plainRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/events",
    summary: "The small event surface, as server-sent events",
    commands: ["AttachSession"],
    handshake: false,
    query: QUERY,
    answers: { 200: "data: { type: user | text | tool_call | tool_result | reasoning | status, … }" },
    type: "text/event-stream",
    async handle(call) {
      await call.streamEvents(await chosenSession(call), "plain");
      return "taken";
    },
  },
  {
    method: "POST",
    path: "/prompt",
    summary: "Submit a prompt",
    commands: ["SendInput"],
    handshake: false,
    query: QUERY,
    body: {
      type: "object",
      properties: {
        content: {
          oneOf: [{ type: "string" }, { type: "array", items: { type: "object" } }],
          description: "A text, or content blocks as in SendInput: text, images and files.",
        },
      },
      required: ["content"],
    },
    answers: { 202: "{ turn }: the prompt is in the log, and its turn has started." },
    async handle(call) {
      const { content } = call.body;
      if (!Array.isArray(content) && (typeof content !== "string" || content === "")) {
        throw new ReasonError("InvalidCommand", "content must be a non-empty string or a list of content blocks");
      }
      const session = await chosenSession(call);
      const input = typeof content === "string" ? [{ type: "text", text: content }] : content;
      const command = parseCommand({ kind: "SendInput", session, content: input });
      if (command.kind !== "SendInput") throw new ReasonError("InternalError", "the input was misread");
      const { turn } = await call.principal.submit(command);
      return { status: 202, body: { turn } };
    },
  },
  {
    method: "POST",
    path: "/cancel",
    summary: "Cancel the running turn",
    commands: ["CancelTurn"],
    handshake: false,
    query: QUERY,
    answers: { 202: "The turn is stopping; the log says when it has stopped." },
    async handle(call) {
      await call.principal.submit({ kind: "CancelTurn", session: await chosenSession(call) });
      return { status: 202, body: {} };
    },
  },
];

async function chosenSession(call: RouteCall): Promise<SessionId> {
  const named = call.query.get("session");
  if (named === null) return call.defaultSession();
  if (!SessionId.is(named)) throw new ReasonError("InvalidCommand", "session must be an id of the form sess_<ULID>");
  await call.ensureOpen(named);
  return named;
}
