/** Free of zod, so that a client can tell them apart. */
import type { EventKind } from "./events.ts";

/** Told to one client on its stream, and never in the log: they are about the stream. */
export const streamEvents = ["StreamGap", "TokenExpiring", "TokenRequested"] as const satisfies readonly EventKind[];
