/**
 * Which requests are for this server and from whom a browser may send them: the guard against pages that reach loopback ports
 * by a name of their own. Pure, on the raw headers: what a parser joins or drops could hide a second one.
 */
import { ReasonError } from "#protocol";

export interface Listener {
  readonly channel: "unix" | "tcp";
  /** What the Host header may be, in lower case. */
  readonly hosts: readonly string[];
  /** Origins of pages that may use the server; empty: none. */
  readonly origins: readonly string[];
}

export interface RawRequest {
  readonly method: string;
  /** As it stood in the request line. */
  readonly target: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
}

export function tcpHosts(host: string, port: number): readonly string[] {
  const own = host.includes(":") ? `[${host}]` : host;
  return [...new Set([`localhost:${port}`, `127.0.0.1:${port}`, `${own}:${port}`.toLowerCase()])];
}

/** The Host of a Unix socket names nothing; clients send this one. */
export const UNIX_HOSTS = ["localhost"] as const;

/** The origin of an allowed page, undefined for what is no page. Throws HostRefused or OriginRefused. */
export function checkOrigin(request: RawRequest, { hosts, origins }: Listener): string | undefined {
  const refuse = (detail: string): ReasonError => new ReasonError("HostRefused", { detail });
  if (!request.target.startsWith("/")) throw refuse("its target is not a path");
  const named = valuesOf(request.rawHeaders, "host");
  const [host] = named;
  if (host === undefined || named.length !== 1) throw refuse(`it has ${named.length} Host headers`);
  if (!hosts.includes(host.toLowerCase())) throw refuse(`its Host is not ${hosts.join(" or ")}`);
  const from = valuesOf(request.rawHeaders, "origin");
  const [origin] = from;
  if (origin === undefined) return undefined;
  if (from.length !== 1 || !origins.includes(origin))
    throw new ReasonError("OriginRefused", { origin: from.join(", ") });
  return origin;
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
}
