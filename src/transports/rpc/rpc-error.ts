/** What this surface refuses with: the codes of JSON-RPC and its own, with the names that clients know them by. */
import { ReasonError, reasons, storeFailure } from "#protocol";
import { JsonRpcError, jsonRpcErrors, standardError } from "#wire";

const ownErrors = {
  ThreadNotFound: -32001,
  TurnBusy: -32002,
  TurnNotFound: -32003,
  ApprovalNotFound: -32004,
  StoreFailed: -32005,
  NotAllowed: -32006,
} as const;

/** A refusal keeps its reason; anything else is ours, and its details stay here. `clean`: for what the message says. */
export function rpcErrorOf(thrown: unknown, clean: (text: string) => string): JsonRpcError {
  if (thrown instanceof JsonRpcError) return thrown;
  const error = storeFailure(thrown) ?? thrown;
  if (!(error instanceof ReasonError)) return standardError("InternalError", "Harness itself failed.");
  const code = reasons[error.reason].rpc;
  const named = Object.entries({ ...jsonRpcErrors, ...ownErrors }).find(([, number]) => number === code);
  return new JsonRpcError(code, clean(error.message), { name: named?.[0] ?? "InternalError", reason: error.reason });
}
