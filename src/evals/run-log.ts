/** What one run has left behind: the events of its session and of its delegates, and what follows from them. */
import { createAnswerCollector, type Event, type EventKind, type EventOf, type SessionId } from "#protocol";

export interface RunLog {
  readonly events: readonly Event[];
  /** The session of the case; the others are delegates. */
  readonly session: SessionId | undefined;
  of<Kind extends EventKind>(kind: Kind): readonly EventOf<Kind>[];
  /** The text of the last response to the user. */
  response(): string;
  turns(): number;
  tokens(): number;
  /** Undefined when the price of a call is not known. */
  costUsd(): number | undefined;
  /** Of all turns of the case, by the clock of the session. */
  durationMs(): number;
}

export function createRunLog(events: readonly Event[], session: SessionId | undefined): RunLog {
  const log: RunLog = {
    events,
    session,
    of: <Kind extends EventKind>(kind: Kind) =>
      events.filter((event): event is Extract<Event, { kind: Kind }> & EventOf<Kind> => event.kind === kind),
    response() {
      const collector = createAnswerCollector();
      for (const event of events) if (event.session === session) collector.add(event);
      return collector.text();
    },
    turns: () => log.of("TurnEnded").filter((event) => event.session === session).length,
    tokens() {
      const used = log.of("CostIncremented").map(({ payload: { usage } }) => usage);
      return used.reduce(
        (sum, { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens }) =>
          sum + input_tokens + output_tokens + cache_read_tokens + cache_write_tokens,
        0,
      );
    },
    costUsd() {
      let sum = 0;
      for (const { payload } of log.of("CostIncremented")) {
        if (payload.cost_usd === undefined) return undefined;
        sum += payload.cost_usd;
      }
      return sum;
    },
    durationMs: () =>
      log
        .of("TurnEnded")
        .filter((event) => event.session === session)
        .reduce((sum, { payload }) => sum + payload.duration_ms, 0),
  };
  return log;
}
