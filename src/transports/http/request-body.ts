/** The body of a request as JSON: bounded for one and for all together, valid UTF-8, an object. */
import type { IncomingMessage } from "node:http";
import { ReasonError } from "#protocol";
import type { HttpLimits } from "./limits.ts";

export interface BodyReader {
  /** An empty body is an empty object. Throws BodyTooLarge, Overloaded or InvalidCommand. */
  read(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>>;
  /** Bytes of bodies that are not complete. */
  readonly unfinishedBytes: number;
}

export function createBodyReader(limits: Pick<HttpLimits, "bodyBytes" | "unfinishedBytes">): BodyReader {
  let unfinishedBytes = 0;
  return {
    get unfinishedBytes() {
      return unfinishedBytes;
    },
    async read(request) {
      const tooLarge = (): ReasonError => new ReasonError("BodyTooLarge", { limit: limits.bodyBytes });
      if (Number(request.headers["content-length"] ?? 0) > limits.bodyBytes) throw tooLarge();
      const chunks: Buffer[] = [];
      let bytes = 0;
      try {
        // Without an encoding, a request gives buffers.
        for await (const chunk of request as AsyncIterable<Buffer>) {
          bytes += chunk.length;
          unfinishedBytes += chunk.length;
          if (bytes > limits.bodyBytes) throw tooLarge();
          if (unfinishedBytes > limits.unfinishedBytes) throw new ReasonError("Overloaded");
          chunks.push(chunk);
        }
      } finally {
        unfinishedBytes -= bytes;
      }
      return parseObject(Buffer.concat(chunks));
    },
  };
}

/** Throws InvalidCommand for what is not UTF-8, not JSON or not an object. */
export function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  if (bytes.length === 0) return {};
  const invalid = (detail: string): ReasonError => new ReasonError("InvalidCommand", detail);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("it is not valid UTF-8");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(`it is not JSON (${error instanceof Error ? error.message : "unreadable"})`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid("it is not a JSON object");
  // An object by the checks above; its fields are unknown.
  return value as Readonly<Record<string, unknown>>;
}
