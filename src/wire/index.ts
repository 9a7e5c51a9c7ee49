/**
 * Framing that several wires share: lines, JSON-RPC messages and a peer that exchanges them, server-sent events. Works on bytes and
 * text that are handed in; opens and starts nothing. Runs in browsers.
 */
export { commentFrame, createEventStreamReader, eventFrame, type StreamEvent } from "./event-stream.ts";
export { JsonRpcError, jsonRpcErrors, messageLine, standardError } from "./json-rpc-message.ts";
export { createJsonRpcPeer, PeerError, type PeerRequest, type RequestOptions } from "./json-rpc-peer.ts";
export { createLineSplitter, createTextLines, type Line } from "./line-splitter.ts";
