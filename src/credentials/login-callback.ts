/**
 * Where the browser comes back to after a login: one page on 127.0.0.1 that takes one answer with the right `state`. What it is sent
 * goes to the login in this process and into no page, no log and no other process.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EffectError } from "#base";

const PATH = "/callback";
const MAX_CONNECTIONS = 8;
const MAX_WRONG_ANSWERS = 20;
const REQUEST_MS = 5_000;

/** What the authorization server sent along with the browser. Only `code` is a secret. */
export interface LoginAnswer {
  readonly code?: string;
  readonly iss?: string;
  readonly error?: string;
}

export interface LoginCallback {
  readonly redirectUrl: string;
  /** The first answer with the right `state`; rejects when the signal aborts, or after too many wrong ones. */
  answer(signal: AbortSignal): Promise<LoginAnswer>;
  close(): void;
}

export async function openLoginCallback(state: string, port = 0): Promise<LoginCallback> {
  const { createServer } = process.getBuiltinModule("node:http");
  const answered = Promise.withResolvers<LoginAnswer>();
  answered.promise.catch(() => undefined); // whoever waits is told; a login may end before anybody does
  let isTaken = false;
  let wrong = 0;
  const server = createServer((request, response) => {
    const params = paramsOf(request, server);
    if (params === undefined) return page(response, 404, "There is nothing here.");
    if (isTaken) return page(response, 410, "This login was answered already.");
    if (!isSame(params.get("state") ?? "", state)) {
      wrong += 1;
      if (wrong >= MAX_WRONG_ANSWERS) {
        answered.reject(new EffectError("AccessDenied", "too many answers came with a wrong state"));
      }
      return page(response, 400, "This answer does not belong to the login that is waiting.");
    }
    isTaken = true;
    answered.resolve({ ...field(params, "code"), ...field(params, "iss"), ...field(params, "error") });
    page(response, 200, "You can close this window and return to the terminal, which says whether the login worked.");
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.requestTimeout = REQUEST_MS;
  server.headersTimeout = REQUEST_MS;
  server.keepAliveTimeout = 1;
  await listening(server, port);
  return {
    redirectUrl: `http://127.0.0.1:${portOf(server)}${PATH}`,
    answer: (signal) => Promise.race([answered.promise, aborted(signal)]),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const detail = port === 0 ? "127.0.0.1" : `127.0.0.1, port ${port} (oauth_callback_port)`;
      reject(new EffectError("NetworkFailed", `cannot listen on ${detail}: ${error.message}`, { cause: error }));
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port; // it listens on TCP
}

/** Undefined for a request that is not the browser's return: another path, another method, another name for this machine. */
function paramsOf({ method, url, headers }: IncomingMessage, server: Server): URLSearchParams | undefined {
  const host = `127.0.0.1:${portOf(server)}`;
  const address = URL.parse(url ?? "", `http://${host}`);
  const isOurs = method === "GET" && headers.host === host && address?.host === host && address.pathname === PATH;
  return isOurs ? address.searchParams : undefined;
}

/** A parameter that comes twice is none. */
function field<Name extends string>(params: URLSearchParams, name: Name): Partial<Record<Name, string>> {
  const [value, ...more] = params.getAll(name);
  // The object has this one field.
  return value === undefined || more.length > 0 ? {} : ({ [name]: value } as Partial<Record<Name, string>>);
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && process.getBuiltinModule("node:crypto").timingSafeEqual(a, b);
}

function page(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      connection: "close",
    })
    .end(`<!doctype html><meta charset="utf-8"><title>Harness</title><p>${text}</p>\n`);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
