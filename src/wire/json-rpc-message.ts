/** JSON-RPC 2.0 messages as lines: a line becomes a message or the error that it is, a message becomes a line. Knows no method. */
import { defined, isRecord } from "#base";

/** The errors that JSON-RPC itself has, with their codes. */
export const jsonRpcErrors = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  /** From the range that is left to implementations. */
  TooManyRequests: -32000,
} as const;

export type JsonRpcErrorName = keyof typeof jsonRpcErrors;
export type RequestId = string | number | null;

/** A refusal: what one side replies to a request, and what the request of the other side rejects with. */
export class JsonRpcError extends Error {
  override readonly name = "JsonRpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Its name is in `data`, for clients that do not know the codes. */
export function standardError(name: JsonRpcErrorName, message: string): JsonRpcError {
  return new JsonRpcError(jsonRpcErrors[name], message, { name });
}

export type RpcMessage =
  /** Without an id it is a notification, which is never replied to. */
  | { readonly type: "request"; readonly id?: RequestId; readonly method: string; readonly params: unknown }
  | { readonly type: "reply"; readonly id: RequestId; readonly result: unknown; readonly error?: JsonRpcError }
  | Malformed;

/** With the error to reply with. */
export interface Malformed {
  readonly type: "malformed";
  readonly id: RequestId;
  readonly error: JsonRpcError;
}

export type ParsedLine =
  | RpcMessage
  | { readonly type: "batch"; readonly messages: readonly RpcMessage[] }
  /** White space. */
  | { readonly type: "blank" };

/** Never throws. `batchMax`: messages of one batch; 0 refuses batches. */
export function parseLine(bytes: Uint8Array, batchMax: number): ParsedLine {
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (/^[ \t\r]*$/.test(text)) return { type: "blank" };
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? "it is not JSON" : "it is not UTF-8";
    return malformed(null, "ParseError", `The line cannot be read: ${why}.`);
  }
  if (!Array.isArray(value)) return parseMessage(value);
  if (batchMax === 0) return malformed(null, "InvalidRequest", "Batches are not supported: send one message per line.");
  if (value.length === 0) return malformed(null, "InvalidRequest", "The batch is empty.");
  if (value.length > batchMax)
    return malformed(null, "InvalidRequest", `A batch can have at most ${batchMax} requests.`);
  return { type: "batch", messages: value.map(parseMessage) };
}

function parseMessage(value: unknown): RpcMessage {
  if (!isRecord(value)) return malformed(null, "InvalidRequest", "A request must be an object.");
  const { id, method, params, jsonrpc, result, error } = value;
  if (id !== undefined && id !== null && typeof id !== "string" && typeof id !== "number") {
    return malformed(null, "InvalidRequest", "The id of a request must be a string, a number or null.");
  }
  const known = id ?? null;
  if (jsonrpc !== "2.0") return malformed(known, "InvalidRequest", 'A request must have "jsonrpc": "2.0".');
  if (method === undefined && ("result" in value || "error" in value)) {
    return { type: "reply", id: known, result, ...defined({ error: "error" in value ? errorFrom(error) : undefined }) };
  }
  if (typeof method !== "string") return malformed(known, "InvalidRequest", "A request must name its method.");
  if (params !== undefined && !isRecord(params) && !Array.isArray(params)) {
    return malformed(known, "InvalidRequest", "The parameters of a request must be an object.");
  }
  return { type: "request", ...defined({ id }), method, params: params ?? {} };
}

/** Whatever the other side made of it, it is a refusal. */
function errorFrom(value: unknown): JsonRpcError {
  const { code, message, data } = isRecord(value) ? value : {};
  return new JsonRpcError(
    typeof code === "number" ? code : jsonRpcErrors.InternalError,
    typeof message === "string" ? message : "it did not say why",
    data,
  );
}

export function malformed(id: RequestId, name: JsonRpcErrorName, message: string): Malformed {
  return { type: "malformed", id, error: standardError(name, message) };
}

/** One line, with its line feed, for one message or a batch. Separators that some readers take for the end of a line are escaped. */
export function messageLine(message: object | readonly object[]): string {
  const withVersion = (one: object): object => ({ jsonrpc: "2.0", ...one });
  const text = JSON.stringify(Array.isArray(message) ? message.map(withVersion) : withVersion(message));
  const escaped = text.replace(
    /[\u0085\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${escaped}\n`;
}
