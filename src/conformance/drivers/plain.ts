/** The small surface: three routes and their own events. What it has no route for (sessions, answers, the log) is done over REST. */
import type { EventKind } from "#protocol";
import type { Connection, Sighting } from "../driver.ts";
import { given, textField } from "../sighting.ts";
import { createOpenFeeds } from "./feed.ts";
import { answerOf, connectRest, type HttpConnectionOptions, openSse } from "./rest.ts";

const KINDS: Readonly<Record<string, EventKind>> = {
  user: "TurnStarted",
  text: "TextDelta",
  tool_call: "ToolCallStarted",
  tool_result: "ToolResult",
  reasoning: "ThinkingDelta",
};

const carried: ReadonlySet<EventKind> = new Set<EventKind>([
  "TurnStarted",
  "TextDelta",
  "ToolCallStarted",
  "ToolResult",
  "PermissionRequested",
  "TurnEnded",
]);

export function connectPlain(options: HttpConnectionOptions): Connection {
  const rest = connectRest(options);
  const feeds = createOpenFeeds();
  const { http } = rest;
  if (http === undefined) throw new Error("REST has requests");
  return {
    ...rest,
    send: async (session, content) =>
      answerOf(await http.ask("POST", `/prompt?session=${session}`, { body: { content } })),
    cancel: async (session) => answerOf(await http.ask("POST", `/cancel?session=${session}`)),
    watch: (session) =>
      feeds.keep(
        openSse(
          options,
          `/events?session=${session}`,
          {},
          (feed, { data }) => feed.add(...sightingsOf(JSON.parse(data) as unknown)),
          carried,
        ),
      ),
    close: feeds.stop,
    raw: async (session, bytes) => answerOf(await http.ask("POST", `/prompt?session=${session}`, { body: bytes })),
  };
}

function sightingsOf(raw: unknown): Sighting[] {
  const type = textField(raw, "type") ?? "";
  if (type === "status") {
    const kinds: Readonly<Record<string, EventKind>> = { idle: "TurnEnded", waiting: "PermissionRequested" };
    const kind = kinds[textField(raw, "state") ?? ""];
    return [{ kind: kind ?? `status ${textField(raw, "state")}`, raw }];
  }
  const text = type === "text" ? textField(raw, "content") : undefined;
  return [{ kind: KINDS[type] ?? type, ...given("callId", textField(raw, "id")), ...given("text", text), raw }];
}
