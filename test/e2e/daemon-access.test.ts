/** Who may use a daemon, as processes see it: the token of the run, one that was brought, a person at its terminal, other machines. */

import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { request as tlsRequest } from "node:https";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { type Claims, readToken, signToken, TOKEN_KEY_PURPOSE, tokenFileText } from "#auth";
import { defined } from "#base";
import { deriveKey, machineKey } from "#stores";
import { callCli } from "../fakes/cli-call.ts";
import { type CliHome, createCliHome, finish, openCliTerminal } from "../fakes/cli-process.ts";
import { startDaemonRun } from "../fakes/daemon-run.ts";
import { createSelfSignedCertificate } from "../fakes/self-signed-certificate.ts";
import { hasSandbox } from "../fakes/test-sandbox.ts";
import { sessionId, tokenId, wholeClaims } from "../fakes/token-claims.ts";

const KEY = "11".repeat(32);
const signingKey = deriveKey(machineKey({ HARNESS_MACHINE_KEY: KEY }), TOKEN_KEY_PURPOSE);

function createHome(): CliHome {
  return createCliHome({ HARNESS_MACHINE_KEY: KEY });
}

function signed(change: Partial<Claims>): string {
  return signToken({ ...wholeClaims({ jti: "" }), jti: tokenId(7), ...change }, signingKey);
}

/** As `harness token mint --file` would have written it. */
function putToken(home: CliHome, path: string, change: Partial<Claims>): string {
  const file = join(home.workspace, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, tokenFileText(signed(change)));
  chmodSync(file, 0o400);
  return file;
}

async function startDaemon(home: CliHome, ...args: string[]) {
  const socket = join(home.workspace, "..", "c.sock");
  const run = await startDaemonRun(home, "--listen", `unix:${socket}`, "-m", "scripted:demo", ...args);
  return { ...run, socket, ended: finish(run.child) };
}

interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a foreign program knows no types
  readonly json: any;
}

