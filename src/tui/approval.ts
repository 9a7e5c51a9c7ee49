/** Questions that wait for a person, one at a time, in the order in which they were asked. Pure. */
import type { CallId, Decision, Event, EventOf, SessionId } from "#protocol";

export type Question =
  | {
      readonly kind: "permission";
      readonly id: CallId;
      readonly session: SessionId;
      readonly asked: EventOf<"PermissionRequested">["payload"];
    }
  | {
      readonly kind: "question";
      readonly id: CallId;
      readonly session: SessionId;
      readonly asked: EventOf<"QuestionAsked">["payload"];
    };

export interface Answer {
  readonly key: string;
  readonly decision: Decision;
  readonly text: string;
}

/** The answers that count for this request, each with its key and the rule that it would make. */
export function answersOf({
  offers,
  argv_glob: glob,
  label,
}: EventOf<"PermissionRequested">["payload"]): readonly Answer[] {
  const isOffered = (decision: Decision): boolean => offers === undefined || offers.includes(decision);
  const rows: readonly (Answer | false)[] = [
    isOffered("allow_once") && { key: "y", decision: "allow_once", text: "allow once" },
    glob !== undefined &&
      isOffered("allow_argv_glob") && { key: "s", decision: "allow_argv_glob", text: `allow ${glob} for this session` },
    isOffered("allow_tool") && { key: "t", decision: "allow_tool", text: `allow ${label} for this session` },
    { key: "n", decision: "deny", text: "deny" },
  ];
  return rows.filter((row) => row !== false);
}

export function withQuestion(before: readonly Question[], event: Event): readonly Question[] {
  const { session } = event;
  switch (event.kind) {
    case "PermissionRequested":
      return [...before, { kind: "permission", id: event.payload.call_id, session, asked: event.payload }];
    case "QuestionAsked":
      return [...before, { kind: "question", id: event.payload.call_id, session, asked: event.payload }];
    case "PermissionAnswered":
    case "QuestionAnswered":
    case "ToolResult":
      return before.filter(({ id }) => id !== event.payload.call_id);
    case "TurnEnded":
    case "SessionEnded":
      return before.filter((question) => question.session !== session);
    default:
      return before;
  }
}
