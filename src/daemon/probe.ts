/** Asks a server of this user on this machine, and tells the ways apart in which a daemon may not answer. Changes nothing. */

import { request } from "node:http";
import { defined, errnoOf, isRecord, jsonIn } from "#base";
import { readOwnedFile } from "#world";

/** Whoever takes longer than this for the smallest question does nothing any more. */
const ANSWER_PATIENCE_MS = 5_000;
const MAX_ANSWER_CHARS = 1024 * 1024;
const MAX_TOKEN_BYTES = 64 * 1024;

export type ProbeResult =
  /** There is no socket, or nobody listens on it. */
  | { readonly kind: "nobody" }
  /** It takes the connection and says nothing, or breaks off. */
  | { readonly kind: "silent" }
  | { readonly kind: "healthy"; readonly health: Readonly<Record<string, unknown>> }
  /** One of ours, which does not know the token. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Somebody else. */
  | { readonly kind: "foreign" };

export async function probeDaemon(socketPath: string, tokenFile: string | undefined): Promise<ProbeResult> {
  const token = tokenFile === undefined ? undefined : readOwnToken(tokenFile);
  let answer: LocalAnswer;
  try {
    const asked = { method: "GET", path: "/v1/health", ...defined({ token }) };
    answer = await askLocally({ socketPath, host: "localhost" }, asked);
  } catch (error) {
    const code = errnoOf(error) ?? "";
    if (["ENOENT", "ECONNREFUSED", "ENOTSOCK"].includes(code)) return { kind: "nobody" };
    return { kind: code.startsWith("HPE_") ? "foreign" : "silent" };
  }
  const { status, body } = answer;
  if (!isRecord(body)) return { kind: "foreign" };
  if (status === 200 && body.service === "harness") return { kind: "healthy", health: body };
  const { error } = body;
  if (isRecord(error) && typeof error.reason === "string") return { kind: "refused", reason: error.reason };
  return { kind: "foreign" };
}

/** The body of a read; undefined when it is refused or nobody answers. */
export async function askDaemon(socketPath: string, tokenFile: string, path: string): Promise<unknown> {
  const token = readOwnToken(tokenFile);
  if (token === undefined) return undefined;
  try {
    const { status, body } = await askLocally({ socketPath, host: "localhost" }, { method: "GET", path, token });
    return status === 200 ? body : undefined;
  } catch {
    return undefined; // whoever goes on without the answer finds out by themselves that nobody is there
  }
}

export interface LocalAnswer {
  readonly status: number;
  /** Undefined when it is not JSON. */
  readonly body: unknown;
}

/** One request to this machine. Rejects when nobody answers, or not in time. */
export function askLocally(
  where: { readonly host: string } & ({ readonly socketPath: string } | { readonly port: number }),
  asked: { readonly method: string; readonly path: string; readonly token?: string; readonly body?: object },
): Promise<LocalAnswer> {
  const { host, ...place } = where;
  const { method, path, token, body } = asked;
  return new Promise((resolve, reject) => {
    const headers = { host, ...defined({ "x-harness-token": token }) };
    const outgoing = request({ ...place, hostname: "127.0.0.1", method, path, agent: false, headers });
    const timer = setTimeout(() => outgoing.destroy(new Error("it did not answer in time")), ANSWER_PATIENCE_MS);
    const settle = (): void => {
      clearTimeout(timer);
      outgoing.destroy();
    };
    outgoing.on("error", (error) => {
      reject(error);
      settle();
    });
    outgoing.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER_CHARS) outgoing.destroy(new Error("its answer is too long"));
      });
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, body: jsonIn(text) });
        settle();
      });
    });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Of a file that is this user's and that nobody else can read; undefined when there is none. */
export function readOwnToken(file: string): string | undefined {
  try {
    const text = readOwnedFile(file, MAX_TOKEN_BYTES)?.toString("utf8").trim();
    if (text === undefined || text === "") return undefined;
    // A token that was brought is in a file of its own form.
    const brought = jsonIn(text);
    return isRecord(brought) ? String(brought.token) : text;
  } catch {
    return undefined; // one that others can read is not used; the daemon then says that it wants one
  }
}
