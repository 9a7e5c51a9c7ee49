/** How a page presents its token on a web socket, where it can set no header: as a subprotocol beside the one that is spoken. */

/** What the server chooses; it never repeats the token. */
export const SOCKET_PROTOCOL = "harness";
const TOKEN_PREFIX = "harness.token.";

export function socketProtocols(token: string): string[] {
  return [SOCKET_PROTOCOL, `${TOKEN_PREFIX}${token}`];
}

/** The tokens in a `Sec-WebSocket-Protocol` header. */
export function tokensInProtocols(header: string): string[] {
  const offered = header.split(",").map((protocol) => protocol.trim());
  return offered.filter((one) => one.startsWith(TOKEN_PREFIX)).map((one) => one.slice(TOKEN_PREFIX.length));
}
