/** What the server of a daemon sees, as lines of its log and as what the idle watch asks for. */
import type { Clock } from "#base";
import type { OperationLog } from "#logs";
import type { HttpObserver } from "#transports/http";

export interface DaemonObserver extends HttpObserver {
  readonly streams: () => number;
  /** On the monotonic clock. */
  readonly lastAskedMs: () => number;
}

const AUTH_REASONS = /^(?:Token|Unauthorized|NotAllowed|TooManyFailures|HostRefused|OriginRefused|Confirmation)/;

export function createDaemonObserver(log: OperationLog, clock: Clock): DaemonObserver {
  const http = log.of("transport.http");
  const auth = log.of("auth");
  let streams = 0;
  let lastAskedMs = clock.monotonicMs();
  /** By one: each wire counts its own. */
  const changed = (by: 1 | -1): void => {
    streams += by;
    lastAskedMs = clock.monotonicMs();
  };
  return {
    streams: () => streams,
    lastAskedMs: () => lastAskedMs,
    asked() {
      lastAskedMs = clock.monotonicMs();
    },
    streamOpened(open) {
      changed(1);
      http.info("client connected", { streams: open });
    },
    streamClosed(open) {
      changed(-1);
      http.info("client disconnected", { streams: open });
    },
    refused(refusal) {
      const isAuth = AUTH_REASONS.test(refusal.reason);
      (isAuth ? auth : http)[isAuth ? "warn" : "info"]("refused", { ...refusal });
    },
  };
}
