/**
 * Keeps a snapshot of the conversation beside the log, so that opening the session again reads little. Made at the end of
 * a turn, when enough has happened since the last one and no call is open: what follows it then stands on its own.
 */
import { messageOf } from "#base";
import type { Event } from "#protocol";
import type { Conversation } from "./conversation.ts";
import { SNAPSHOT_FORMAT } from "./conversation-parts.ts";
import type { Remains } from "./remains.ts";
import type { SnapshotShelf } from "./store.ts";

/** A resume reads at most about this many events besides the snapshot, and those of one turn. */
export const SNAPSHOT_EVERY_EVENTS = 2000;
/** Far above what any model reads; a conversation that is longer is read from its events. */
const SNAPSHOT_MAX_CHARS = 256 * 1024 * 1024;

export interface SnapshotKeeper {
  /** After the conversation and the remains have applied the event. */
  notice(event: Event): void;
  /** Resolves when what was begun is kept or has failed. */
  settled(): Promise<void>;
}

export interface KeeperParts {
  readonly shelf: SnapshotShelf;
  readonly conversation: Conversation;
  readonly remains: Remains;
  /** The event of the snapshot that the conversation came from, and how many have followed it. */
  readonly snapshotEvent: number;
  readonly eventsSince: number;
  readonly everyEvents: number;
  /** A snapshot could not be kept; nothing is lost by it. */
  readonly onProblem: (problem: string) => void;
}

export function createSnapshotKeeper(parts: KeeperParts): SnapshotKeeper {
  const { shelf, conversation, remains, everyEvents } = parts;
  let { snapshotEvent, eventsSince } = parts;
  /** The log has let go of content that this conversation still knows; nothing of it may be kept. */
  let isStopped = false;
  let writing: Promise<void> | undefined;

  async function write(event: number, taken: ReturnType<Conversation["take"]>): Promise<void> {
    // The clients that wait for the end of the turn are told first.
    await new Promise((resolve) => setImmediate(resolve));
    const { isWhole, pieces } = taken;
    try {
      const follows = isWhole ? 0 : snapshotEvent;
      if (await shelf.write({ format: SNAPSHOT_FORMAT, event, follows, pieces })) snapshotEvent = event;
      else isStopped = true;
    } catch (error) {
      conversation.takeAllNext();
      parts.onProblem(messageOf(error));
    }
  }

  return {
    notice(event) {
      eventsSince += 1;
      const isDue = event.kind === "TurnEnded" && eventsSince >= everyEvents && !remains.hasOpenCalls;
      if (!isDue || isStopped || writing !== undefined) return;
      eventsSince = 0;
      const taken = conversation.take();
      if (taken.pieces.reduce((chars, piece) => chars + piece.length, 0) > SNAPSHOT_MAX_CHARS) {
        conversation.takeAllNext();
        parts.onProblem(`the conversation is longer than ${SNAPSHOT_MAX_CHARS} characters`);
        return;
      }
      writing = write(event.id, taken).finally(() => {
        writing = undefined;
      });
    },
    settled: () => writing ?? Promise.resolve(),
  };
}
