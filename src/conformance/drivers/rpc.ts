/** JSON-RPC on the standard input and output of a program. A connection is a process: it ends with it. */
import { type Clock, isRecord, jsonIn, messageOf } from "#base";
import type { Event, EventKind } from "#protocol";
import { createTextLines, messageLine } from "#wire";
import { startPiped } from "#world";
import type { Answer, Connection, Feed, LinePeer, Sighting } from "../driver.ts";
import { checkPage, createIntake, PIECE_MAX_BYTES } from "../intake.ts";
import { createNews, type News } from "../news.ts";
import { fieldOf, given, numberField, sightingOf, textField } from "../sighting.ts";
import { createFeed } from "./feed.ts";

export interface RpcConnectionOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, "sleep">;
  readonly waitMs: number;
}

/** Lines that are kept; a program that writes without end is not. */
const MAX_LINES = 100_000;

const carried: ReadonlySet<EventKind> = new Set<EventKind>([
  "TurnStarted",
  "TextDelta",
  "ToolCallStarted",
  "ToolResult",
  "PermissionRequested",
  "PermissionAnswered",
  "TurnEnded",
]);

/** The answers of the protocol, in the words of this surface. */
const DECISIONS: Readonly<Record<string, string>> = { allow_once: "once", allow_tool: "always", deny: "reject" };

interface OpenProcess extends LinePeer {
  readonly messages: readonly Record<string, unknown>[];
  readonly news: News;
}

export function connectRpc(options: RpcConnectionOptions): Connection {
  const lines = startProcess(options);
  const submit: Connection["submit"] = async (session, { kind, ...fields }) => {
    switch (kind) {
      case "SendInput":
        return lines.request("turn.start", { threadId: session, input: fields.content, ...extra(fields, "content") });
      case "CancelTurn":
        return lines.request("turn.cancel", { threadId: session, ...fields });
      case "AnswerPermission": {
        const { call_id: requestId, decision } = fields;
        const word = typeof decision === "string" ? (DECISIONS[decision] ?? decision) : decision;
        return lines.request("approval.respond", {
          requestId,
          decision: word,
          ...extra(fields, "call_id", "decision"),
        });
      }
      default:
        return lines.request("command.submit", { command: { kind, session, ...fields } });
    }
  };
  return {
    lines,
    async handshake() {
      const answer = await lines.request("initialize", { clientInfo: { name: "conformance" } });
      return { ...answer, body: fieldOf(answer.body, "handshake") ?? answer.body };
    },
    async create(fields = {}) {
      const { resume } = fields;
      // The surface opens threads by itself when they are used.
      if (typeof resume === "string") return { ok: true, session: resume, body: {} };
      const answer = await lines.request("thread.create", fields);
      return { ...answer, ...given("session", textField(answer.body, "thread", "threadId")) };
    },
    send: (session, text) => submit(session, { kind: "SendInput", content: [{ type: "text", text }] }),
    cancel: (session) => submit(session, { kind: "CancelTurn" }),
    submit,
    watch: (session, since) => watch(lines, session, since),
    log: (session) => readHistory(lines, session, 0),
    async raw(session, bytes) {
      const from = lines.messages.length;
      lines.write(Buffer.concat([bytes, Buffer.from("\n")]));
      return lines.news.until(() => {
        const answer = lines.messages.slice(from).find((message) => "error" in message && message.id === null);
        return answer === undefined ? undefined : answerOf(answer);
      }, `an error for an unreadable line, for ${session}`);
    },
    async close() {
      await lines.end();
    },
  };
}

function extra(fields: Readonly<Record<string, unknown>>, ...used: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !used.includes(name)));
}

async function readHistory(lines: LinePeer, threadId: string, after: number): Promise<readonly Event[]> {
  const events: Event[] = [];
  for (let last = after; ; ) {
    const { ok, body, reason } = await lines.request("thread.get", { threadId, after: last });
    const page = fieldOf(body, "events");
    if (!ok || !Array.isArray(page)) throw new Error(`cannot read the log: ${reason}`);
    // Scenarios that care look at each field themselves.
    events.push(...(page as Event[]));
    const next = numberField(page.at(-1), "id");
    if (fieldOf(body, "more") !== true || next === undefined || next <= last) return events;
    checkPage(page, last, events.length);
    last = next;
  }
}

