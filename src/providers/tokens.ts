/** Refuses a request that cannot fit, before it is sent. */
import { estimateTokens, type ModelRequest } from "#engine";
import { type Failure, failure } from "./failure.ts";

/** The failure of a request that cannot fit; undefined when it may, or when the window is not known. */
export function contextOverflow(request: ModelRequest, contextTokens: number | undefined): Failure | undefined {
  if (contextTokens === undefined) return undefined;
  const tokens = estimateTokens(request);
  if (tokens <= contextTokens) return undefined;
  return failure("ContextOverflow", false, { tokens, model: request.model, limit: contextTokens });
}
