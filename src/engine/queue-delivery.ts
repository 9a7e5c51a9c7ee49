/** When inputs that wait begin their turns: one at a time, in their order, each once, and only while its token holds. */
import { type ClientId, type EventPayload, type InputBlock, ReasonError, type SessionId } from "#protocol";
import type { EventBus, Schedule } from "./bus.ts";
import {
  type CheckToken,
  type InputQueue,
  type InputToken,
  MAX_QUEUED_INPUTS,
  type QueuedInput,
  refusalOf,
} from "./input-queue.ts";

/** How long an input waits that the store did not take: hooks look at it each time. */
const STORE_RETRY_MS = 2_000;

export interface QueueDeliveryParts {
  readonly session: SessionId;
  readonly bus: Pick<EventBus, "publish">;
  readonly inputs: InputQueue;
  /** Absent: no input that came with a token begins. */
  readonly checkToken: CheckToken | undefined;
  /** Whether a turn may begin at all. */
  readonly isFree: () => boolean;
  /** Rejects when the store did not take it. */
  readonly start: (input: QueuedInput) => Promise<unknown>;
  readonly schedule: Schedule;
}

export interface QueueDelivery {
  /** Those that wait or are on their way into the log. */
  readonly waiting: number;
  /** Resolves when it is in the log; rejects with QueueFull. */
  add(by: ClientId, content: readonly InputBlock[], token?: InputToken): Promise<void>;
  /** Takes one out that waits: it never begins. Rejects with InputNotQueued for one that does not wait, or that begins. */
  withdraw(queued: number, by: ClientId): Promise<void>;
  /** Starts a turn with the input that waits longest, when one may begin. */
  deliver(): void;
  /** Nothing begins until the returned function is called. */
  hold(): () => void;
}

export function createQueueDelivery(parts: QueueDeliveryParts): QueueDelivery {
  const { session, bus, inputs, checkToken, isFree, schedule } = parts;
  /** The input that was delivered last: one whose turn could not even begin is not tried in a circle. */
  let lastDelivered = 0;
  /** The input whose turn is on its way into the log, or runs. */
  let beginning = 0;
  /** Inputs that are on their way into the log. */
  let arriving = 0;
  /** Inputs whose refusal is on its way into the log. */
  const leaving = new Set<number>();
  let holds = 0;

  const mayBegin = (): boolean => holds === 0 && isFree();
  const waiting = (): readonly QueuedInput[] => inputs.waiting().filter(({ id }) => !leaving.has(id));

  function deliver(): void {
    const [next] = waiting();
    if (next === undefined || next.id === lastDelivered || !mayBegin()) return;
    lastDelivered = next.id;
    if (next.token === undefined) start(next);
    else void deliverChecked(next, next.token);
  }

  function start(input: QueuedInput): void {
    beginning = input.id;
    parts
      .start(input)
      .catch(tryLater)
      .finally(() => {
        if (beginning === input.id) beginning = 0;
      });
  }

  /** There may be room by then. One that was stored and failed later does not wait any more. */
  function tryLater(): void {
    schedule(() => {
      lastDelivered = 0;
      deliver();
    }, STORE_RETRY_MS);
  }

  async function deliverChecked(next: QueuedInput, token: InputToken): Promise<void> {
    const refusal = await refusalOf(token, checkToken);
    // Somebody took it back meanwhile.
    if (!waiting().includes(next)) return deliver();
    if (refusal !== undefined) return refuse(next, refusal);
    if (mayBegin()) start(next);
    // Somebody was faster, or holds the queue by now: it is its turn again later.
    else lastDelivered = 0;
  }

  async function refuse({ id: queued, by }: QueuedInput, { reason, message }: ReasonError): Promise<void> {
    try {
      await publishRefusal({ queued, by, reason, message });
    } catch {
      tryLater(); // it still waits; the store has told whoever has to know
      return;
    }
    deliver();
  }

  async function publishRefusal(refusal: EventPayload<"InputRefused">): Promise<void> {
    leaving.add(refusal.queued);
    try {
      await bus.publish("InputRefused", refusal);
    } finally {
      leaving.delete(refusal.queued);
    }
  }

  return {
    get waiting() {
      return waiting().length + arriving;
    },
    async withdraw(queued, by) {
      const isWaiting = queued !== beginning && waiting().some(({ id }) => id === queued);
      if (!isWaiting) throw new ReasonError("InputNotQueued", { queued: String(queued) });
      const { reason, message } = new ReasonError("InputWithdrawn", {});
      await publishRefusal({ queued, by, reason, message });
      deliver();
    },
    deliver,
    async add(by, content, token) {
      const before = waiting().length + arriving;
      if (before >= MAX_QUEUED_INPUTS) throw new ReasonError("QueueFull", { waiting: before, session });
      arriving += 1;
      try {
        const allowed = token === undefined ? {} : { allowed_by: token };
        await bus.publish("InputQueued", { content: [...content], by, ...allowed });
      } finally {
        arriving -= 1;
      }
      deliver();
    },
    hold() {
      holds += 1;
      return () => {
        holds -= 1;
        deliver();
      };
    },
  };
}
