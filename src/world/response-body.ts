/** Reads the body of an HTTP response up to a number of decoded bytes, so that a compressed bomb stops at the bound. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { EffectError } from "#base";

const MAX_ENCODINGS = 2;
/** Compressed bytes allowed beyond the decoded bound: headers and incompressible data, not an endless empty stream. */
const ENCODED_SLACK_BYTES = 64 * 1024;

/** Cut at `maxBytes`, with `truncated` set. Destroys the response; rejects when it breaks or cannot be decoded. */
export async function readBody(
  response: IncomingMessage,
  maxBytes: number,
  stop: AbortSignal,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const { pipeline } = process.getBuiltinModule("node:stream").promises;
  const chunks: Buffer[] = [];
  let encodedBytes = 0;
  let decodedBytes = 0;
  let truncated = false;

  async function* capEncoded(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      encodedBytes += chunk.length;
      if (encodedBytes > maxBytes + ENCODED_SLACK_BYTES) truncated = true;
      if (truncated) return;
      yield chunk;
    }
  }
  async function collect(source: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of source) {
      const room = maxBytes - decodedBytes;
      chunks.push(chunk.subarray(0, room));
      decodedBytes += Math.min(chunk.length, room);
      if (chunk.length > room) truncated = true;
      if (truncated) return;
    }
  }

  try {
    const decoders = await decodersOf(response, stop);
    await pipeline([response, capEncoded, ...decoders, collect], { signal: stop });
  } catch (error) {
    // Stopping in the middle makes the stages before complain of an early end.
    if (!truncated || stop.aborted) throw error;
  } finally {
    response.destroy();
  }
  return { body: Buffer.concat(chunks, decodedBytes), truncated };
}

/** In the order to undo them, which is the reverse of the header's. */
async function decodersOf(response: IncomingMessage, stop: AbortSignal): Promise<Duplex[]> {
  const names = (response.headers["content-encoding"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  if (names.length > MAX_ENCODINGS) {
    throw new EffectError("NetworkFailed", `the response is encoded more than ${MAX_ENCODINGS} times`);
  }
  const decoders: Duplex[] = [];
  for (const name of names.reverse()) decoders.push(await decoderOf(name, response, stop));
  return decoders;
}

async function decoderOf(name: string, response: IncomingMessage, stop: AbortSignal): Promise<Duplex> {
  const zlib = process.getBuiltinModule("node:zlib");
  switch (name) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "br":
      return zlib.createBrotliDecompress();
    case "deflate":
      // Some servers leave out the zlib wrapper, whose first byte names method 8.
      return ((await firstByte(response, stop)) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
    default:
      throw new EffectError("NetworkFailed", `the response has the unknown content encoding ${name}`);
  }
}

async function firstByte(response: IncomingMessage, stop: AbortSignal): Promise<number> {
  await process.getBuiltinModule("node:events").once(response, "readable", { signal: stop });
  const chunk: Buffer | null = response.read();
  if (chunk === null) return 0;
  response.unshift(chunk);
  return chunk[0] ?? 0;
}
