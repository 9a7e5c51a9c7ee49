/** The request that the next turn would begin with: made by the session's own chain, and kept from the provider. */

import { compose } from "#base";
import { ReasonError } from "#protocol";
import type { HiddenTools } from "./dispatch.ts";
import type { ModelOutcome, ModelRequest } from "./provider.ts";
import type { Redaction } from "./redaction.ts";
import type { RequestCall, RequestMiddleware } from "./request-chain.ts";
import type { Tool } from "./tool.ts";

export interface RequestPreview {
  /** As the provider would get it, without the input of the turn. */
  readonly request: ModelRequest;
  /** All there are, in the order of a request. `hidden` says why the model is not shown one. */
  readonly tools: readonly { readonly tool: Tool; readonly hidden?: ReturnType<HiddenTools> }[];
}

export interface PreviewParts
  extends Pick<RequestCall, "session" | "turn" | "originator" | "history" | "pinned" | "tools"> {
  readonly model: string;
  readonly chain: readonly RequestMiddleware[];
  readonly redaction: Pick<Redaction, "request">;
  readonly hidden: HiddenTools;
}

const NO_USAGE = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };

/** Rejects with the reason of a middleware that refuses the request. */
export async function previewRequest(parts: PreviewParts): Promise<RequestPreview> {
  const { session, turn, originator, model, history, pinned, hidden } = parts;
  const tools = parts.tools.map((tool) => ({ tool, hidden: hidden(tool.name) }));
  let seen: ModelRequest | undefined;
  const request = compose(parts.chain, async (call): Promise<ModelOutcome> => {
    seen = parts.redaction.request(call.request);
    return { type: "done", model, stop: "end", usage: NO_USAGE };
  });
  const outcome = await request({
    request: { model, system: [], messages: [], tools: [] },
    emit: () => undefined,
    signal: new AbortController().signal,
    session,
    turn,
    step: 1,
    originator,
    history,
    pinned,
    tools: tools.filter((one) => one.hidden === undefined).map(({ tool }) => tool),
    onChat: () => undefined,
  });
  if (seen !== undefined) return { request: seen, tools };
  if (outcome.type === "failed") throw ReasonError.withMessage(outcome.reason, outcome.message);
  throw new ReasonError("ConfigInvalid", "a plugin answers requests itself: none reaches a model");
}
