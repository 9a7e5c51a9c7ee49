/**
 * Brings a session back to where its log ends: from the snapshot that is kept beside the log and the events after it, or,
 * when there is none that can be used, from the events alone. Both give the same; only the time differs.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { defined, messageOf } from "#base";
import { type Event, type EventOf, ReasonError, type SessionId } from "#protocol";
import { type Conversation, createConversation } from "./conversation.ts";
import { SNAPSHOT_FORMAT } from "./conversation-parts.ts";
import { createGivenAnswers, type GivenAnswers } from "./given-answers.ts";
import { createInputQueue, type InputQueue } from "./input-queue.ts";
import { createRemains, type Remains } from "./remains.ts";
import type { SessionLog, SessionMeta, SessionStore } from "./store.ts";

/** Read at a time; then others get their turn. */
const READ_PAGE_EVENTS = 500;
const READ_PAGE_CHARS = 1024 * 1024;

export interface Reopened {
  readonly conversation: Conversation;
  readonly remains: Remains;
  /** Inputs that were queued and never delivered. */
  readonly inputs: InputQueue;
  /** Calls that were begun and have no outcome, oldest first. */
  readonly openCalls: readonly EventOf<"ToolIntent">[];
  /** What people said about them. */
  readonly answers: GivenAnswers;
  /** The event that the snapshot was made at; 0 without one. */
  readonly snapshotEvent: number;
  readonly eventsRead: number;
  /** Why a snapshot that was kept could not be used. */
  readonly snapshotProblem?: string;
}

export async function reopenSession(
  store: Pick<SessionStore, "read" | "historyStart">,
  log: SessionLog,
  id: SessionId,
): Promise<Reopened> {
  const start = (await store.historyStart?.(id)) ?? 0;
  const { conversation, event, problem } = await loadSnapshot(log, start);
  const remains = createRemains();
  const inputs = createInputQueue();
  const answers = createGivenAnswers();
  // The turn that the snapshot was made at has ended with what the session had used until then.
  for (const at of event === 0 ? [] : await store.read(id, { after: event - 1, limit: 1 })) {
    remains.apply(at);
    await applyWaiting(at);
    await applyLasting(at);
  }
  if (event === 0) await applyBefore(start);
  let eventsRead = 0;
  let isFirstEnd = event === 0 && start > 0;
  for (let after = Math.max(start, event); ; ) {
    const page = await store.read(id, { after, limit: READ_PAGE_EVENTS, maxChars: READ_PAGE_CHARS });
    for (const read of page) {
      conversation.apply(read);
      remains.apply(read);
      inputs.apply(read);
      answers.apply(read);
      if (!isFirstEnd || read.kind !== "TurnEnded") continue;
      isFirstEnd = false;
      await applyWaiting(read);
    }
    eventsRead += page.length;
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
    await nextTurn();
  }
  return {
    conversation,
    remains,
    inputs,
    openCalls: await log.openCalls(),
    answers,
    snapshotEvent: event,
    eventsRead,
    ...defined({ snapshotProblem: problem }),
  };

  /** What still applied when a turn ended was said further back in the log. */
  async function applyLasting(ended: Event): Promise<void> {
    for (const lasting of ended.kind === "TurnEnded" ? (ended.payload.lasting ?? []) : []) {
      for (const said of await store.read(id, { after: lasting - 1, limit: 1 })) takeLasting(said);
    }
  }

  function takeLasting(said: Event): void {
    remains.lasting.apply(said);
    conversation.hold(said);
  }

  /** The history begins behind a summary: what was said before and still applies, from the end of the turn before on. */
  async function applyBefore(last: number): Promise<void> {
    let page: readonly Event[] = [];
    for (let after = last; after > 0 && !page.some(isEnd); ) {
      const end = after;
      after = Math.max(0, after - READ_PAGE_EVENTS);
      page = [...(await store.read(id, { after, limit: end - after })), ...page];
    }
    const ended = page.findLastIndex(isEnd);
    for (const said of page.slice(Math.max(0, ended))) {
      await applyLasting(said);
      takeLasting(said);
    }
  }

  /** Inputs that waited when a turn ended are further back in the log than is read. */
  async function applyWaiting(ended: Event): Promise<void> {
    for (const queued of ended.kind === "TurnEnded" ? (ended.payload.queued ?? []) : []) {
      for (const input of await store.read(id, { after: queued - 1, limit: 1 })) inputs.apply(input);
    }
  }
}

function isEnd({ kind }: Event): boolean {
  return kind === "TurnEnded";
}

interface Loaded {
  readonly conversation: Conversation;
  readonly event: number;
  readonly problem?: string;
}

/** An empty conversation at event 0 when there is no snapshot, or a compaction has left it behind. */
async function loadSnapshot({ snapshots }: SessionLog, start: number): Promise<Loaded> {
  const nothing = (): Loaded => ({ conversation: createConversation(), event: 0 });
  const kept = await snapshots?.read();
  if (kept === undefined) return nothing();
  if ("problem" in kept) return { ...nothing(), problem: kept.problem };
  if (kept.format !== SNAPSHOT_FORMAT) {
    return { ...nothing(), problem: `its format is ${kept.format}, not ${SNAPSHOT_FORMAT}` };
  }
  if (kept.event < start) return nothing();
  const conversation = createConversation();
  try {
    for await (const piece of kept.pieces()) conversation.load(piece);
  } catch (error) {
    // Whatever is wrong with a cache: the log has it all, and reading that fails loudly if the store is broken.
    return { ...nothing(), problem: messageOf(error) };
  }
  return { conversation, event: kept.event };
}

/** Of a session that a delegation made, or a copy of one: who delegated. Its own story begins with the call that it worked for. */
export async function delegatedBy(
  store: Pick<SessionStore, "read">,
  { id, parent }: Pick<SessionMeta, "id" | "parent">,
): Promise<SessionId | undefined> {
  if (parent === undefined) return undefined;
  const [first] = await store.read(id, { after: 0, limit: 1 });
  if (first?.kind !== "SessionStarted" || first.payload.call_id === undefined) return undefined;
  return first.payload.parent ?? parent;
}

/** Tools, limits and hooks of a delegate came from the call that it worked for: without it there is nothing to hold it to. */
export async function refuseDelegate(
  store: Pick<SessionStore, "read">,
  meta: Pick<SessionMeta, "id" | "parent">,
): Promise<void> {
  const by = await delegatedBy(store, meta);
  if (by === undefined) return;
  const detail =
    `${meta.id} is the session of a delegate, whose tools and limits came from the call that started it. You can read it ` +
    `(harness sessions show) but not continue it. Continue ${by}, which started the delegate.`;
  throw new ReasonError("NotAllowed", detail);
}
