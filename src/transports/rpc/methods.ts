/** Every method of the surface: those with words of their own, one row each, and those that are commands. All work is done by commands to the control. */
import { resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { z } from "zod";
import { defined, visibleLine } from "#base";
import type { Redaction, SessionMeta } from "#engine";
import { CallId, type Event, orderKey, ReasonError, type SessionId } from "#protocol";
import { buildHandshake, commands } from "#protocol/schemas";
import { commandMethods, submitCommand } from "./command-methods.ts";
import { type Method, type MethodContext, method, unordered } from "./method.ts";
import type { ThreadStore } from "./open-threads.ts";
import { getSession, listSessions, listSlashCommands, openSession } from "./session-methods.ts";
import { approvalDecisions, decisionOf, type Thread, threadOf, views } from "./shapes.ts";

/** Of the surface. */
export const RPC_VERSION = "1.0.0";
export const LISTED_THREADS_MAX = 1000;
/** An answer of `thread.get` stops growing here and says so. */
export const HISTORY_MAX_BYTES = 16 * 1024 * 1024;
/** Read at a time; then others get their turn. */
const HISTORY_PAGE_EVENTS = 200;
const HISTORY_PAGE_CHARS = 256 * 1024;
const TITLE_MAX_CHARS = 200;

/** The one agent there is to talk to; others work for it. */
const AGENTS = ["default", "code"] as const;

const threadId = z.string().max(200);
const onThread = ({ threadId: id }: { readonly threadId: string }): string => id;

const initialize = method({
  params: z.object({
    clientInfo: z.object({ name: z.string().max(200), version: z.string().max(200).optional() }).optional(),
    view: z.enum(views).default("items"),
  }),
  lane: unordered,
  run({ version, show, client }, { view, clientInfo }) {
    show(view);
    if (clientInfo !== undefined) client.rename(visibleLine(clientInfo.name));
    return {
      version: RPC_VERSION,
      capabilities: {
        threads: true,
        turns: true,
        approvals: true,
        streaming: true,
        persistence: true,
        commands: true,
        events: true,
      },
      serverInfo: { name: "harness", version },
      handshake: buildHandshake(["rpc"], client.id),
    };
  },
});

const createThread = method({
  params: z.object({
    title: z.string().max(TITLE_MAX_CHARS).optional(),
    directory: z.string().min(1).max(4096).optional(),
  }),
  lane: () => orderKey("CreateSession", undefined),
  async run({ threads, store, directory: base, titled, outward }, { title = "", directory }) {
    const id = await titled(title, () => threads.create(resolve(base, directory ?? ".")));
    if (title !== "") await store.update(id, { title });
    return { thread: shownThread(outward, await threads.meta(id)) };
  },
});

const listThreads = method({
  params: z.object({}),
  lane: unordered,
  async run({ store, outward }) {
    // One more than is shown, to know whether there are more.
    const found = await store.list({ limit: LISTED_THREADS_MAX + 1 });
    const threads = found.slice(0, LISTED_THREADS_MAX).map((meta) => shownThread(outward, meta));
    return { threads, ...(found.length > threads.length ? { more: true } : {}) };
  },
});

const getThread = method({
  params: z.object({
    threadId,
    after: z.number().int().nonnegative().default(0),
    limit: z.number().int().positive().optional(),
  }),
  lane: onThread,
  run: ({ threads, store, reading, outward }, { threadId: name, after, limit }) =>
    reading(async () => {
      const meta = await threads.meta(name);
      const history = await readHistory(store, outward.log(), { id: meta.id, after, limit });
      return { thread: shownThread(outward, meta), ...history };
    }),
});

const startTurn = method({
  params: z.object({
    threadId,
    input: commands.SendInput.in.shape.content,
    model: z.object({ providerID: z.string().min(1).max(200), modelID: z.string().min(1).max(500) }).optional(),
    agent: z.string().max(200).optional(),
  }),
  lane: onThread,
  async run({ threads, control, client }, { threadId: name, input, model, agent }, answerFirst) {
    if (agent !== undefined && !AGENTS.some((known) => known === agent)) {
      const detail = `there is no agent '${agent}' to start a turn with; leave it out, or name one of: ${AGENTS.join(", ")}`;
      throw new ReasonError("InvalidCommand", detail);
    }
    const session = await threads.open(name);
    const running = control.session(session)?.running;
    if (running !== undefined) {
      throw new ReasonError("TurnInProgress", { originator: running.originator, ts: running.startedAt });
    }
    const wanted = model === undefined ? undefined : `${model.providerID}:${model.modelID}`;
    if (wanted !== undefined && wanted !== control.session(session)?.model) {
      await client.submit({ kind: "SetModel", session, model: wanted });
    }
    const sent = client.submit({ kind: "SendInput", session, content: input });
    answerFirst(session);
    return { turnId: (await sent).turn };
  },
});

const cancelTurn = method({
  params: z.object({ threadId, turnId: z.string().max(200).optional() }),
  lane: onThread,
  async run({ threads, control, client }, { threadId: name, turnId }) {
    const { id: session } = await threads.meta(name);
    const running = control.session(session)?.running;
    if (running === undefined || (turnId !== undefined && turnId !== running.turn)) {
      throw new ReasonError("TurnNotFound", { session });
    }
    await client.submit({ kind: "CancelTurn", session });
    return { ok: true };
  },
});

const respondToApproval = method({
  params: z.object({
    requestId: z.string().max(200),
    decision: z.enum(approvalDecisions),
    args: z.record(z.string(), z.unknown()).optional(),
  }),
  lane: unordered,
  async run({ projection, client }, { requestId, decision: word, args }) {
    const session = CallId.is(requestId) ? projection.askedIn.get(requestId) : undefined;
    if (!CallId.is(requestId) || session === undefined) throw new ReasonError("CallNotFound", { call_id: requestId });
    const decision = decisionOf[word];
    await client.submit({
      kind: "AnswerPermission",
      session,
      call_id: requestId,
      decision,
      ...defined({ args }),
    });
    return { ok: true };
  },
});

export const methods: ReadonlyMap<string, Method<unknown>> = new Map([
  ...commandMethods,
  // The words of the surface; where one is a command, it is here that it has them.
  ["initialize", initialize],
  ["thread.create", createThread],
  ["thread.list", listThreads],
  ["thread.get", getThread],
  ["turn.start", startTurn],
  ["turn.cancel", cancelTurn],
  ["approval.respond", respondToApproval],
  ["command.submit", submitCommand],
  ["session.open", openSession],
  ["session.list", listSessions],
  ["slash_command.list", listSlashCommands],
  ["session.get", getSession],
]);

/** The parameters, or an InvalidCommand error that names the field and what was expected. */
export function parseParams<Params>({ params: schema }: Method<Params>, raw: unknown): Params {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new ReasonError("InvalidCommand", z.prettifyError(parsed.error).replace(/\s*\n\s*/g, " "));
}

function shownThread(outward: MethodContext["outward"], meta: SessionMeta): Thread {
  return threadOf({ ...meta, title: outward.text(meta.title) });
}

async function readHistory(
  store: ThreadStore,
  redact: Redaction["payload"],
  {
    id,
    after,
    limit = Number.POSITIVE_INFINITY,
  }: { readonly id: SessionId; readonly after: number; readonly limit: number | undefined },
) {
  const events: Event[] = [];
  let bytes = 0;
  for (let last = after; ; ) {
    const left = Math.min(HISTORY_PAGE_EVENTS, limit - events.length + 1);
    const page = await store.read(id, { after: last, limit: left, maxChars: HISTORY_PAGE_CHARS });
    if (page.length === 0) return { events };
    for (const stored of page) {
      // The payload of a kind stays one of that kind.
      const event = { ...stored, payload: redact(stored.kind, stored.payload) } as Event;
      bytes += Buffer.byteLength(JSON.stringify(event));
      const isFull = events.length >= limit || (events.length > 0 && bytes > HISTORY_MAX_BYTES);
      if (isFull) return { events, more: true };
      events.push(event);
      last = event.id;
    }
    await nextTurn();
  }
}
