/** REST with server-sent events, web sockets and the small surface, on one listener. */

export { addressText, isLoopback, type ListenAddress, parseListenAddress } from "../listen-address.ts";
export {
  type Authenticate,
  type Authentication,
  authenticateWith,
  authorize,
  type PresentedToken,
  requireClaims,
} from "./access.ts";
export { asReasonError, cleanReason } from "./failure.ts";
export { answerHandshake } from "./handshake.ts";
export type { TlsTexts } from "./lan.ts";
export { defaultLimits, type HttpLimits } from "./limits.ts";
export type { HttpObserver, Refusal } from "./observer.ts";
export { openApiDocument } from "./openapi.ts";
export { heldTo } from "./principal.ts";
export type { HttpBackend, Route } from "./route.ts";
export { routes } from "./routes.ts";
export { type HttpServer, type HttpServerOptions, startHttpServer } from "./server.ts";
export { createStreams } from "./streams.ts";
