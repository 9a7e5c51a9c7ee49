/** Request middleware: the conversation so far and the tools that may be called, as the session has them. */
import type { RequestMiddleware } from "#engine";

export function createHistory(): RequestMiddleware {
  return (call, next) => {
    const { request, history, tools, session } = call;
    const schemas = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    return next({
      ...call,
      request: {
        ...request,
        messages: [...request.messages, ...history],
        tools: [...request.tools, ...schemas],
        cacheKey: session,
      },
    });
  };
}
