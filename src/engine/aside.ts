/** One request to a model beside the conversation, without tools: its text, how it ended, and what it used. */
import type { ModelEvent, ModelOutcome, ModelRequest } from "./provider.ts";
import type { RequestCall, RequestHandler } from "./request-chain.ts";
import type { ModelUse } from "./turn-tally.ts";

export interface AsideAnswer {
  readonly outcome: ModelOutcome;
  readonly text: string;
  /** Tool calls that it asked for; nobody makes them. */
  readonly calls: number;
  /** Absent when the provider did not say. */
  readonly use?: ModelUse;
}

type At = Pick<RequestCall, "session" | "turn" | "step" | "originator" | "signal"> &
  Partial<Pick<RequestCall, "onChat">>;

export async function askAside(handler: RequestHandler, at: At, request: ModelRequest): Promise<AsideAnswer> {
  const texts: string[] = [];
  let calls = 0;
  const emit = (event: ModelEvent): void => {
    if (event.type === "text") texts.push(event.text);
    if (event.type === "tool_call") calls += 1;
    if (event.type !== "retrying") return;
    texts.length = 0;
    calls = 0;
  };
  const { session, turn, step, originator, signal, onChat = () => undefined } = at;
  const where = { session, turn, step, originator, signal, onChat };
  const outcome = await handler({ ...where, request, emit, history: [], pinned: [], tools: [] });
  const use = useOf(outcome, request.model);
  return { outcome, text: texts.join(""), calls, ...(use !== undefined && { use }) };
}

function useOf(outcome: ModelOutcome, asked: string): ModelUse | undefined {
  if (outcome.type === "done") return outcome;
  const { usage, costUsd } = outcome;
  return usage && { model: asked, usage, ...(costUsd !== undefined && { costUsd }) };
}
