/** Logins at MCP servers on the network: through the real credential helper, against a real authorization server on loopback. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SecretFingerprint } from "#base";
import { agree, login, openLoginServer, startLoginRig } from "./fakes/login-rig.ts";
import { startOAuthServer } from "./fakes/oauth-server.ts";
import { testCredentials } from "./fakes/test-credentials.ts";

const grants = ({ oauth }: Awaited<ReturnType<typeof startLoginRig>>) =>
  oauth.to("/token").map(({ body }) => new URLSearchParams(body).get("grant_type"));

test("login, use, refresh and logout; nothing but the sealed file holds a token", async () => {
  const rig = await startLoginRig();
  const { oauth, credentials } = rig;
  const { servers, server, remote, add } = openLoginServer(credentials, oauth.url);
  await servers.ready();
  expect(servers.states()).toMatchObject([
    { state: "down", lastError: "the MCP server 'net' asks for a login. Run: harness mcp login net" },
  ]);
  const pages: Response[] = [];
  const visit = async (url: string) => pages.push(await agree(url));
  expect(await login(credentials, oauth.url, { visit })).toEqual({ issuer: oauth.issuer, scope: "read" });
  expect(pages[0]?.status).toBe(200);
  expect(oauth.to("/authorize")[0]?.params.get("resource")).toBe(oauth.url);
  await servers.restart("net");
  expect(servers.states()).toMatchObject([{ state: "ready" }]);
  expect(await add()).toMatchObject({ content: [{ text: "3" }] });
  // The server repeats the token; the engine does not get it.
  const direct = await remote.fetch(oauth.url, { method: "GET" }, server);
  expect([...direct.headers.keys()]).not.toContain("x-echo");
  // What the server no longer accepts is refreshed once, and the call is sent again.
  oauth.accepted.clear();
  expect(await add()).toMatchObject({ content: [{ text: "3" }] });
  expect(grants(rig)).toEqual(["authorization_code", "refresh_token"]);
  const file = readFileSync(join(rig.config, "creds.enc"), "utf8");
  expect(oauth.secrets.filter((secret) => file.includes(secret))).toEqual([]);
  expect(JSON.parse(file).entries).toMatchObject([{ provider: "mcp-login", name: "net", hosts: [oauth.origin] }]);
  expect(await credentials.logout("net")).toBe(true);
  await expect(add()).rejects.toThrow(/«mcp-server-unavailable».* Run: harness mcp login net/);
  expect(readdirSync(rig.config)).toEqual(["creds.enc"]);
});

test("a scope that a call lacks is asked for with the next login, besides those that it had", async () => {
  const { oauth, credentials } = await startLoginRig();
  await login(credentials, oauth.url);
  const { servers, add } = openLoginServer(credentials, oauth.url);
  await servers.ready();
  oauth.scopeForCalls = "write";
  await expect(add()).rejects.toThrow(/wants more rights.* Run: harness mcp login net/);
  expect(await login(credentials, oauth.url)).toMatchObject({ scope: "read write" });
  expect(await add()).toMatchObject({ content: [{ text: "3" }] });
});

test("two sessions of one program and one of another whose token is refused refresh it once", async () => {
  const rig = await startLoginRig();
  const { oauth, credentials } = rig;
  await login(credentials, oauth.url);
  const sessions = [credentials, credentials, testCredentials(rig.env)].map((one) => openLoginServer(one, oauth.url));
  await Promise.all(sessions.map(({ servers }) => servers.ready()));
  oauth.accepted.clear();
  // The answer comes when the other process waits for its turn, or has asked as well.
  const isContended = () =>
    grants(rig).length > 2 ||
    readdirSync(rig.config).filter((name) => name.startsWith("mcp-login-net.lock")).length > 1;
  oauth.beforeTokens = () => expect.poll(isContended, { interval: 1 }).toBe(true);
  const answers = await Promise.all(sessions.map(({ add }) => add()));
  expect(answers).toMatchObject(sessions.map(() => ({ content: [{ text: "3" }] })));
  expect(grants(rig)).toEqual(["authorization_code", "refresh_token"]);
});

test("a refresh token that was revoked ends the login, and is not tried again", async () => {
  const rig = await startLoginRig();
  const { oauth, credentials } = rig;
  await login(credentials, oauth.url);
  const { servers, add } = openLoginServer(credentials, oauth.url);
  await servers.ready();
  oauth.accepted.clear();
  oauth.refreshTokens.clear();
  for (let at = 0; at < 3; at++) {
    await expect(add()).rejects.toThrow(/no longer accepts its login\. Run: harness mcp login net/);
  }
  expect(grants(rig)).toEqual(["authorization_code", "refresh_token"]);
  await login(credentials, oauth.url);
  expect(await add()).toMatchObject({ content: [{ text: "3" }] });
});

test("a refresh that fails for now says so, and the login is kept", async () => {
  const { oauth, credentials } = await startLoginRig();
  await login(credentials, oauth.url);
  const { servers, add } = openLoginServer(credentials, oauth.url);
  await servers.ready();
  oauth.accepted.clear();
  oauth.override = (_, response) => response.writeHead(503).end("access-secret-in-a-page");
  const failed = await add().catch(String);
  expect(failed).toMatch(/could not be refreshed: the authorization server refused, without a reason that can be read/);
  expect(failed).not.toMatch(/access-secret|mcp login/);
  oauth.override = () => false;
  expect(await add()).toMatchObject({ content: [{ text: "3" }] });
});

test("tokens are known secrets from the moment that they come", async () => {
  const { oauth, credentials } = await startLoginRig();
  const known: SecretFingerprint[] = [];
  credentials.onSecret((fingerprint) => void known.push(fingerprint));
  await login(credentials, oauth.url);
  const kept = oauth.secrets.filter((secret) => !secret.startsWith("code-"));
  await expect.poll(() => known.length).toBeGreaterThanOrEqual(kept.length);
  const anchors = known.flatMap(({ forms }) => forms.map(({ anchor, chars }) => `${anchor} ${chars}`));
  for (const secret of kept) expect(anchors).toContain(`${secret.slice(0, 4)} ${secret.length}`);
});

test("a token goes to no other server: not after its entry names another address, nor after the file was edited", async () => {
  const rig = await startLoginRig();
  const { oauth, credentials } = rig;
  await login(credentials, oauth.url);
  const foreign = await startOAuthServer();
  const moved = openLoginServer(credentials, foreign.url);
  await moved.servers.ready();
  expect(moved.servers.states()).toMatchObject([{ lastError: expect.stringContaining("asks for a login") }]);
  const file = join(rig.config, "creds.enc");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(oauth.origin, foreign.origin));
  const edited = openLoginServer(testCredentials(rig.env), foreign.url);
  await edited.servers.ready();
  expect(edited.servers.states()).toMatchObject([
    { lastError: expect.stringContaining("was changed after it was stored") },
  ]);
  // The same origin with another path is another resource.
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(foreign.origin, oauth.origin));
  const path = openLoginServer(testCredentials(rig.env), `${oauth.origin}/other`);
  await path.servers.ready();
  expect(path.servers.states()).toMatchObject([
    { lastError: expect.stringContaining("login for its present address") },
  ]);
  expect(foreign.calls).toBe(0);
});

test("a client that the user registered, with its secret in a variable", async () => {
  const rig = await startLoginRig();
  const credentials = testCredentials({ ...rig.env, CLIENT_SECRET: "client-secret-0f8a1c9e2b" });
  const entry = { clientId: "mine", clientSecretVariable: "CLIENT_SECRET", scopes: ["extra"] };
  await login(credentials, rig.oauth.url, { entry });
  expect(rig.oauth.to("/register")).toEqual([]);
  expect(rig.oauth.to("/authorize")[0]?.params.get("scope")).toBe("extra read");
  expect(Object.fromEntries(new URLSearchParams(rig.oauth.to("/token")[0]?.body))).toMatchObject({
    client_id: "mine",
    client_secret: "client-secret-0f8a1c9e2b",
  });
  const missing = login(rig.credentials, rig.oauth.url, { entry: { clientSecretVariable: "NOT_SET" } });
  await expect(missing).rejects.toThrow(/the variable NOT_SET.* is not set/);
});

test("a client id metadata document is the client where the authorization server takes one", async () => {
  const { oauth, credentials } = await startLoginRig();
  oauth.metadataFields = {
    client_id_metadata_document_supported: true,
    token_endpoint_auth_methods_supported: ["none"],
  };
  const clientMetadataUrl = "https://example.com/harness.json";
  await login(credentials, oauth.url, { entry: { clientMetadataUrl } });
  expect(oauth.to("/register")).toEqual([]);
  expect(oauth.to("/authorize")[0]?.params.get("client_id")).toBe(clientMetadataUrl);
});
