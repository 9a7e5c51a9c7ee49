/**
 * The events of one session over any number of connections, each once and in order. What was told last is known by its id, and
 * ids of a log have no holes: so whatever is missing, for whatever reason, is asked for from there again.
 */
import type { Clock } from "#base";
import { type Event, type EventOf, type SessionId, streamEvents } from "#protocol";
import { connectionLost, mayPass } from "./refusal.ts";
import { delayMs, type ReconnectOptions, type RetryPorts, retrying } from "./retry.ts";
import type { Transport } from "./transport.ts";

export interface FollowOptions extends RetryPorts {
  readonly clock: Clock;
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
        failures = 0;
        // A question of a delegate, whose log is another one.
        if (event.session !== session) {
          yield event;
          continue;
        }
        // About this stream: it stands nowhere in the log.
        if (isNotice(event)) {
          yield event;
          continue;
        }
        if (event.kind === "StreamGap") {
          if (event.payload.reason === "overflow") {
            isHole = true;
            break;
          }
          yield event;
          last = Math.max(last, event.payload.to);
          continue;
        }
        if (event.id <= last) continue;
        if (event.id > last + 1 && holeAfter !== last) {
          holeAfter = last;
          isHole = true;
          break;
        }
        if (event.id > last + 1) yield gapBefore(event, last);
        last = event.id;
        yield event;
        if (event.kind === "SessionEnded" && (await isOver(options, event))) return;
      }
    } catch (error) {
      if (!signal.aborted && !again(error)) throw error;
      failure = { error };
    }
    if (isHole || signal.aborted) continue;
    // One that held for a while was a connection, also when nothing happened on it.
    if (openedMs !== undefined && clock.monotonicMs() - openedMs >= reconnect.maxDelayMs) failures = 0;
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

function isNotice({ kind }: Event): boolean {
  return kind !== "StreamGap" && streamEvents.some((known) => known === kind);
}

function gapBefore({ session, ts, id }: Event, last: number): EventOf<"StreamGap"> {
  return { id: id - 1, kind: "StreamGap", session, ts, payload: { from: last + 1, to: id - 1, reason: "ttl" } };
}
