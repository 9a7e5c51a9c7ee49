/**
 * What people answered about calls that an earlier run did not finish, as a fold over its events. They were told that their answer
 * is kept: a call that runs again takes it from here and does not ask once more.
 */
import type { CallId, Event } from "#protocol";

export interface GivenAnswers {
  /** Events of the earlier run, oldest first. */
  apply(event: Event): void;
  /** The answer to this question of the call, once; undefined where nobody had answered it. */
  take(callId: CallId, question: string): string | undefined;
  /** Somebody was asked whether the call may run. */
  wasDecided(callId: CallId): boolean;
}

export function createGivenAnswers(): GivenAnswers {
  const asked = new Map<CallId, { readonly question: string; answer?: string }[]>();
  const decided = new Set<CallId>();
  return {
    apply(event) {
      switch (event.kind) {
        case "QuestionAsked": {
          const { call_id, question } = event.payload;
          const questions = asked.get(call_id) ?? [];
          questions.push({ question });
          asked.set(call_id, questions);
          break;
        }
        case "QuestionAnswered": {
          const open = asked.get(event.payload.call_id)?.findLast(({ answer }) => answer === undefined);
          if (open !== undefined) open.answer = event.payload.answer;
          break;
        }
        case "PermissionRequested":
          decided.add(event.payload.call_id);
          break;
        case "ToolOutcome":
        case "ToolResult":
          asked.delete(event.payload.call_id);
          decided.delete(event.payload.call_id);
          break;
        default:
      }
    },
    take(callId, question) {
      const questions = asked.get(callId) ?? [];
      const at = questions.findIndex((one) => one.question === question && one.answer !== undefined);
      return at < 0 ? undefined : questions.splice(at, 1)[0]?.answer;
    },
    wasDecided: (callId) => decided.has(callId),
  };
}
