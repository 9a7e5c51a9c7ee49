/** The line on a terminal that says which tool call runs and for how long. It is gone when the call has ended. */
import type { Clock } from "#base";
import type { CallId, Event, SessionId } from "#protocol";
import { summarise } from "./renderer.ts";
import type { Terminal } from "./terminal.ts";

const TICK_MS = 1_000;

export interface RunningCalls {
  /** `isEarlier`: it happened before this terminal came, at the time that the event names. */
  handle(event: Event, isEarlier: boolean): void;
  stop(): void;
}

interface RunningCall {
  readonly text: string;
  readonly sinceMs: number;
  /** A person is asked first, so that it does not run yet. */
  readonly isAsked: boolean;
}

/** Of `session` and of the sessions below it. */
export function createRunningCalls(terminal: Pick<Terminal, "status">, clock: Clock, session: SessionId): RunningCalls {
  /** In the order in which they began. */
  const calls = new Map<CallId, RunningCall>();
  let ticking = new AbortController();
  ticking.abort();

  function show(): void {
    const running = [...calls.values()].filter(({ isAsked }) => !isAsked);
    const last = running.at(-1);
    const seconds = Math.floor((clock.monotonicMs() - (last?.sinceMs ?? 0)) / 1000);
    // Most calls take less, and a line that only flickers tells nobody anything.
    if (last === undefined || seconds < 1) terminal.status("");
    else terminal.status(last.text, ` · ${seconds} s${running.length > 1 ? ` (and ${running.length - 1} more)` : ""}`);
  }

  async function tick(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(TICK_MS, signal);
      if (!signal.aborted) show();
    }
  }

  function stop(): void {
    calls.clear();
    ticking.abort();
    terminal.status("");
  }

  return {
    stop,
    handle(event, isEarlier) {
      const agoMs = isEarlier ? Math.max(0, clock.now() - Date.parse(event.ts)) : 0;
      const sinceMs = clock.monotonicMs() - agoMs;
      switch (event.kind) {
        case "ToolCallStarted": {
          const { call_id, label, args } = event.payload;
          calls.set(call_id, { text: `${label} ${summarise(args)}`, sinceMs, isAsked: false });
          break;
        }
        case "PermissionRequested":
        case "QuestionAsked":
        case "PermissionAnswered": {
          const call = calls.get(event.payload.call_id);
          const isAsked = event.kind !== "PermissionAnswered";
          if (call !== undefined) calls.set(event.payload.call_id, { ...call, sinceMs, isAsked });
          break;
        }
        case "ToolResult":
          calls.delete(event.payload.call_id);
          break;
        case "TurnEnded":
        case "TurnLost":
          if (event.session === session) stop();
          return;
        default:
          return;
      }
      show();
      if (calls.size === 0) ticking.abort();
      else if (ticking.signal.aborted) {
        ticking = new AbortController();
        void tick(ticking.signal);
      }
    },
  };
}
