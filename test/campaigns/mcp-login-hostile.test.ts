/** Logins that somebody tries to break: hostile authorization servers, wrong callbacks, and people who go away. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerLogin } from "../../src/credentials/helper-login.ts";
import type { LoginStore } from "../../src/credentials/login-store.ts";
import { createOAuthFetch } from "../../src/credentials/oauth-fetch.ts";
import { serveOnLoopback } from "../fakes/http-mcp-server.ts";
import { agree, login, startLoginRig } from "../fakes/login-rig.ts";
import { json, type OAuthServer } from "../fakes/oauth-server.ts";

const METADATA = "/.well-known/oauth-authorization-server";

async function flood(response: Parameters<OAuthServer["override"]>[1]): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  const piece = Buffer.alloc(64 * 1024, " ");
  const gone = once(response, "close");
  for (let bytes = 0; bytes < 100 * 1024 * 1024 && !response.destroyed; bytes += piece.length) {
    if (!response.write(piece)) await Promise.race([once(response, "drain"), gone]);
  }
  response.end();
}

const tokens = { access_token: "access-0f8a1c9e2b7d", token_type: "Bearer" };

test.each<[string, (oauth: OAuthServer) => void, RegExp]>([
  [
    "a foreign issuer",
    (o) => (o.metadataFields = { issuer: "https://login.example.com" }),
    /names another issuer than http/,
  ],
  [
    "an issuer with a slash more in the answer",
    (o) => answerAs(o, (u) => u.searchParams.set("iss", `${o.issuer}/`)),
    /another issuer/,
  ],
  ["an answer without the issuer", (o) => answerAs(o, (u) => u.searchParams.delete("iss")), /names another issuer/],
  [
    "metadata at a private address",
    (o) => (o.metadataFields = { token_endpoint: "https://10.0.0.1/token" }),
    /10\.0\.0\.1, which is not a public/,
  ],
  [
    "metadata of a cloud",
    (o) => (o.metadataFields = { registration_endpoint: "https://169.254.169.254/r" }),
    /169\.254\.169\.254, which is not a public/,
  ],
  [
    "plain http",
    (o) => (o.metadataFields = { registration_endpoint: "http://example.com/r" }),
    /needs an https address/,
  ],
  [
    "a program for an address",
    (o) => (o.metadataFields = { authorization_endpoint: "file:///usr/bin/id" }),
    /needs an https address|not what OAuth asks for/,
  ],
  [
    "a script for an address",
    (o) => (o.metadataFields = { authorization_endpoint: "javascript:alert(1)" }),
    /needs an https address|not what OAuth asks for/,
  ],
  [
    "no proof keys",
    (o) => (o.metadataFields = { code_challenge_methods_supported: ["plain"] }),
    /does not support PKCE/,
  ],
  [
    "a redirect to a private address",
    (o) => on(o, METADATA, (r) => r.writeHead(302, { location: "http://169.254.169.254/" }).end()),
    /redirects to another origin: http:\/\/169/,
  ],
  [
    "a redirect of the token request",
    (o) => on(o, "/token", (r) => r.writeHead(307, { location: "http://10.0.0.1/t" }).end()),
    /redirects to another origin/,
  ],
  ["100 MB of metadata", (o) => on(o, METADATA, flood), /longer than 262144 bytes/],
  ["100 MB of tokens", (o) => on(o, "/token", flood), /longer than 262144 bytes/],
  [
    "tokens that are not JSON",
    (o) => on(o, "/token", (r) => r.writeHead(200).end("<html>secret-page")),
    /not what OAuth asks for/,
  ],
  [
    "tokens of another shape",
    (o) => on(o, "/token", (r) => json(r, 200, { access_token: 7 })),
    /not what OAuth asks for/,
  ],
  [
    "a token with a line break",
    (o) => on(o, "/token", (r) => json(r, 200, { ...tokens, access_token: "a\r\nX: b" })),
    /not a bearer token/,
  ],
  [
    "a token that needs a proof",
    (o) => on(o, "/token", (r) => json(r, 200, { ...tokens, token_type: "DPoP" })),
    /not a bearer token/,
  ],
  [
    "an error that repeats the code",
    (o) => on(o, "/token", (r, body) => r.writeHead(500).end(body)),
    /without a reason that can be read/,
  ],
  [
    "no registration",
    (o) => on(o, "/register", (r) => json(r, 403, { error: "no" })),
    /refused to register this program \(HTTP 403\)\. Set oauth_client_id/,
  ],
  [
    "a person who refuses",
    (o) =>
      answerAs(o, (u) => {
        u.searchParams.delete("code");
        u.searchParams.set("error", "access_denied");
      }),
    /refused the login: access_denied/,
  ],
  [
    "a token that the server refuses",
    (o) => on(o, "/token", (r) => json(r, 200, tokens)),
    /refused the token that it had just been given \(HTTP 401\)/,
  ],
])("%s: the login fails, says why, and leaves nothing", async (_name, prepare, why) => {
  const { oauth, credentials, config } = await startLoginRig();
  prepare(oauth);
  const error: unknown = await login(credentials, oauth.url).catch((failed: unknown) => failed);
  expect(error).toMatchObject({ reason: "MCPLoginFailed", message: expect.stringMatching(why) });
  expect(oauth.secrets.filter((secret) => String(error).includes(secret))).toEqual([]);
  expect(String(error)).not.toContain("secret-page");
  expect(existsSync(join(config, "creds.enc"))).toBe(false);
});

function on(
  oauth: OAuthServer,
  path: string,
  answer: (response: Parameters<OAuthServer["override"]>[1], body: string) => unknown,
): void {
  oauth.override = (sent, response) => (sent.path === path ? void answer(response, sent.body) : false);
}

/** The browser comes back with another answer than the usual one. */
function answerAs(oauth: OAuthServer, change: (back: URL) => unknown): void {
  oauth.override = ({ path, params }, response) => {
    if (path !== "/authorize") return false;
    const back = new URL(params.get("redirect_uri") ?? "");
    back.search = String(
      new URLSearchParams({ code: "c0de-0f8a", state: params.get("state") ?? "", iss: oauth.issuer }),
    );
    change(back);
    return response.writeHead(302, { location: back.href }).end();
  };
}

