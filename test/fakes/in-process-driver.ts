/** Clients in the same process: no wire, no token, the same control that all wires lead to. */
import type { Clock } from "#base";
import type { Control, ControlClient, Reply } from "#control";
import { type Command, type CommandKind, type Event, ReasonError, SessionId } from "#protocol";
import type { Answer, Connection, Feed } from "../../src/conformance/driver.ts";
import { createFeed } from "../../src/conformance/drivers/feed.ts";
import { Refused } from "../../src/conformance/drivers/rest.ts";
import { createNews } from "../../src/conformance/news.ts";
import { given, sightingOf } from "../../src/conformance/sighting.ts";

export interface InProcessOptions {
  readonly control: Pick<Control, "connect">;
  readonly read: (session: SessionId, options: { after: number; limit: number }) => Promise<readonly Event[]>;
  readonly identityClass: "human" | "agent";
  readonly clock: Pick<Clock, "sleep">;
  readonly waitMs: number;
}

const LOG_PAGE = 1000;

export function connectInProcess(options: InProcessOptions): Connection {
  const { control, read, identityClass, clock, waitMs } = options;
  const client = control.connect({ identityClass, interactive: true });
  const feeds = new Set<ControlClient>();

  const submit: Connection["submit"] = (session, command) =>
    // Scenarios for this wire send what the types allow.
    answered(() => client.submit({ session, ...command } as Command));

  async function watch(session: string, since?: number): Promise<Feed> {
    const news = createNews(clock, waitMs);
    const watcher = control.connect({
      id: client.id,
      identityClass,
      interactive: true,
      onEvent: (event) => feed.add(sightingOf(event)),
    });
    feeds.add(watcher);
    const feed = createFeed(news, { stop: () => watcher.disconnect() });
    const answer = await answered(() =>
      watcher.submit({ kind: "AttachSession", session: idOf(session), ...given("since", since) }),
    );
    if (!answer.ok) throw new Refused(answer);
    return feed;
  }

  return {
    async handshake() {
      return { ok: true, body: {} };
    },
    create: (fields = {}) => answered(() => client.submit({ kind: "CreateSession", ...fields })),
    send: (session, text) => submit(session, { kind: "SendInput", content: [{ type: "text", text }] }),
    cancel: (session) => submit(session, { kind: "CancelTurn" }),
    submit,
    watch,
    async log(session) {
      const events: Event[] = [];
      for (;;) {
        const page = await read(idOf(session), { after: events.at(-1)?.id ?? 0, limit: LOG_PAGE });
        events.push(...page);
        if (page.length < LOG_PAGE) return events;
      }
    },
    async close() {
      for (const watcher of feeds) watcher.disconnect();
      client.disconnect();
    },
  };
}

async function answered(work: () => Promise<Reply<CommandKind>>): Promise<Answer> {
  try {
    const reply = await work();
    return {
      ok: true,
      ...given("session", "session" in reply ? reply.session : undefined),
      ...given("turn", "turn" in reply ? reply.turn : undefined),
      body: { result: "result" in reply ? reply.result : undefined },
    };
  } catch (error) {
    if (!(error instanceof ReasonError)) throw error;
    return { ok: false, reason: error.reason, body: { message: error.message } };
  }
}

function idOf(text: string): SessionId {
  if (!SessionId.is(text)) throw new Error(`${text} is not a session id`);
  return text;
}
