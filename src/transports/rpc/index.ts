/** JSON-RPC 2.0 on two byte streams: threads, turns, items and approvals, as a projection of the canonical events. */
export { serveRpc } from "./server.ts";
