/** The last row: session, profile, model, cost, context, mode, branch, confinement. On narrow screens, less important parts go first. Pure. */
import { visibleLine } from "#base";
import type { RowStyle } from "./block-rows.ts";
import type { SessionStatus } from "./session-status.ts";
import type { State } from "./state.ts";

export interface StatusFacts {
  readonly session: string;
  readonly profile: string;
  readonly isCostShown: boolean;
}

/** `keep`: the parts with the lowest numbers go first. */
interface Part {
  readonly text: string;
  readonly keep: number;
}

const SESSION_CHARS = 10;
const SEPARATOR = " · ";

export function statusLine(state: State, facts: StatusFacts, { theme, columns, widgets }: RowStyle): string {
  const { transcript, isConnected, status } = state;
  const own = status.facts;
  const parts: Part[] = [
    { text: `${facts.session.slice(0, SESSION_CHARS)}…`, keep: 3 },
    { text: facts.profile, keep: 1 },
    { text: transcript.model, keep: 9 },
    ...(facts.isCostShown ? costParts(status) : []),
    { text: contextText(status), keep: 6 },
    { text: own === undefined ? "" : own.mode, keep: own?.mode === "ask" ? 2 : 8 },
    { text: own?.branch ?? "", keep: 4 },
    { text: sandboxText(status), keep: status.isSandboxed === false ? 7 : 2 },
    { text: state.queue.length > 0 ? `${state.queue.length} queued` : "", keep: 7 },
    { text: isConnected ? "" : "reconnecting …", keep: 10 },
  ];
  let shown = parts.map((part) => ({ ...part, text: visibleLine(part.text) })).filter(({ text }) => text !== "");
  const line = (): string => shown.map(({ text }) => text).join(SEPARATOR);
  while (shown.length > 1 && widgets.visibleWidth(line()) > columns) {
    const least = Math.min(...shown.map(({ keep }) => keep));
    shown = shown.toSpliced(
      shown.findLastIndex(({ keep }) => keep === least),
      1,
    );
  }
  return theme.paint("dim", widgets.truncateToWidth(line(), columns));
}

/** A turn that several providers worked on shows what each of them cost. */
function costParts({ turnCosts, sessionCostUsd }: SessionStatus): Part[] {
  const total = [...turnCosts.values()].reduce((sum, cost) => sum + cost, 0);
  const split = [...turnCosts].map(([provider, cost]) => `${dollars(cost)} ${provider}`).join(" + ");
  const turn = turnCosts.size > 1 ? `${split} = ${dollars(total)}` : dollars(total);
  return [
    { text: `${turn}/turn`, keep: 5 },
    { text: `${dollars(sessionCostUsd)}/sess`, keep: 4 },
  ];
}

function dollars(usd: number): string {
  return `$${usd.toFixed(2)}`;
}

function contextText({ facts, contextTokens }: SessionStatus): string {
  const room = facts?.context_tokens;
  return room === undefined || room === 0 ? "" : `ctx ${Math.round((contextTokens / room) * 100)}%`;
}

function sandboxText({ facts, isSandboxed }: SessionStatus): string {
  if (isSandboxed !== undefined) return isSandboxed ? "sandbox" : "no sandbox";
  if (facts === undefined) return "";
  return facts.sandbox === "off" ? "no sandbox" : `sandbox ${facts.sandbox}`;
}
