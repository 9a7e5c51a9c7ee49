/** REST with server-sent events. */
import { type Clock, jsonIn, messageOf } from "#base";
import type { Event } from "#protocol";
import { createEventStreamReader, type StreamEvent } from "#wire";
import type { Answer, Connection, HttpPeer, HttpReply } from "../driver.ts";
import { checkPage, createIntake, PIECE_MAX_BYTES } from "../intake.ts";
import { createNews } from "../news.ts";
import { fieldOf, given, sightingOf, textField } from "../sighting.ts";
import { createFeed, createOpenFeeds, type OpenFeed } from "./feed.ts";
import { ask, exchange, type HttpPlace, hostOf, openResponse, textOf } from "./http-client.ts";

export interface HttpConnectionOptions {
  readonly place: HttpPlace;
  readonly clock: Pick<Clock, "sleep">;
  readonly waitMs: number;
  /** Absent: the requests carry none. */
  readonly token?: string;
  /** The client that requests are from, once a handshake has named it. */
  readonly client?: () => string | undefined;
}

const LOG_PAGE = 1000;

/** Commands with a route of their own; the others go to `commands`. */
const ROUTES: Readonly<Record<string, string>> = {
  SendInput: "input",
  CancelTurn: "cancel",
  AnswerPermission: "permission",
  SetModel: "model",
};

export function connectRest(target: HttpConnectionOptions): Connection {
  let client: string | undefined;
  const options = { ...target, client: () => client };
  const http = httpPeer(options);
  const feeds = createOpenFeeds();
  const command = async (
    session: string,
    { kind, ...fields }: { readonly kind: string } & Readonly<Record<string, unknown>>,
  ): Promise<Answer> => {
    if (kind === "EndSession") return answerOf(await http.ask("DELETE", `/v1/sessions/${session}`));
    if (kind === "EnterPlanMode" || kind === "ExitPlanMode") {
      const body = { ...fields, active: kind === "EnterPlanMode" };
      return answerOf(await http.ask("POST", `/v1/sessions/${session}/plan-mode`, { body }));
    }
    const route = ROUTES[kind];
    const body = route === undefined ? { kind, ...fields } : fields;
    return answerOf(await http.ask("POST", `/v1/sessions/${session}/${route ?? "commands"}`, { body }));
  };
  return {
    http,
    async handshake(version) {
      const query = version === undefined ? "" : `?protocol_version=${encodeURIComponent(version)}`;
      const answer = answerOf(await http.ask("GET", `/v1/handshake${query}`));
      client = textField(answer.body, "client") ?? client;
      return answer;
    },
    async create(fields = {}) {
      const reply = await http.ask("POST", "/v1/sessions", { body: fields });
      return { ...answerOf(reply), ...given("session", textField(reply.json, "id")) };
    },
    send: (session, text) => command(session, { kind: "SendInput", content: [{ type: "text", text }] }),
    cancel: (session) => command(session, { kind: "CancelTurn" }),
    submit: command,
    watch: (session, since) => feeds.keep(openEvents(options, session, since)),
    log: (session) => readLog(http, session),
    raw: async (session, bytes) => answerOf(await http.ask("POST", `/v1/sessions/${session}/input`, { body: bytes })),
    close: feeds.stop,
  };
}

export function httpPeer({ place, waitMs, token, client }: HttpConnectionOptions): HttpPeer {
  return {
    host: hostOf(place),
    ask: (method, path, asked = {}) =>
      ask(place, waitMs, method, path, {
        ...asked,
        headers: { ...given("x-harness-client", client?.()), ...asked.headers },
        ...given("token", asked.token === undefined ? token : asked.token),
      }),
    exchange: (head) => exchange(place, waitMs, head),
  };
}

export function answerOf({ status, json }: HttpReply): Answer {
  return {
    ok: status >= 200 && status < 300,
    status,
    ...given("reason", textField(json, "error", "reason")),
    ...given("session", textField(json, "session")),
    ...given("turn", textField(json, "turn")),
    body: json,
  };
}

export async function readLog(http: HttpPeer, session: string): Promise<readonly Event[]> {
  const events: Event[] = [];
  for (let after = 0; ; ) {
    const { status, json, text } = await http.ask(
      "GET",
      `/v1/sessions/${session}/log?after=${after}&limit=${LOG_PAGE}`,
    );
    const page = fieldOf(json, "events");
    if (status !== 200 || !Array.isArray(page)) throw new Error(`cannot read the log: ${status} ${text.slice(0, 200)}`);
    // Scenarios that care look at each field themselves.
    events.push(...(page as Event[]));
    const next = fieldOf(json, "next");
    if (typeof next !== "number" || next <= after) return events;
    checkPage(page, after, events.length);
    after = next;
  }
}

async function openEvents(options: HttpConnectionOptions, session: string, since: number | undefined) {
  const headers = since === undefined ? {} : { "last-event-id": String(since) };
  return openSse(options, `/v1/sessions/${session}/events`, headers, (feed, { id, event, data }) => {
    const value = JSON.parse(data) as unknown;
    feed.add({ ...sightingOf(value), raw: { sseId: id, sseEvent: event, event: value } });
  });
}

/** Opens a stream; each message goes to `take`. Rejects with the answer when it is refused. */
export async function openSse(
  { place, waitMs, token, client, clock }: HttpConnectionOptions,
  path: string,
  headers: Readonly<Record<string, string>>,
  take: (feed: OpenFeed, message: StreamEvent) => void,
  carried?: OpenFeed["carried"],
): Promise<OpenFeed> {
  const response = await openResponse(place, waitMs, "GET", path, {
    headers: { ...given("x-harness-client", client?.()), ...headers },
    ...given("token", token),
  });
  if (response.statusCode !== 200) {
    throw new Refused(answerOf({ status: response.statusCode ?? 0, headers: {}, ...(await jsonOf(response)) }));
  }
  const news = createNews(clock, waitMs);
  const feed = createFeed(news, {
    ...given("carried", carried),
    stop: () => void response.destroy(),
    pause: () => void response.pause(),
    resume: () => void response.resume(),
  });
  const reader = createEventStreamReader({
    onComment: () => feed.beat(),
    onEvent: (message) => take(feed, message),
    maxEventChars: PIECE_MAX_BYTES,
  });
  const intake = createIntake();
  response.setEncoding("utf8").on("data", (chunk: string) => {
    try {
      intake(chunk.length);
      reader.push(chunk);
    } catch (error) {
      news.end(messageOf(error));
      response.destroy();
    }
  });
  response.on("error", () => undefined); // `close` follows
  response.on("close", () => news.end("the server closed the stream"));
  return feed;
}

async function jsonOf(
  response: Parameters<typeof textOf>[0],
): Promise<{ readonly text: string; readonly json: unknown }> {
  const text = await textOf(response);
  return { text, json: jsonIn(text) };
}

/** A stream that was not opened. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`refused: ${answer.status ?? ""} ${answer.reason ?? ""}`.trim());
    this.answer = answer;
  }
}
