/** The answer to a handshake, on every wire of this transport. */
import { type Handshake, PROTOCOL_VERSION, ReasonError, understands } from "#protocol";
import { buildHandshake } from "#protocol/schemas";

/** Features of this transport, beside those of the protocol. */
export const HTTP_FEATURES = ["rest", "ws", "plain_events", "token_requests", "branching"] as const;

/** A client that names its version and cannot be understood is told so. Before 1.0 a higher minor version is another protocol. */
export function answerHandshake(clientVersion: unknown, features: readonly string[] = HTTP_FEATURES): Handshake {
  if (clientVersion !== undefined && clientVersion !== null) {
    if (!understands(PROTOCOL_VERSION, String(clientVersion))) {
      throw new ReasonError("HandshakeVersionMismatch", {
        client_ver: String(clientVersion).slice(0, 40),
        server_ver: PROTOCOL_VERSION,
        client_or_server: "the older of the two",
      });
    }
  }
  return buildHandshake(features);
}
