/**
 * The events of one session over any number of connections, each once and in order. What was told last is known by its id, and
 * ids of a log have no holes: so whatever is missing, for whatever reason, is asked for from there again.
 */
import { isRecord } from "#base";
import { type Event, type EventOf, type SessionId, streamEvents } from "#protocol";
import type { ClientClock } from "./client-host.ts";
import { connectionLost, garbled, mayPass } from "./refusal.ts";
import { delayMs, type ReconnectOptions, type RetryPorts, retrying } from "./retry.ts";
import type { Transport } from "./transport.ts";

export interface FollowOptions extends RetryPorts {
  readonly clock: ClientClock;
  readonly transport: Pick<Transport, "address" | "events" | "log" | "tokenMayChange">;
  readonly session: SessionId;
  /** Events with a higher id. */
  readonly since: number;
  readonly signal: AbortSignal;
  readonly reconnect: ReconnectOptions;
  readonly onConnection?: ((state: "connected" | "lost") => void) | undefined;
}

/**
 * Ends with the session, or when `signal` aborts. Throws what the server refuses with, and the last error when the server does not
 * come back. Events of a kind that this build does not know, and unknown fields, pass as they are.
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<Event, void, undefined> {
  const { transport, session, signal, reconnect, onConnection, clock, random } = options;
  const again = mayPass(transport.tokenMayChange);
  let last = options.since;
  let failures = 0;
  /** The log itself goes on after a hole there, because it was asked for once more. */
  let holeAfter: number | undefined;
  /** Up to where the events had come when the last hole was met. */
  let holeSeenAt: number | undefined;
  while (!signal.aborted) {
    let isHole = false;
    let openedMs: number | undefined;
    let failure: { readonly error: unknown } | undefined;
    const onOpen = (): void => {
      openedMs = clock.monotonicMs();
      if (failures > 0) onConnection?.("connected");
    };
    try {
      for await (const event of transport.events(session, last, signal, onOpen)) {
        // A question of a delegate, whose log is another one; or about this stream: that stands in no log.
        if (event.session !== session || isNotice(event)) {
          failures = 0;
          yield event;
          continue;
        }
        if (event.kind === "StreamGap") {
          const to = endOfGap(event, transport.address);
          if (to === undefined) {
            isHole = true;
            break;
          }
          failures = 0;
          yield event;
          last = Math.max(last, to);
          continue;
        }
        if (event.id <= last) continue;
        if (event.id > last + 1 && holeAfter !== last) {
          holeAfter = last;
          isHole = true;
          break;
        }
        failures = 0;
        if (event.id > last + 1) yield gapBefore(event, last);
        last = event.id;
        yield event;
        if (event.kind === "SessionEnded" && (await isOver(options, event))) return;
      }
    } catch (error) {
      if (!signal.aborted && !again(error)) throw error;
      failure = { error };
    }
    // A server that has nothing but holes is asked again as one that ends its streams: with pauses, and not for ever.
    const isNewHole = isHole && holeSeenAt !== last;
    if (isHole) holeSeenAt = last;
    if (isNewHole || signal.aborted) continue;
    // One that held for a while was a connection, also when nothing happened on it.
    if (!isHole && openedMs !== undefined && clock.monotonicMs() - openedMs >= reconnect.maxDelayMs) failures = 0;
    failures += 1;
    if (failures > reconnect.attempts)
      throw failure?.error ?? connectionLost(transport.address, "it ends every stream");
    if (failures === 1) onConnection?.("lost");
    await reconnect.beforeRetry?.();
    await clock.sleep(delayMs(reconnect, failures, random), signal);
  }
}

/** In the log a session can go on after it has ended. One that ended with its program goes on when that is there again. */
async function isOver(options: FollowOptions, ended: EventOf<"SessionEnded">): Promise<boolean> {
  if (ended.payload.reason === "binary-shutdown") return false;
  const { transport, session, signal, reconnect } = options;
  const read = () => transport.log(session, { after: ended.id, limit: 1 }, signal);
  return (await retrying(options, reconnect, signal, mayPass(transport.tokenMayChange), read)).length === 0;
}

/** Undefined when what is missing can be asked for. */
function endOfGap({ payload }: EventOf<"StreamGap">, address: string): number | undefined {
  // Nobody has looked at the payload so far.
  const { reason, to }: Partial<Record<keyof typeof payload, unknown>> = isRecord(payload) ? payload : {};
  if (reason === "overflow") return undefined;
  if (typeof to !== "number" || !Number.isSafeInteger(to)) throw garbled(address, "a gap without an end");
  return to;
}

function isNotice({ kind }: Event): boolean {
  return kind !== "StreamGap" && streamEvents.some((known) => known === kind);
}

function gapBefore({ session, ts, id }: Event, last: number): EventOf<"StreamGap"> {
  return { id: id - 1, kind: "StreamGap", session, ts, payload: { from: last + 1, to: id - 1, reason: "ttl" } };
}
