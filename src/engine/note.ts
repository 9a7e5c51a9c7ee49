/** The one way to publish what nobody waits for: it is written with what comes next, and a store that fails fails with that. */
import type { EventKind, EventPayload } from "#protocol";
import type { EventBus } from "./bus.ts";

export function note<Kind extends EventKind>(
  bus: Pick<EventBus, "publishSoon">,
  kind: Kind,
  payload: EventPayload<Kind>,
): void {
  // A failed write is told to the bus's `onFailure`, which stops the turn; here it has nobody to reach.
  bus.publishSoon(kind, payload).catch(() => undefined);
}
