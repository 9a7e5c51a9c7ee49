/**
 * Requests to an MCP server on the network, sent by the credential helper: to its own origin and to checked addresses only, with the
 * secret headers of its entry or the token of its login. It follows no redirect and passes on no secret that the server repeats.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { EffectError, messageOf } from "#base";
import { isPrivateByName, type RemoteRequest, sendToAddress } from "#world/remote-request";
import { HELPER_HEADERS, type HelperCommand } from "./helper-frames.ts";
import { answer, passedOn } from "./helper-server.ts";
import { type LoginRecord, secretsOf } from "./login-record.ts";
import { type LoginTokens, loginRequired } from "./login-tokens.ts";

type Remote = Extract<HelperCommand, { type: "remote" }>;

const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** A call may take as long as its own limit says; whoever asked goes away then. */
const HEAD_TIMEOUT_MS = 24 * 60 * 60 * 1000;
const INSUFFICIENT_SCOPE = /\berror="?insufficient_scope\b/;
const SCOPE = /\bscope="([^"]{1,4096})"/;

export interface RemoteParts {
  readonly remote: Remote;
  readonly secrets: ReadonlyMap<string, Buffer>;
  /** For a server with a login. */
  readonly tokens: () => Promise<LoginTokens>;
}

interface Answered {
  readonly incoming: IncomingMessage;
  /** The server may repeat them. */
  readonly secrets: readonly Buffer[];
}

export async function forwardRemote(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  parts: RemoteParts,
): Promise<void> {
  const { remote, secrets } = parts;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    if (url.origin !== new URL(remote.url).origin) {
      throw new EffectError("AddressRefused", `${url.origin} is not the origin of the MCP server ${remote.name}`);
    }
    const sent = {
      url,
      method: request.method ?? "GET",
      headers: { ...flat(passedOn(request.headers)), ...secretHeaders(remote, secrets) },
      ...(request.method === "POST" && { body: await readAll(request) }),
      signal: gone.signal,
      headTimeoutMs: HEAD_TIMEOUT_MS,
    };
    const { incoming, secrets: used } =
      remote.login === undefined
        ? await sendWithoutLogin(sent, remote)
        : await sendWithLogin(sent, { ...remote, login: remote.login }, await parts.tokens());
    answer(incoming, response, [...secrets.values(), ...used]);
  } catch (error) {
    if (response.headersSent || response.destroyed) return; // whoever asked has gone
    const reason = error instanceof EffectError ? error.reason : "NetworkFailed";
    response.writeHead(403, { [HELPER_HEADERS.refused]: reason, connection: "close" }).end(messageOf(error));
    request.resume();
  }
}

function send(request: RemoteRequest, remote: Remote): Promise<IncomingMessage> {
  const mayBePrivate = (): boolean => remote.mayBePrivate || isPrivateByName(new URL(remote.url));
  return sendToAddress(request, { mayBePrivate });
}

async function sendWithoutLogin(request: RemoteRequest, remote: Remote): Promise<Answered> {
  const incoming = await send(request, remote);
  // Whoever sends a token of their own sees how the server refuses it.
  if (incoming.statusCode !== 401 || request.headers.authorization !== undefined) return { incoming, secrets: [] };
  incoming.destroy();
  throw loginRequired(remote.name, "asks for a login");
}

/** A token that the server refuses is refreshed once; the request was not carried out then, so it is sent again. */
async function sendWithLogin(
  request: RemoteRequest,
  remote: Remote & { readonly login: string },
  tokens: LoginTokens,
): Promise<Answered> {
  const sendAs = ({ accessToken }: LoginRecord): Promise<IncomingMessage> =>
    send({ ...request, headers: { ...request.headers, authorization: `Bearer ${accessToken}` } }, remote);
  let record = await tokens.current(remote);
  let incoming = await sendAs(record);
  if (incoming.statusCode === 401) {
    incoming.destroy();
    record = await tokens.refreshed(remote, record.accessToken);
    incoming = await sendAs(record);
  }
  const challenge = incoming.headers["www-authenticate"] ?? "";
  if (incoming.statusCode === 401) {
    incoming.destroy();
    throw loginRequired(remote.name, "refuses the token of its login");
  }
  if (incoming.statusCode === 403 && INSUFFICIENT_SCOPE.test(challenge)) {
    incoming.destroy();
    await tokens.wantsMore(remote, SCOPE.exec(challenge)?.[1]);
    throw loginRequired(remote.name, "wants more rights for this than its login has");
  }
  return { incoming, secrets: secretsOf(record) };
}

function secretHeaders({ headers }: Remote, secrets: ReadonlyMap<string, Buffer>): Record<string, string> {
  const sent = Object.entries(headers).map(([name, { secret, prefix }]) => {
    return [name.toLowerCase(), `${prefix}${secrets.get(secret)?.toString("utf8") ?? ""}`];
  });
  return Object.fromEntries(sent);
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new EffectError("TooLarge", `the request is longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function flat(headers: Readonly<Record<string, string | readonly string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]));
}
