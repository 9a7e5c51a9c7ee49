/** Free of zod, so that a client can tell them apart. */
import type { EventKind } from "./events.ts";

/** Told to clients on their streams, and never in the log: they are about the stream, or about what the log could not take. */
export const streamEvents = [
  "StreamGap",
  "TokenExpiring",
  "TokenRequested",
  "TurnLost",
] as const satisfies readonly EventKind[];
