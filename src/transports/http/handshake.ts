/** The answer to a handshake, on every wire of this transport. */
import { type Handshake, ReasonError } from "#protocol";
import { buildHandshake, PROTOCOL_VERSION } from "#protocol/schemas";

/** Features of this transport, beside those of the protocol. */
const TRANSPORT_FEATURES = ["rest", "ws", "plain_events", "token_requests"] as const;

/** A client that names its version and cannot be understood is told so. Before 1.0 a higher minor version is another protocol. */
export function answerHandshake(clientVersion: unknown): Handshake {
  if (clientVersion !== undefined && clientVersion !== null) {
    const client = /^(\d+)\.(\d+)\.\d+$/.exec(String(clientVersion));
    const server = /^(\d+)\.(\d+)\./.exec(PROTOCOL_VERSION);
    const isKnown = client !== null && client[1] === server?.[1] && Number(client[2]) <= Number(server?.[2]);
    if (!isKnown) {
      throw new ReasonError("HandshakeVersionMismatch", {
        client_ver: String(clientVersion).slice(0, 40),
        server_ver: PROTOCOL_VERSION,
        client_or_server: "the older of the two",
      });
    }
  }
  return buildHandshake(TRANSPORT_FEATURES);
}
