/** Every route, and how a request finds its row. */
import { ReasonError } from "#protocol";
import { authRoutes } from "./auth-routes.ts";
import { catalogRoutes } from "./catalog-routes.ts";
import { commandRoutes } from "./command-routes.ts";
import { plainRoutes } from "./plain-routes.ts";
import type { Route } from "./route.ts";
import { sessionRoutes } from "./session-routes.ts";

export const routes: readonly Route[] = [
  ...commandRoutes,
  ...sessionRoutes,
  ...catalogRoutes,
  ...authRoutes,
  ...plainRoutes,
];

export interface MatchedRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** Throws RouteNotFound or MethodNotAllowed. */
export function matchRoute(method: string, path: string, table: readonly Route[]): MatchedRoute {
  const given = path.split("/");
  for (const route of table) {
    const params = route.method === method ? paramsOf(route.path, given) : undefined;
    if (params !== undefined) return { route, params };
  }
  const here = table.filter((route) => paramsOf(route.path, given) !== undefined);
  if (here.length === 0) throw new ReasonError("RouteNotFound", { method, path: path.slice(0, 200) });
  const allowed = here.map((route) => route.method).join(" or ");
  throw new ReasonError("MethodNotAllowed", { method, path: path.slice(0, 200), allowed });
}

/** A route that needs no token. */
export function openRoute(method: string, path: string): MatchedRoute | undefined {
  const route = routes.find((each) => each.isOpen === true && each.method === method && each.path === path);
  return route === undefined ? undefined : { route, params: {} };
}

function paramsOf(pattern: string, given: readonly string[]): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const segment = given[index] ?? "";
    if (part.startsWith("{")) params[part.slice(1, -1)] = segment;
    else if (part !== segment) return undefined;
  }
  return params;
}
