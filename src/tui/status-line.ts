/** The last row: session, profile, model, cost, mode, branch. Pure. */
import { visibleLine } from "#base";
import type { RowStyle } from "./block-rows.ts";
import type { State } from "./state.ts";

export interface StatusFacts {
  readonly session: string;
  readonly profile: string;
  readonly branch: string;
  readonly isCostShown: boolean;
}

const SESSION_CHARS = 10;

export function statusLine(
  { transcript, queue, isConnected }: State,
  facts: StatusFacts,
  { theme, columns, widgets }: RowStyle,
): string {
  const { model, turnCostUsd, sessionCostUsd } = transcript;
  const parts = [
    `${facts.session.slice(0, SESSION_CHARS)}…`,
    facts.profile,
    model,
    ...(facts.isCostShown ? [`$${turnCostUsd.toFixed(2)}/turn`, `$${sessionCostUsd.toFixed(2)}/sess`] : []),
    facts.branch,
    ...(queue.length > 0 ? [`${queue.length} queued`] : []),
    ...(isConnected ? [] : ["reconnecting …"]),
  ].filter((part) => part !== "");
  return theme.paint("dim", widgets.truncateToWidth(visibleLine(parts.join(" · ")), columns));
}
