/** Asks a daemon how it is, over its Unix socket, and tells the ways apart in which it may not answer. Changes nothing. */
import { request } from "node:http";
import { errnoOf, isRecord, readOwnedFile } from "#base";

/** Whoever takes longer than this for the smallest question does nothing any more. */
export const ANSWER_PATIENCE_MS = 5_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
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

export function probeDaemon(
  socketPath: string,
  tokenFile: string | undefined,
  patienceMs = ANSWER_PATIENCE_MS,
): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const token = tokenFile === undefined ? undefined : readToken(tokenFile);
    const asked = request({
      socketPath,
      path: "/v1/health",
      agent: false,
      headers: { host: "localhost", ...(token === undefined ? {} : { "x-harness-token": token }) },
    });
    const settle = (result: ProbeResult): void => {
      clearTimeout(timer);
      resolve(result);
      asked.destroy();
    };
    const timer = setTimeout(() => settle({ kind: "silent" }), patienceMs);
    asked.on("error", (error) => {
      const nobody = ["ENOENT", "ECONNREFUSED", "ENOTSOCK"].includes(errnoOf(error) ?? "");
      settle(nobody ? { kind: "nobody" } : { kind: /^HPE_/.test(errnoOf(error) ?? "") ? "foreign" : "silent" });
    });
    asked.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER_BYTES) settle({ kind: "foreign" });
      });
      response.on("end", () => settle(readAnswer(response.statusCode ?? 0, text)));
      response.on("error", () => settle({ kind: "silent" }));
    });
    asked.end();
  });
}

function readAnswer(status: number, text: string): ProbeResult {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { kind: "foreign" };
  }
  if (!isRecord(body)) return { kind: "foreign" };
  if (status === 200 && body.service === "harness") return { kind: "healthy", health: body };
  const { error } = body;
  if (isRecord(error) && typeof error.reason === "string") return { kind: "refused", reason: error.reason };
  return { kind: "foreign" };
}

function readToken(file: string): string | undefined {
  try {
    const text = readOwnedFile(file, MAX_TOKEN_BYTES)?.toString("utf8").trim();
    return text === "" ? undefined : text;
  } catch {
    return undefined; // one that others can read is not used; the daemon then says that it wants one
  }
}
