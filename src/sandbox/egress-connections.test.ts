import { once } from "node:events";
import { Socket } from "node:net";
import { Duplex, type DuplexOptions } from "node:stream";
import { expect, test } from "vitest";
import { joinConnection } from "./egress-connections.ts";

test("a program that reads slowly gets everything that the host sent before it closed", async () => {
  const written: string[] = [];
  const released = Promise.withResolvers<void>();
  const inside = socketOf({
    write(chunk, _encoding, done) {
      void released.promise.then(() => written.push(String(chunk))).then(() => done());
    },
  });
  const closed = once(inside, "close");
  const outside = socketOf({ allowHalfOpen: false });
  joinConnection(inside, { socket: outside, count: () => undefined, cut: () => undefined });
  for (const piece of ["first ", "last", null]) outside.push(piece);
  await once(outside, "close");
  released.resolve();
  await closed;
  expect(written.join("")).toBe("first last");
});

/** A stream with what is needed here of a socket. */
function socketOf(options: DuplexOptions): Socket {
  const stream: Duplex = new Duplex({ read: () => undefined, ...options });
  const more = { destroySoon: Socket.prototype.destroySoon, setTimeout: () => stream };
  return Object.assign(stream, more) as unknown as Socket;
}