function ask(socketPath: string, method: string, path: string, token?: string, body?: unknown): Promise<Answered> {
  const headers = { host: "localhost", ...defined({ "x-harness-token": token }) };
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, headers, agent: false }, (response) => {
      const { statusCode: status = 0 } = response;
      const parsed = (answer: string) => ({ status, json: JSON.parse(answer) as unknown });
      text(response).then(parsed).then(resolve, reject);
    });
    asked.on("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

describe("the token of a run", () => {
  test("is a capability token of its owner, listed, revocable from outside, and over with the run", async () => {
    const home = createHome();
    const { child, socket, ended } = await startDaemon(home);
    const file = join(home.env.HOME ?? "", ".local/state/harness/control.token");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const token = readFileSync(file, "utf8").trim();
    const claims = readToken(token, signingKey);
    expect(claims).toMatchObject({ identity_class: "human", can_mint: false });
    expect(claims.sessions).toBeUndefined();
    expect(claims.exp - claims.nbf).toBe(86_400);
    expect(await ask(socket, "GET", "/v1/health", token)).toMatchObject({ status: 200 });
    expect((await callCli(home, ["token", "list"])).out).toContain(claims.jti);
    const other = signed({});
    expect(await ask(socket, "GET", "/v1/health", other)).toMatchObject({ status: 200 });
    expect(await callCli(home, ["token", "revoke", tokenId(7)])).toMatchObject({ code: 0 });
    expect(await ask(socket, "GET", "/v1/health", other)).toMatchObject({
      status: 401,
      json: { error: { reason: "TokenRevoked" } },
    });
    expect(await ask(socket, "GET", "/v1/health", token)).toMatchObject({ status: 200 });
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(false);
    const checked = await callCli({ ...home, env: { ...home.env, HARNESS_TOKEN: token } }, ["token", "check"]);
    expect(checked).toMatchObject({ code: 2, err: expect.stringContaining("TokenRevoked") });
  });
});

describe("a token file that was brought", () => {
  test("is used instead, and no other token is made", async () => {
    const home = createHome();
    const file = putToken(home, "ci.json", { commands: ["CreateSession", "SendInput"], identity_class: "agent" });
    const { socket, said } = await startDaemon(home, "--auth-token-file", "ci.json");
    expect(said()).toContain(`the token is in ${file}`);
    expect(existsSync(join(home.env.HOME ?? "", ".local/state/harness/control.token"))).toBe(false);
    const { token } = JSON.parse(readFileSync(file, "utf8")) as { token: string };
    expect(await ask(socket, "GET", "/v1/handshake", token)).toMatchObject({ status: 200 });
    const { json } = await ask(socket, "POST", "/v1/sessions", token, {});
    expect(await ask(socket, "POST", `/v1/sessions/${json.id}/cancel`, token)).toMatchObject({ status: 403 });
    expect((await callCli(home, ["token", "list", "--json"])).out).toBe("[]\n");
  });

  test("in its usual place is told at the start, with what it is for", async () => {
    const home = createHome();
    putToken(home, "../config/harness/ci-token.json", { sessions: [sessionId(1)] });
    const { child, ended, said } = await startDaemon(home);
    expect(said()).toContain(`in ${sessionId(1)}, until`);
    child.kill("SIGTERM");
    await ended;
  });
});

test.runIf(hasSandbox)("a command of the agent finds neither the socket nor the tokens of its daemon", async () => {
  const home = createHome();
  putToken(home, "brought.json", {});
  const tried =
    "for f in token brought.json; do wc -c < $f; done; curl -sS -m 2 --unix-socket c.sock http://localhost/";
  home.put("probe.sh", `${tried} 2>&1\n`);
  home.put(
    "model.yaml",
    "name: probe\nrules:\n  - when: { step: 1 }\n    reply: [{ tool: exec, args: { command: sh probe.sh } }]\notherwise: [{ text: '{{tool_result}}' }]\n",
  );
  const inside = join(home.workspace, "c.sock");
  const flags = ["--listen", `unix:${inside}`, "--token-file", "token", "--auth-token-file", "brought.json"];
  await startDaemon(home, ...flags, "-m", "scripted:./model.yaml", "--allow", "Bash(sh probe.sh)");
  const token = readFileSync(join(home.workspace, "token"), "utf8").trim();
  await ask(inside, "GET", "/v1/handshake", token);
  const { json } = await ask(inside, "POST", "/v1/sessions", token, {});
  const input = { content: [{ type: "text", text: "try" }] };
  const turn = await ask(inside, "POST", `/v1/sessions/${json.id}/input?wait=turn`, token, input);
  expect(turn.json.answer).toMatch(/^0\n0\ncurl: .*[Cc]onnect/);
});

test("a person at the terminal of the daemon reads the code out to the program that asks", async () => {
  const home = createHome();
  const socket = join(home.workspace, "..", "c.sock");
  const terminal = openCliTerminal(home, ["daemon", "run", "--listen", `unix:${socket}`, "-m", "scripted:demo"]);
  await terminal.see("the token is in");
  const asked = `/v1/auth/token?session=${sessionId(1)}&commands=SendInput`;
  const begun = await ask(socket, "GET", asked);
  expect(begun).toMatchObject({ status: 202, json: { channel: "terminal" } });
  const code = /give it the code (\d{6}) within/.exec(await terminal.see("within a minute"))?.[1];
  const made = await ask(socket, "POST", "/v1/auth/token", undefined, { request: begun.json.request, code });
  expect(made).toMatchObject({ status: 201 });
  expect(await ask(socket, "GET", "/v1/health", made.json.token)).toMatchObject({ status: 200 });
  terminal.type("\u0003");
  expect(await terminal.exit).toBe(0);
});

test("without a terminal nobody is asked, and the answer says what to do", async () => {
  const home = createHome();
  const { socket } = await startDaemon(home);
  expect(await ask(socket, "GET", "/v1/auth/token?all_sessions=true")).toMatchObject({
    status: 403,
    json: { error: { reason: "ConfirmationUnavailable", message: expect.stringContaining("--auth-channel notify") } },
  });
});

test("an address that other machines can reach is served over TLS", async () => {
  const home = createHome();
  const certificate = createSelfSignedCertificate("localhost");
  const bound = { sessions: [sessionId(1)] };
  home.put("cert.pem", certificate.cert);
  chmodSync(home.put("key.pem", certificate.key), 0o600);
  putToken(home, "lan.json", bound);
  const flags = ["--tls-cert", "cert.pem", "--tls-key", "key.pem", "--auth-token-file", "lan.json"];
  const { said } = await startDaemon(home, "--listen", "0.0.0.0:0", ...flags);
  const port = Number(/listening on 0\.0\.0\.0:(\d+) with TLS/.exec(said())?.[1]);
  const status = await new Promise<number>((resolve, reject) => {
    const headers = { host: `localhost:${port}`, "x-harness-token": signed(bound) };
    const target = { host: "127.0.0.1", servername: "localhost", port, path: "/v1/health", ca: certificate.cert };
    const asked = tlsRequest({ ...target, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on("error", reject);
    asked.end();
  });
  expect(status).toBe(200);
});
