/** A login at an MCP server, as the engine's process asks the helper for it: it sees the address for the browser, and no token. */
import { createHash, randomBytes } from "node:crypto";
import { defined, EffectError } from "#base";
import type { CredentialRoute } from "#engine";
import { ReasonError } from "#protocol";
import { createLineSplitter } from "#wire";
import { sendThroughSocket } from "#world";
import type { HelperCommand, LoginEntry } from "./helper-frames.ts";
import type { LoginLine } from "./helper-login.ts";

const MAX_LINE_BYTES = 64 * 1024;
/** The helper ends a login after five minutes; this is for a helper that does not. */
const PATIENCE_MS = 10 * 60_000;

export interface LoginWish extends LoginEntry {
  readonly clientSecretVariable?: string;
  /** Called with each address that a person has to open in a browser. */
  readonly onAddress: (url: string) => void;
  readonly signal: AbortSignal;
}

export interface LoginResult {
  readonly issuer: string;
  readonly scope?: string;
}

interface HelperAccess {
  readonly handOver: (variables: readonly string[]) => void;
  readonly has: (variable: string) => boolean;
  readonly bind: (command: Extract<HelperCommand, { type: "login" }>) => void;
  readonly route: (id: string, url: URL) => Promise<CredentialRoute>;
}

export async function loginThroughHelper(wish: LoginWish, helper: HelperAccess): Promise<LoginResult> {
  const { onAddress, signal, clientSecretVariable: variable, ...entry } = wish;
  if (variable !== undefined && !helper.has(variable)) {
    throw new ReasonError(
      "UsageInvalid",
      `the variable ${variable}, which the entry of '${wish.name}' names, is not set`,
    );
  }
  helper.handOver(variable === undefined ? [] : [variable]);
  const id = `login-${createHash("sha256").update(randomBytes(32)).digest("hex").slice(0, 32)}`;
  helper.bind({ type: "login", id, ...entry, ...defined({ clientSecret: variable }) });
  const url = new URL(wish.url);
  const route = await helper.route(id, url);
  if (route.type === "refused") throw new ReasonError(route.reason, route.message);
  if (route.type !== "socket") throw new Error("the helper is reached through its socket");
  const request = { url, method: "POST", headers: {}, body: "", signal, headTimeoutMs: PATIENCE_MS };
  try {
    const incoming = await sendThroughSocket(request, route);
    const lines = createLineSplitter(MAX_LINE_BYTES);
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      for (const line of lines.push(chunk)) {
        if ("tooLong" in line) throw new Error("a line of the helper is too long");
        const said = JSON.parse(Buffer.from(line.bytes).toString("utf8")) as LoginLine; // written by our own helper
        if (said.type === "authorize") onAddress(said.url);
        else if (said.type === "done") return { issuer: said.issuer, ...defined({ scope: said.scope }) };
        else throw new EffectError(said.reason, said.detail);
      }
    }
    throw new ReasonError("CredentialHelperFailed", "it ended during the login");
  } catch (error) {
    if (signal.aborted) throw new ReasonError("Cancelled", {}, { cause: error });
    if (!(error instanceof EffectError)) throw error;
    throw new ReasonError("MCPLoginFailed", { name: wish.name, detail: error.message }, { cause: error });
  }
}
