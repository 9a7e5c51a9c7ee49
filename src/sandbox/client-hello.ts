/** The first bytes of a tunnel: whether they begin TLS, and for which server. Reads only what is in the clear. */

const RECORD_HEADER_BYTES = 5;
const HANDSHAKE = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
/** The largest TLS record. */
export const MAX_HELLO_BYTES = RECORD_HEADER_BYTES + 16 * 1024;

export type ClientHello =
  | { readonly kind: "more" }
  | { readonly kind: "other" }
  | { readonly kind: "tls"; readonly serverName: string | undefined };

/** `more` asks for more bytes. A greeting in several records is `other`: its name could be hidden between them. */
export function readClientHello(bytes: Buffer): ClientHello {
  if (bytes.length === 0) return { kind: "more" };
  if (bytes[0] !== HANDSHAKE) return { kind: "other" };
  if (bytes.length < RECORD_HEADER_BYTES) return { kind: "more" };
  const end = RECORD_HEADER_BYTES + bytes.readUInt16BE(3);
  if (bytes[1] !== 3 || end > MAX_HELLO_BYTES) return { kind: "other" };
  if (bytes.length < end) return { kind: "more" };
  try {
    return helloOf(bytes.subarray(RECORD_HEADER_BYTES, end));
  } catch (error) {
    if (error instanceof RangeError) return { kind: "other" };
    throw error;
  }
}

/** Throws a RangeError when a length leads past the end. */
function helloOf(hello: Buffer): ClientHello {
  if (hello.readUInt8(0) !== CLIENT_HELLO || hello.readUIntBE(1, 3) + 4 > hello.length) return { kind: "other" };
  let at = 4 + 2 + 32;
  at += 1 + hello.readUInt8(at); // session id
  at += 2 + hello.readUInt16BE(at); // cipher suites
  at += 1 + hello.readUInt8(at); // compression methods
  if (at === hello.length) return { kind: "tls", serverName: undefined };
  const end = at + 2 + hello.readUInt16BE(at);
  at += 2;
  while (at < end) {
    const type = hello.readUInt16BE(at);
    const length = hello.readUInt16BE(at + 2);
    at += 4;
    if (type === SERVER_NAME) {
      // A list, of which only names of hosts (type 0) exist, and only one is allowed.
      if (hello.readUInt8(at + 2) !== 0) return { kind: "other" };
      const name = hello.subarray(at + 5, at + 5 + hello.readUInt16BE(at + 3));
      return { kind: "tls", serverName: name.toString("latin1") };
    }
    at += length;
  }
  return { kind: "tls", serverName: undefined };
}
