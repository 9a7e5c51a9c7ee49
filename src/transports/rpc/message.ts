/** JSON-RPC 2.0 messages: one line in, requests or the error that it is; one value out, one line. Knows no method. */
import { defined, isRecord } from "#base";
import { ReasonError, reasons, storeFailure } from "#protocol";

/** Requests of one batch; each is answered, so that a line cannot ask for any amount of work. */
export const BATCH_MAX = 100;

/** Codes with the names that clients know them by. */
export const rpcErrors = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  ThreadNotFound: -32001,
  TurnBusy: -32002,
  TurnNotFound: -32003,
  ApprovalNotFound: -32004,
  StoreFailed: -32005,
} as const;

export type RpcErrorName = keyof typeof rpcErrors;
export type RequestId = string | number | null;

export interface RpcRequest {
  /** Absent: a notification, which is never answered. */
  readonly id?: RequestId;
  readonly method: string;
  readonly params: unknown;
}

export interface RpcFailure {
  readonly id: RequestId;
  readonly error: { readonly code: number; readonly message: string; readonly data: Readonly<Record<string, unknown>> };
}

export type Parsed =
  | { readonly kind: "single"; readonly entry: RpcRequest | RpcFailure }
  | { readonly kind: "batch"; readonly entries: readonly (RpcRequest | RpcFailure)[] }
  /** White space. */
  | { readonly kind: "nothing" };

/** Never throws: what is no request is the error to answer with. */
export function parseLine(bytes: Uint8Array): Parsed {
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (/^[ \t\r]*$/.test(text)) return { kind: "nothing" };
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? "it is not JSON" : "it is not UTF-8";
    return { kind: "single", entry: failure(null, "ParseError", `The line cannot be read: ${why}.`) };
  }
  if (!Array.isArray(value)) return { kind: "single", entry: parseEntry(value) };
  if (value.length === 0 || value.length > BATCH_MAX) {
    const message = value.length === 0 ? "The batch is empty." : `A batch has at most ${BATCH_MAX} requests.`;
    return { kind: "single", entry: failure(null, "InvalidRequest", message) };
  }
  return { kind: "batch", entries: value.map(parseEntry) };
}

function parseEntry(value: unknown): RpcRequest | RpcFailure {
  if (!isRecord(value)) return failure(null, "InvalidRequest", "A request is an object.");
  const { id, method, params, jsonrpc } = value;
  if (id !== undefined && id !== null && typeof id !== "string" && typeof id !== "number") {
    return failure(null, "InvalidRequest", "The id of a request is a string, a number or null.");
  }
  const known = id ?? null;
  if (jsonrpc !== "2.0") return failure(known, "InvalidRequest", 'A request has "jsonrpc": "2.0".');
  if (typeof method !== "string") return failure(known, "InvalidRequest", "A request names its method.");
  if (params !== undefined && !isRecord(params) && !Array.isArray(params)) {
    return failure(known, "InvalidRequest", "The parameters of a request are an object.");
  }
  return { ...defined({ id }), method, params: params ?? {} };
}

export function isFailure(entry: RpcRequest | RpcFailure): entry is RpcFailure {
  return "error" in entry;
}

export function failure(id: RequestId, name: RpcErrorName, message: string): RpcFailure {
  return { id, error: { code: rpcErrors[name], message, data: { name } } };
}

/** A refusal keeps its reason; anything else is ours, and its details stay here. */
export function failureOf(id: RequestId, thrown: unknown): RpcFailure {
  const error = storeFailure(thrown) ?? thrown;
  if (!(error instanceof ReasonError)) return failure(id, "InternalError", "Something in the harness failed.");
  const code = reasons[error.reason].rpc;
  const name = Object.entries(rpcErrors).find(([, number]) => number === code)?.[0] ?? "InternalError";
  return { id, error: { code, message: error.message, data: { name, reason: error.reason } } };
}

/** One line. Separators that some readers take for the end of a line are escaped. */
export function toLine(message: object): string {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  return `${escapeSeparators(text)}\n`;
}

export function batchLine(responses: readonly object[]): string {
  const text = JSON.stringify(responses.map((response) => ({ jsonrpc: "2.0", ...response })));
  return `${escapeSeparators(text)}\n`;
}

function escapeSeparators(text: string): string {
  return text.replace(/[\u0085\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
