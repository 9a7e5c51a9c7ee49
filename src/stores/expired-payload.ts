/**
 * What is left of a payload when its content has passed its time: an event that is still valid, with the marker where the
 * content was. Which fields are content is decided here, and a field that is not known counts as content. Pure.
 */
import { type EventKind, EXPIRED_CONTENT } from "#protocol";

interface Expiry {
  /** Fields that stay as they are. */
  readonly keep: readonly string[];
  /** Fields that must be there, with what they get. */
  readonly replace: Readonly<Record<string, unknown>>;
}

const block = [{ type: "text", text: EXPIRED_CONTENT }];
const args = { expired: EXPIRED_CONTENT };

/**
 * Kinds that are not listed carry no content. The chain hashes the payloads of the two sorts apart, so a kind that was ever
 * written never changes sides.
 */
const expiries: { readonly [Kind in EventKind]?: Expiry } = {
  TurnStarted: { keep: ["turn", "model", "queued"], replace: { content: block } },
  InputQueued: { keep: ["by", "allowed_by"], replace: { content: block } },
  TurnSteered: { keep: ["turn", "step", "by"], replace: { content: block } },
  ContextAdded: {
    keep: ["turn", "origin", "by", "in_prompt", "labels"],
    replace: { what: EXPIRED_CONTENT, content: block },
  },
  TextDelta: { keep: ["turn", "step", "block"], replace: { text: EXPIRED_CONTENT } },
  ThinkingDelta: { keep: ["turn", "step", "block", "provider"], replace: { text: EXPIRED_CONTENT } },
  ToolCallStarted: { keep: ["turn", "step", "block", "call_id", "name", "label", "class"], replace: { args } },
  ToolCallProgress: { keep: ["turn", "call_id"], replace: { text: EXPIRED_CONTENT } },
  ToolResult: {
    keep: ["turn", "step", "call_id", "name", "is_error", "outcome", "reason", "duration_ms", "memoized"],
    replace: { content: block },
  },
  OrphanedCall: { keep: ["turn", "call_id", "name", "started_at"], replace: { args } },
  OrphanResolved: { keep: ["turn", "call_id", "resolution", "by"], replace: { note: EXPIRED_CONTENT } },
  CompactionTriggered: {
    keep: ["turn", "step", "boundary", "strategy", "trigger", "pruned", "tokens_before", "tokens_after", "model"],
    replace: { summary: EXPIRED_CONTENT },
  },
  WorkspaceRestored: {
    keep: ["action", "by", "turns", "calls", "counts"],
    replace: { restored: [{ path: EXPIRED_CONTENT, what: EXPIRED_CONTENT }], conflicts: [], failed: [] },
  },
  PermissionRequested: {
    keep: ["turn", "call_id", "name", "label", "reason", "delegate", "request_id", "action", "class", "expires_at"],
    replace: { args, summary: EXPIRED_CONTENT, scope: EXPIRED_CONTENT },
  },
  QuestionAsked: { keep: ["turn", "call_id", "delegate"], replace: { question: EXPIRED_CONTENT } },
  QuestionAnswered: { keep: ["turn", "call_id", "by"], replace: { answer: EXPIRED_CONTENT } },
  DelegationStarted: {
    keep: ["turn", "call_id", "session", "agent", "mode", "depth", "model", "tools", "max_steps", "timeout_ms"],
    replace: { task: EXPIRED_CONTENT },
  },
  DelegationVerified: {
    keep: ["turn", "call_id", "session", "attempt", "verified", "broken"],
    replace: { reason: EXPIRED_CONTENT },
  },
  PlanChanged: { keep: ["state", "edited", "call_id", "by"], replace: { plan: EXPIRED_CONTENT } },
  TodosChanged: { keep: ["turn", "call_id"], replace: { todos: [] } },
  JobStarted: {
    keep: ["turn", "call_id", "job", "confinement", "timeout_ms"],
    replace: { command: EXPIRED_CONTENT },
  },
  JobOutput: { keep: ["call_id", "job"], replace: { text: EXPIRED_CONTENT } },
  JobEnded: {
    keep: [
      ...["call_id", "job", "turn", "step", "status", "exit_code", "signal", "duration_ms", "printed_bytes"],
      "output_hash",
    ],
    replace: { detail: EXPIRED_CONTENT },
  },
  ResourceUpdated: { keep: ["turn", "server"], replace: { uri: EXPIRED_CONTENT } },
  CustomEvent: { keep: ["namespace", "kind"], replace: { payload: EXPIRED_CONTENT } },
};

const contentKinds: ReadonlySet<string> = new Set(Object.keys(expiries));

/** Whether events of this kind carry something that expires. */
export function hasContent(kind: string): boolean {
  return contentKinds.has(kind);
}

/** The stored JSON text without its content; the same text when there is none in this kind, or none any more. */
export function expirePayload(kind: string, payload: string): string {
  const expiry = Object.hasOwn(expiries, kind) ? expiries[kind as EventKind] : undefined;
  if (expiry === undefined) return payload;
  const fields: unknown = JSON.parse(payload);
  // The log holds only payloads of events, which are objects.
  const known = fields as Readonly<Record<string, unknown>>;
  const kept = expiry.keep.filter((name) => Object.hasOwn(known, name)).map((name) => [name, known[name]] as const);
  return JSON.stringify({ ...Object.fromEntries(kept), ...expiry.replace });
}

/**
 * True for a payload that has been through `expirePayload` and lost its content there: its hash cannot be checked any more.
 * False for a kind that has no content to lose, and for text that is not JSON.
 */
export function isExpired(kind: string, payload: string): boolean {
  if (!hasContent(kind) || !payload.includes(EXPIRED_CONTENT)) return false;
  try {
    return expirePayload(kind, payload) === payload;
  } catch {
    return false; // somebody wrote this into the log, not the program
  }
}
