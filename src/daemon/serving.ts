/** What serves an engine to other programs. Kept apart from the folder's index, so that whoever only joins a daemon loads no server. */
export { isLoopback, type ListenAddress, parseListenAddress, startHttpServer } from "#transports/http";
export { serveRpc } from "#transports/rpc";
export { openDaemonAccess } from "./access.ts";
export { httpBackend } from "./backend.ts";