test("wrong callbacks are refused and the login goes on; the right one counts once", async () => {
  const { oauth, credentials } = await startLoginRig();
  const answers: number[] = [];
  const done = Promise.withResolvers<void>();
  const visit = async (address: string) => {
    const { searchParams } = new URL(address);
    const back = new URL(searchParams.get("redirect_uri") ?? "");
    const status = async (url: string | URL, init?: RequestInit) => answers.push((await fetch(url, init)).status);
    expect(back.hostname).toBe("127.0.0.1");
    await status(`${back}?code=x&state=wrong`);
    await status(`${back}?code=x`);
    await status(new URL("/other", back));
    await status(back, { method: "POST" });
    await status(`${String(back).replace("127.0.0.1", "localhost")}?code=x&state=${searchParams.get("state")}`);
    await Promise.all([agree(address), agree(address)].map(async (page) => answers.push((await page).status)));
    done.resolve();
  };
  await login(credentials, oauth.url, { visit });
  await done.promise.catch(() => undefined);
  expect(answers.slice(0, 5)).toEqual([400, 400, 404, 404, 404]);
  expect(answers.slice(5).filter((status) => status === 200)).toHaveLength(1);
  expect(oauth.to("/token")).toHaveLength(1);
});

test("Ctrl-C ends a login that waits: the page is gone and nothing is stored", async () => {
  const { oauth, credentials, config } = await startLoginRig();
  const stop = new AbortController();
  let back = "";
  const visit = (address: string) => {
    back = new URL(address).searchParams.get("redirect_uri") ?? "";
    stop.abort();
  };
  await expect(login(credentials, oauth.url, { visit, signal: stop.signal })).rejects.toMatchObject({
    reason: "Cancelled",
  });
  await expect
    .poll(() =>
      fetch(back).then(
        () => "there",
        () => "gone",
      ),
    )
    .toBe("gone");
  expect(existsSync(join(config, "creds.enc"))).toBe(false);
});

