/**
 * What waits to be written. Answers are always kept: who asks faster than they read is asked to wait by `room`. Notifications beyond
 * the bound are left out, event by event, and the gap is told as soon as there is room: a slow reader holds up nobody.
 */
import type { SessionId } from "#protocol";
import { messageLine } from "#wire";

export const OUTBOX_MAX_BYTES = 8 * 1024 * 1024;
/** Written at a time. */
const CHUNK_CHARS = 256 * 1024;

export interface Outbox {
  answer(line: string): void;
  /** All lines of one event, or none of them. */
  notify(session: SessionId, eventId: number, lines: readonly string[]): void;
  /** This event cannot be told; a gap is. */
  leaveOut(session: SessionId, eventId: number, reason: Gap["reason"]): void;
  /** Undefined when there is room for more, nobody reads any more, or `hurry` says not to wait; else resolves when it is so. */
  room(hurry: AbortSignal): Promise<void> | undefined;
  /** Resolves when everything was taken by the reader, or nobody reads any more. */
  drained(): Promise<void>;
  /** Bytes that wait, for tests of the bound. */
  readonly waitingBytes: number;
}

/** The first and the last event that are missing. */
interface Gap {
  readonly from: number;
  readonly to: number;
  readonly reason: "overflow" | "failed";
}

export interface OutboxOptions {
  /** Resolves when the reader can take more; rejects when nobody reads any more. */
  readonly write: (text: string) => Promise<void>;
  readonly maxBytes?: number;
  /** Called once when nobody reads any more. */
  readonly onClosed?: () => void;
}

export function createOutbox({ write, maxBytes = OUTBOX_MAX_BYTES, onClosed }: OutboxOptions): Outbox {
  const lines: string[] = [];
  const gaps = new Map<SessionId, Gap>();
  let waitingBytes = 0;
  let closed = false;
  let pumping: Promise<void> | undefined;
  let waiters: (() => void)[] = [];

  function push(line: string): void {
    if (closed) return;
    lines.push(line);
    waitingBytes += Buffer.byteLength(line);
    pumping ??= pump();
  }

  async function pump(): Promise<void> {
    await Promise.resolve(); // what is said in the same breath is written together
    try {
      while (lines.length > 0) {
        const text = nextChunk();
        await write(text);
        waitingBytes -= Buffer.byteLength(text);
        if (hasRoom()) makeUse();
      }
    } catch {
      // The contract of `write`: nobody reads any more. Whoever opened it is told, and nothing is kept.
      closed = true;
      lines.length = 0;
      waitingBytes = 0;
      makeUse();
      onClosed?.();
    } finally {
      pumping = undefined;
    }
  }

  function nextChunk(): string {
    let count = 0;
    for (let chars = 0; count < lines.length && chars < CHUNK_CHARS; count++) chars += lines[count]?.length ?? 0;
    return lines.splice(0, count).join("");
  }

  function hasRoom(): boolean {
    return waitingBytes <= maxBytes / 2;
  }

  function makeUse(): void {
    for (const [session, gap] of gaps) push(gapLine(session, gap));
    gaps.clear();
    const resumed = waiters;
    waiters = [];
    for (const resume of resumed) resume();
  }

  function leaveOut(session: SessionId, eventId: number, reason: Gap["reason"]): void {
    gaps.set(session, { from: eventId, reason, ...gaps.get(session), to: eventId });
    if (hasRoom()) makeUse();
  }

  return {
    answer: push,
    leaveOut,
    notify(session, eventId, added) {
      if (closed || added.length === 0) return;
      const bytes = added.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
      const isFull = gaps.has(session) || (waitingBytes > 0 && waitingBytes + bytes > maxBytes);
      if (isFull) leaveOut(session, eventId, "overflow");
      else for (const line of added) push(line);
    },
    room(hurry) {
      if (closed || hurry.aborted || hasRoom()) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      const resume = (): void => resolve();
      waiters.push(resume);
      hurry.addEventListener("abort", resume, { once: true });
      return promise.then(() => hurry.removeEventListener("abort", resume));
    },
    async drained() {
      while (pumping !== undefined) await pumping;
    },
    get waitingBytes() {
      return waitingBytes;
    },
  };
}

function gapLine(threadId: SessionId, gap: Gap): string {
  return messageLine({ method: "stream.gap", params: { threadId, ...gap } });
}
