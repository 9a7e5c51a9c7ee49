/** A call that was cut off when the program stopped: a person looks what became of it and says so; until then no turn begins. Pure. */
import type { CallId, EventOf, SessionId } from "#protocol";
import type { QuestionStep, Questions } from "./approval.ts";
import type { Effect } from "./effects.ts";

export interface OrphanQuestion {
  readonly kind: "orphan";
  readonly id: CallId;
  readonly session: SessionId;
  readonly asked: EventOf<"OrphanedCall">["payload"];
}

type Resolution = EventOf<"OrphanResolved">["payload"]["resolution"];

export const ORPHAN_KEYS: readonly (readonly [key: string, text: string, resolution: Resolution])[] = [
  ["s", "it succeeded", "succeeded"],
  ["f", "it failed", "failed"],
  ["a", "end the session", "abort"],
];

export function withOrphanKey(before: Questions, question: OrphanQuestion, key: string): QuestionStep {
  const [, , resolution] = ORPHAN_KEYS.find(([one]) => one === key) ?? [];
  if (resolution !== undefined) return { questions: before, effects: [resolved(question, resolution)] };
  return { questions: key === "w" ? { ...before, isTypingAnswer: true } : before, effects: [] };
}

/** `note`: how far it got. */
export function resolved({ id, session }: OrphanQuestion, resolution: Resolution, note = ""): Effect {
  const command = { kind: "ResolveOrphan", call_id: id, resolution, ...(note !== "" && { note }) } as const;
  return { type: "submit", session, command };
}
