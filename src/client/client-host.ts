/** What a client needs of where it runs: Node has one, and a page in a browser another (`#client/host`). */
import type { Clock, Random } from "#base";
import type { Target } from "./target.ts";
import type { Transport } from "./transport.ts";

export type ClientClock = Pick<Clock, "sleep" | "monotonicMs">;

export interface ClientHost {
  readonly clock: ClientClock;
  readonly random: Random;
  /** Rejects with UsageInvalid for a target that cannot be reached from here. */
  transportTo(target: Target, clock: ClientClock): Promise<Transport>;
}
