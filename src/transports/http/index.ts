/** REST with server-sent events, web sockets and the small surface, on one listener. */
export type { Authenticate, Authentication, Claims, PresentedToken } from "./access.ts";
export type { HttpLimits } from "./limits.ts";
export { addressText, type ListenAddress, parseListenAddress } from "./listen-address.ts";
export type { HttpObserver, Refusal } from "./observer.ts";
export { openApiDocument } from "./openapi.ts";
export type { HttpBackend, Route } from "./route.ts";
export { routes } from "./routes.ts";
export { type HttpServer, type HttpServerOptions, startHttpServer } from "./server.ts";
export { createSingleToken } from "./single-token.ts";
