/**
 * What a server asks while it works on a request: in the older era as requests of its own, in the newer one as a result that wants
 * input and is asked for again. Both end at the `onAsk` of the request that is under way. Bounded in number and size.
 */
import { type Clock, createSerial, isRecord, type ServerAsk, type ServerCall, type ServerReply } from "#base";
import type { Deadline } from "./deadline.ts";

/** Questions during one request. */
const MAX_QUESTIONS = 10;
/** Of these, answers by the model, which cost money. */
const MAX_SAMPLES = 5;
const MAX_QUESTION_CHARS = 64 * 1024;
/** How often a server may want more input before its result counts as one that never comes. */
const MAX_ROUNDS = 10;
/** Before a request is repeated that nothing was asked for: the server wants time. */
const ROUND_PAUSE_MS = 250;
/** What people may take in all while one request is under way. */
export const MAX_ASKING_MS = 10 * 60_000;

/** Answers the questions of one request. */
export interface Asking {
  /** A question that still waits when the request has ended is withdrawn. */
  ask(asked: ServerAsk): Promise<ServerReply>;
}

export function createAsking(onAsk: ServerCall["onAsk"], deadline: Deadline, ended: AbortSignal): Asking {
  const signal = AbortSignal.any([deadline.signal, ended]);
  const serial = createSerial();
  let questions = 0;
  let samples = 0;
  return {
    async ask(asked) {
      questions += 1;
      if (onAsk === undefined) return { refused: "nobody answers questions here" };
      if (questions > MAX_QUESTIONS) return { refused: `more than ${MAX_QUESTIONS} questions during one request` };
      if (asked.method === "sampling/createMessage") samples += 1;
      if (samples > MAX_SAMPLES) return { refused: `more than ${MAX_SAMPLES} answers of the model during one request` };
      if (JSON.stringify(asked.params).length > MAX_QUESTION_CHARS) {
        return { refused: `a question is at most ${MAX_QUESTION_CHARS} characters long` };
      }
      return deadline.whilePaused(() => serial(() => onAsk(asked, signal)));
    },
  };
}

/** The requests that are under way on a connection. */
export interface RunningRequests {
  /** The returned function ends it: what is asked afterwards is refused. */
  begin(asking: Asking): () => void;
  /** For a question that does not say which request it belongs to. */
  ask(asked: ServerAsk): Promise<ServerReply>;
}

export function createRunningRequests(): RunningRequests {
  const running = new Set<Asking>();
  return {
    begin(asking) {
      running.add(asking);
      return () => void running.delete(asking);
    },
    async ask(asked) {
      const [only, another] = running;
      if (only === undefined) return { refused: "a server may ask only while a request to it is under way" };
      // In the older era nothing says whose question it is; a person must not answer for another session.
      if (another !== undefined) return { refused: "several requests are under way, and the question names none" };
      return only.ask(asked);
    },
  };
}

/** What is added to a request that is repeated with the input that its server wanted. */
export interface WithInput {
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
}

/** Repeats a request until its result is complete. Rejects with a `QuestionRefused` when it cannot be. */
export async function withInput(
  send: (input: WithInput) => Promise<unknown>,
  {
    asking,
    roots,
    clock,
    signal,
  }: {
    readonly asking: Asking;
    readonly roots: () => Readonly<Record<string, unknown>>;
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<unknown> {
  let input: WithInput = {};
  for (let round = 0; round <= MAX_ROUNDS; round++) {
    const result = await send(input);
    if (!isRecord(result) || result.resultType !== "input_required") return result;
    const { inputRequests, requestState } = result;
    const asked = Object.entries(isRecord(inputRequests) ? inputRequests : {});
    if (asked.length > MAX_QUESTIONS) throw new QuestionRefused(`it asked ${asked.length} questions at once`);
    const responses: [string, unknown][] = [];
    for (const [key, request] of asked) responses.push([key, await answer(request)]);
    if (asked.length === 0) await clock.sleep(ROUND_PAUSE_MS, signal);
    if (signal.aborted) throw new QuestionRefused("it was given up");
    input = {
      ...(asked.length > 0 && { inputResponses: Object.fromEntries(responses) }),
      ...(typeof requestState === "string" && { requestState }),
    };
  }
  throw new QuestionRefused(`it wanted input more than ${MAX_ROUNDS} times`);

  async function answer(request: unknown): Promise<Readonly<Record<string, unknown>>> {
    const { method, params } = isRecord(request) ? request : {};
    if (method === "roots/list") return roots();
    if (method !== "elicitation/create" && method !== "sampling/createMessage") {
      throw new QuestionRefused("it asked for something that it may not have");
    }
    const reply = await asking.ask({ method, params: isRecord(params) ? params : {} });
    if ("refused" in reply) throw new QuestionRefused(reply.refused);
    return reply.result;
  }
}

/** The request failed for what its server asked. */
export class QuestionRefused extends Error {
  override readonly name = "QuestionRefused";
}
