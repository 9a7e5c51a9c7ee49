/** Reads the first bytes that a client sends, before anybody else reads from its connection. */
import type { Duplex } from "node:stream";

/**
 * Collects bytes, beginning with `head`, as long as `wantsMore` asks for more. Also returns when the stream ends or `limit` aborts, so
 * the caller has to look at the result again. Leaves the stream paused. `wantsMore` must bound the size.
 */
export async function firstBytes(
  stream: Duplex,
  head: Buffer,
  wantsMore: (bytes: Buffer) => boolean,
  limit: AbortSignal,
): Promise<Buffer> {
  let bytes = head;
  while (wantsMore(bytes)) {
    const chunk = await nextChunk(stream, limit);
    if (chunk === undefined) break;
    bytes = Buffer.concat([bytes, chunk]);
  }
  return bytes;
}

function nextChunk(stream: Duplex, limit: AbortSignal): Promise<Buffer | undefined> {
  if (limit.aborted || stream.readableEnded || stream.destroyed) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const done = (chunk?: Buffer) => {
      stream.off("data", done).off("end", over).off("close", over).pause();
      limit.removeEventListener("abort", over);
      resolve(chunk);
    };
    const over = () => done();
    stream.on("data", done).on("end", over).on("close", over).resume();
    limit.addEventListener("abort", over, { once: true });
  });
}