test("a login that nobody finishes ends by itself", async () => {
  const { oauth } = await startLoginRig();
  const nothing: LoginStore = {
    read: () => undefined,
    save: () => Promise.reject(new Error("it must not be stored")),
    update: async () => false,
    alone: (_, work) => work(),
  };
  const command = {
    type: "login",
    id: "l",
    name: "net",
    url: oauth.url,
    kind: "http",
    headers: {},
    mayBePrivate: false,
  } as const;
  const parts = { command, store: async () => nothing, clientSecret: undefined, tell: () => undefined, limitMs: 200 };
  const helper = await serveOnLoopback((request, response) => answerLogin(request, response, parts));
  const lines = (await (await fetch(helper.origin, { method: "POST" })).text()).trim().split("\n");
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ type: "failed", reason: "Timeout" });
  expect(lines.at(-1)).toContain("nobody finished the login within 0.2 seconds");
});

test("an endpoint that hangs, before its answer or in it, is left after a while", async () => {
  let isHalf = false;
  const { origin } = await serveOnLoopback((_, response) => (isHalf ? response.writeHead(200).write("{") : undefined));
  for (isHalf of [false, true]) {
    const signal = new AbortController().signal;
    const way = createOAuthFetch({ url: origin, mayBePrivate: false, signal, answerMs: 100 });
    await expect(way.fetch(`${origin}/token`, { method: "POST" })).rejects.toMatchObject({ reason: "Timeout" });
    expect(way.fault()).toMatchObject({ reason: "Timeout" });
  }
});

test.each([
  ["https://public.example", "http://127.0.0.1:1/", false, /needs an https|not a public/],
  ["https://public.example", "https://localhost:1/", false, /not a public/],
  ["http://127.0.0.1:5/mcp", "https://192.168.1.1/", false, /not a public/],
  ["https://10.0.0.5/mcp", "https://169.254.169.254/", true, /not a public/],
  ["https://10.0.0.5/mcp", "https://100.100.100.200/", true, /not a public/],
  ["https://10.0.0.5/mcp", "https://user:pass@10.0.0.5/", true, /without a login/],
])("an entry for %s does not lead to %s", async (url, target, mayBePrivate, why) => {
  const way = createOAuthFetch({ url, mayBePrivate, signal: new AbortController().signal, answerMs: 100 });
  await expect(way.fetch(target)).rejects.toMatchObject({
    reason: "AddressRefused",
    message: expect.stringMatching(why),
  });
  // After a refusal nothing more is sent, whatever the SDK makes of it.
  await expect(way.fetch("https://example.com/")).rejects.toBe(way.fault());
});

test("a server that wants more after every login does not have a person log in for ever", async () => {
  const { oauth, credentials, config } = await startLoginRig();
  let asked = 0;
  const proxy = await serveOnLoopback((request, response) => {
    if (request.url?.startsWith("/.well-known/") === true) {
      return json(response, 200, { resource: `${proxy.origin}/mcp`, authorization_servers: [oauth.issuer] });
    }
    const status = request.headers.authorization === undefined ? 401 : 403;
    asked += status === 403 ? 1 : 0;
    const challenge = `Bearer error="insufficient_scope", scope="s${asked}"`;
    return response.writeHead(status, { "www-authenticate": challenge }).end();
  });
  await expect(login(credentials, `${proxy.origin}/mcp`)).rejects.toThrow(/wants more rights after 3 logins/);
  expect(oauth.to("/authorize").map(({ params }) => params.get("scope"))).toEqual(["s0", "s0 s1", "s0 s1 s2"]);
  expect(existsSync(join(config, "creds.enc"))).toBe(false);
});
