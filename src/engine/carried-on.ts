/** What the end of a turn says of everything before it: a resume from a snapshot that was made there reads nothing further back. */
import { defined } from "#base";
import type { EventPayload, Label } from "#protocol";
import { type Spent, treeTotal } from "./spent.ts";

export interface CarriedOn {
  /** What the session has used, this turn included. */
  readonly spent: Spent;
  readonly delegated: Spent;
  readonly labels: readonly Label[];
  readonly planMode: boolean;
  /** Inputs that wait, by the ids of their events. */
  readonly queued: readonly number[];
  /** Events that still apply. */
  readonly lasting: readonly number[];
}

export function carriedOn({
  spent,
  delegated,
  labels,
  planMode,
  queued,
  lasting,
}: CarriedOn): Pick<
  EventPayload<"TurnEnded">,
  "labels" | "plan_mode" | "queued" | "lasting" | "session_total" | "tree_total"
> {
  const tree_total = treeTotal(spent, delegated);
  return {
    ...(labels.length === 0 ? {} : { labels: [...labels] }),
    ...(planMode ? { plan_mode: true } : {}),
    ...(queued.length === 0 ? {} : { queued: [...queued] }),
    ...(lasting.length === 0 ? {} : { lasting: [...lasting] }),
    session_total: spent,
    ...defined({ tree_total }),
  };
}