async function watch(lines: OpenProcess, session: string, since: number | undefined): Promise<Feed> {
  let read = lines.messages.length;
  const textItems = new Set<unknown>();
  let isStopped = false;
  const feed = createFeed(
    {
      ...lines.news,
      until(look, what) {
        return lines.news.until(() => {
          if (!isStopped) takeNew();
          return look();
        }, what);
      },
    },
    {
      carried,
      stop() {
        takeNew();
        isStopped = true;
      },
    },
  );
  function takeNew(): void {
    const news = lines.messages.slice(read);
    read = lines.messages.length;
    const here = news.filter(({ method, params }) => typeof method === "string" && isFor(params, session));
    feed.add(...here.flatMap((message) => sightingsOf(message, textItems)));
  }
  if (since !== undefined) {
    const history = await readHistory(lines, session, since);
    feed.add(...history.filter(({ kind }) => carried.has(kind)).map(sightingOf));
  }
  return feed;
}

function isFor(params: unknown, session: string): boolean {
  return fieldOf(params, "threadId") === session || fieldOf(params, "item", "threadId") === session;
}

function sightingsOf(message: Readonly<Record<string, unknown>>, textItems: Set<unknown>): Sighting[] {
  const { method, params } = message;
  const seen = (kind: EventKind, more: Partial<Sighting> = {}): Sighting[] => [
    { kind, ...given("id", numberField(params, "eventId")), ...more, raw: message },
  ];
  const type = textField(params, "item", "type");
  const itemId = fieldOf(params, "item", "itemId");
  const call = given("callId", textField(params, "item", "data", "callId"));
  switch (method) {
    case "turn.started":
      return seen("TurnStarted");
    case "turn.completed":
    case "turn.error":
      return seen("TurnEnded");
    case "approval.requested":
      return seen("PermissionRequested", given("callId", textField(params, "requestId")));
    case "stream.gap":
      return seen("StreamGap");
    case "item.started":
      if (fieldOf(params, "item", "data", "kind") === "text") textItems.add(itemId);
      return type === "tool_exec" ? seen("ToolCallStarted", call) : [];
    case "item.delta":
      return textItems.has(fieldOf(params, "itemId"))
        ? seen("TextDelta", given("text", textField(params, "delta", "text")))
        : [];
    case "item.completed":
      if (type === "tool_exec") return seen("ToolResult", call);
      if (type !== "approval") return [];
      return seen("PermissionAnswered", given("callId", textField(params, "item", "data", "requestId")));
    default:
      return [];
  }
}

function answerOf(message: Readonly<Record<string, unknown>>): Answer {
  const { error, result } = message;
  if (error === undefined) return { ok: true, ...given("turn", textField(result, "turnId")), body: result };
  return {
    ok: false,
    ...given("reason", textField(error, "data", "reason") ?? textField(error, "data", "name")),
    ...given("status", numberField(error, "code")),
    body: error,
  };
}

function startProcess(options: RpcConnectionOptions): OpenProcess {
  const { command, args, cwd, env, clock, waitMs } = options;
  const news = createNews(clock, waitMs);
  const output: string[] = [];
  const messages: Record<string, unknown>[] = [];
  const split = createTextLines(PIECE_MAX_BYTES);
  const intake = createIntake();
  let lastId = 0;
  const { promise: exited, resolve: exit } = Promise.withResolvers<number | null>();
  const where = { cwd: cwd ?? process.cwd(), env: env ?? process.env };
  const child = startPiped({ program: command, args, ...where }, (code) => {
    const end = (): void => {
      news.end(`the program exited${code === null ? "" : ` with ${code}`}: ${child.errors().slice(-500)}`);
      exit(code);
    };
    // What it wrote last is read first.
    if (child.stdout.closed) end();
    else child.stdout.once("close", end);
  });
  child.stdout.on("data", (chunk: Buffer) => {
    try {
      intake(chunk.length);
      for (const line of split(chunk)) if (output.length < MAX_LINES) keep(line);
    } catch (error) {
      news.end(messageOf(error));
      child.kill();
    }
    news.tell();
  });
  function keep(line: string): void {
    output.push(line);
    const value = jsonIn(line);
    if (value === undefined) return; // kept as it is, for the scenario that looks at it
    if (isRecord(value)) messages.push(value);
  }
  return {
    news,
    messages,
    output,
    write: (text) => void child.stdin.write(text),
    until: (fits, what) => news.until(() => messages.find(fits), what),
    async request(method, params) {
      lastId += 1;
      const id = `conformance-${lastId}`;
      child.stdin.write(messageLine({ id, method, ...given("params", params) }));
      return answerOf(await news.until(() => messages.find((message) => message.id === id), `the answer to ${method}`));
    },
    kill: () => child.kill(),
    async end() {
      child.stdin.end();
      const late = new AbortController();
      void clock.sleep(waitMs, late.signal).then(() => {
        if (!late.signal.aborted) child.kill();
      });
      const code = await exited;
      late.abort();
      return code;
    },
  };
}
