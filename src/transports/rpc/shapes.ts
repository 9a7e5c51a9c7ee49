/** What threads, turns and items look like on this surface. The names are those of the specification of the surface. */
import type { SessionMeta } from "#engine";
import type { Decision, SessionId, TurnId } from "#protocol";

export interface Thread {
  readonly threadId: SessionId;
  readonly title: string;
  readonly directory: string;
  readonly time: { readonly created: number; readonly updated: number };
}

export interface Turn {
  readonly turnId: TurnId;
  readonly threadId: SessionId;
  readonly status: "running" | "completed" | "cancelled" | "error";
  readonly time: { readonly started: number; readonly completed?: number };
}

export const itemTypes = [
  "user_message",
  "assistant_message",
  "tool_exec",
  "tool_log",
  "approval",
  "artifact",
] as const;
export type ItemType = (typeof itemTypes)[number];

export interface Item {
  readonly itemId: `item_${string}`;
  readonly threadId: SessionId;
  readonly turnId: TurnId;
  readonly type: ItemType;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The last three are ours: what the surface has no other word for and somebody has to know. */
export const notificationMethods = [
  "thread.created",
  "turn.started",
  "turn.completed",
  "turn.error",
  "item.started",
  "item.delta",
  "item.completed",
  "approval.requested",
  "question.asked",
  "ack.requested",
  "ack.settled",
  "call.orphaned",
  "stream.gap",
] as const;

export interface Notification {
  readonly method: (typeof notificationMethods)[number];
  readonly params: Readonly<Record<string, unknown>>;
}

/** What a connection is told: threads, turns and items, or the canonical events as `thread.event`. */
export const views = ["items", "events"] as const;
export type View = (typeof views)[number];

export const approvalDecisions = ["once", "always", "reject"] as const;
export type ApprovalDecision = (typeof approvalDecisions)[number];

/** `always` holds for the tool, until the session ends. */
export const decisionOf: Readonly<Record<ApprovalDecision, Decision>> = {
  once: "allow_once",
  always: "allow_tool",
  reject: "deny",
};

export function approvalDecisionOf(decision: Decision): ApprovalDecision {
  if (decision === "deny") return "reject";
  return decision === "allow_once" ? "once" : "always";
}

export function threadOf({ id, title, workingDir, createdAt, updatedAt }: SessionMeta): Thread {
  return {
    threadId: id,
    title,
    directory: workingDir,
    time: { created: Date.parse(createdAt), updated: Date.parse(updatedAt) },
  };
}
