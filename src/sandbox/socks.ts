/**
 * SOCKS5 (RFC 1928) as bytes: what a client says and what it is answered. Reads without authentication and knows no more than the
 * CONNECT command needs; it opens nothing.
 */

export const SOCKS_VERSION = 5;
const NO_AUTHENTICATION = 0;
const NO_METHOD = 0xff;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

export const SOCKS_REPLIES = { opened: 0, refused: 2, unreachable: 4, badCommand: 7, badAddress: 8 } as const;

export type SocksReply = keyof typeof SOCKS_REPLIES;

export type SocksMessage<Value> =
  /** Not yet complete. Neither message is longer than 262 bytes. */
  | { readonly kind: "more" }
  /** `answer` is undefined where the bytes are not SOCKS5 and nothing would be understood. */
  | { readonly kind: "refused"; readonly answer: Buffer | undefined }
  | { readonly kind: "read"; readonly value: Value; readonly answer: Buffer; readonly rest: Buffer };

/** The first message: the methods of authentication that the client offers. */
export function readSocksGreeting(bytes: Buffer): SocksMessage<"greeted"> {
  if (bytes.length > 0 && bytes[0] !== SOCKS_VERSION) return { kind: "refused", answer: undefined };
  const end = 2 + (bytes[1] ?? 0);
  if (bytes.length < 2 || bytes.length < end) return { kind: "more" };
  if (!bytes.subarray(2, end).includes(NO_AUTHENTICATION)) {
    return { kind: "refused", answer: Buffer.of(SOCKS_VERSION, NO_METHOD) };
  }
  const answer = Buffer.of(SOCKS_VERSION, NO_AUTHENTICATION);
  return { kind: "read", value: "greeted", answer, rest: bytes.subarray(end) };
}

export interface SocksTarget {
  /** As the client wrote it: a name, or an address in text. */
  readonly host: string;
  readonly port: number;
}

/** The second message: what to connect to. BIND and UDP ASSOCIATE are refused. */
export function readSocksRequest(bytes: Buffer): SocksMessage<SocksTarget> {
  if (bytes.length > 0 && bytes[0] !== SOCKS_VERSION) return { kind: "refused", answer: undefined };
  if (bytes.length < 5) return { kind: "more" };
  if (bytes[1] !== CONNECT) return { kind: "refused", answer: socksReply("badCommand") };
  const field = addressField(bytes);
  if (field === undefined) return { kind: "refused", answer: socksReply("badAddress") };
  const { from, end, text } = field;
  if (bytes.length < end + 2) return { kind: "more" };
  const value = { host: text(bytes.subarray(from, end)), port: bytes.readUInt16BE(end) };
  return { kind: "read", value, answer: socksReply("opened"), rest: bytes.subarray(end + 2) };
}

/** The address that the proxy connects from is not the client's business, so the reply has zeros there. */
export function socksReply(reply: SocksReply): Buffer {
  return Buffer.of(SOCKS_VERSION, SOCKS_REPLIES[reply], 0, IPV4, 0, 0, 0, 0, 0, 0);
}

interface AddressField {
  readonly from: number;
  readonly end: number;
  readonly text: (bytes: Buffer) => string;
}

function addressField(bytes: Buffer): AddressField | undefined {
  switch (bytes[3]) {
    case IPV4:
      return { from: 4, end: 8, text: (four) => four.join(".") };
    case NAME:
      return { from: 5, end: 5 + (bytes[4] ?? 0), text: (name) => name.toString("latin1") };
    case IPV6:
      return { from: 4, end: 20, text: (sixteen) => `[${(sixteen.toString("hex").match(/.{4}/g) ?? []).join(":")}]` };
    default:
      return undefined;
  }
}
