/**
 * Permission requests and questions that wait for a person, for one session. The first answer counts; nobody there or no answer in
 * time is a deny. That only people answer is held before a command gets here.
 */
import type { Clock } from "#base";
import type { AckAnswer, AckQuestion, Approver, PermissionAnswer, PermissionQuestion, QuestionAnswer } from "#engine";
import { type CallId, type ClientId, ReasonError, type TurnId } from "#protocol";

export interface Answerer {
  readonly id: ClientId;
  readonly identityClass: "human" | "agent";
  /** Somebody reads its events and can send an answer. */
  readonly interactive: boolean;
}

export interface ApprovalsOptions {
  readonly clock: Pick<Clock, "sleep">;
  readonly timeoutMs: number;
  /** Attached clients, at the moment of asking. */
  readonly attached: () => Iterable<Answerer>;
  /** A human may still come while a question waits; otherwise it is denied at once when nobody is there. */
  readonly waitsForHumans?: boolean;
}

/** How long a plan waits for somebody who is there: it is read and edited. */
const LONG_QUESTION_MS = 30 * 60_000;

/** Requests of a session that a late answer is still known to belong to. */
const MAX_ASKED = 1_000;

/** How to answer each question that waits. */
type Pending<Answer> = Map<CallId, (answer: Answer | undefined) => void>;

export interface GivenAck extends Pick<AckAnswer, "answer"> {
  readonly callId: CallId;
  readonly sha256: string | undefined;
}

export interface Approvals extends Approver {
  /**
   * Both resolve when the log has the answer, and reject with CallNotFound or what kept it out of the log. `tooLate`: the request
   * was settled before, and the answer changes nothing.
   */
  decideFor(
    client: Pick<Answerer, "id">,
    callId: CallId,
    answer: Pick<PermissionAnswer, "decision" | "reason" | "args">,
  ): Promise<{ readonly tooLate: TurnId } | undefined>;
  answerFor(client: Pick<Answerer, "id">, callId: CallId, answer: string): Promise<void>;
  /** The same for an ack; rejects with HookHashChanged for another content than the one that is asked about. */
  ackFor(client: Pick<Answerer, "id">, given: GivenAck): Promise<void>;
  /** A question of this call waits for an answer. */
  isAsking(callId: CallId): boolean;
  /** Somebody is asked and has not answered. */
  readonly isWaiting: boolean;
}

export function createApprovals(options: ApprovalsOptions): Approvals {
  const { clock, timeoutMs, attached, waitsForHumans = false } = options;
  const permissions: Pending<PermissionAnswer> = new Map();
  const questions: Pending<QuestionAnswer> = new Map();
  const acks: Pending<AckAnswer> = new Map();
  /** What each ack that waits is for. */
  const asksAbout = new Map<CallId, AckQuestion>();
  /** The turn of each permission request, also of those that no longer wait; the oldest is forgotten first. */
  const asked = new Map<CallId, TurnId>();

  function canAnswer(_turn: TurnId): boolean {
    return waitsForHumans || isAttended();
  }

  function isAttended(): boolean {
    for (const client of attached()) if (client.interactive && client.identityClass === "human") return true;
    return false;
  }

  /** Waits for an entry of `pending` to be called, the deadline or a cancel, whichever is first. */
  async function wait<Answer>(
    pending: Pending<Answer>,
    { callId, isLong = false }: PermissionQuestion,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const waitMs = isLong && isAttended() ? Math.max(timeoutMs, LONG_QUESTION_MS) : timeoutMs;
    const settled = new AbortController();
    const stop = AbortSignal.any([signal, settled.signal]);
    try {
      return await new Promise<Answer | undefined>((resolve) => {
        // Gone as soon as it is answered: nobody else is told that their answer counts.
        const settle = (answer: Answer | undefined): void => {
          if (pending.get(callId) === settle) pending.delete(callId);
          resolve(answer);
        };
        pending.set(callId, settle);
        void clock.sleep(waitMs, stop).then(() => settle(undefined));
      });
    } finally {
      settled.abort();
    }
  }

  function remember({ callId, turn }: PermissionQuestion): void {
    asked.set(callId, turn);
    const [oldest] = asked.keys();
    if (asked.size > MAX_ASKED && oldest !== undefined) asked.delete(oldest);
  }

  function take<Answer>(pending: Pending<Answer>, callId: CallId) {
    const settle = pending.get(callId);
    if (settle === undefined) throw new ReasonError("CallNotFound", { call_id: callId });
    return settle;
  }

  return {
    timeoutMs,
    canAnswer,
    async decide(question, signal) {
      if (!canAnswer(question.turn)) return { decision: "deny", by: "policy", unanswered: "nobody" };
      remember(question);
      const answer = await wait(permissions, question, signal);
      if (answer !== undefined) return answer;
      return signal.aborted
        ? { decision: "deny", by: "policy", reason: "cancelled" }
        : { decision: "deny", by: "policy", unanswered: "timeout" };
    },
    async answer(question, signal) {
      return canAnswer(question.turn) ? wait(questions, question, signal) : undefined;
    },
    async ack(question, signal) {
      if (!canAnswer(question.turn)) return undefined;
      asksAbout.set(question.callId, question);
      try {
        return await wait(acks, { ...question, isLong: true }, signal);
      } finally {
        asksAbout.delete(question.callId);
      }
    },
    isAsking: (callId) => questions.has(callId),
    async decideFor(client, callId, answer) {
      const tooLate = permissions.has(callId) ? undefined : asked.get(callId);
      if (tooLate !== undefined) return { tooLate };
      const settle = take(permissions, callId);
      const { promise, resolve: onRecord } = Promise.withResolvers<void>();
      settle({ ...answer, by: client.id, onRecord });
      await promise;
      return undefined;
    },
    async answerFor(client, callId, answer) {
      const settle = take(questions, callId);
      const { promise, resolve: onRecord } = Promise.withResolvers<void>();
      settle({ answer, by: client.id, onRecord });
      await promise;
    },
    async ackFor(client, { callId, sha256, answer }) {
      const settle = take(acks, callId);
      const about = asksAbout.get(callId);
      if (about?.sha256 !== sha256) throw new ReasonError("HookHashChanged", { path: about?.file ?? "The file" });
      const { promise, resolve: onRecord } = Promise.withResolvers<void>();
      settle({ answer, by: client.id, onRecord });
      await promise;
    },
    get isWaiting() {
      return permissions.size + questions.size + acks.size > 0;
    },
  };
}
