/** `harness mcp login` as a person has it: the address on the screen, the browser, and no token where somebody could look. */
import { once } from "node:events";
import { expect, test } from "vitest";
import { createCliHome, runCli, startCli } from "../fakes/cli-process.ts";
import { seenWhileRunning } from "../fakes/key-hunt.ts";
import { agree } from "../fakes/login-rig.ts";
import { startOAuthServer } from "../fakes/oauth-server.ts";

/** Starts the login and resolves with the address that it shows. */
async function begin(home: ReturnType<typeof createCliHome>) {
  const child = startCli(home, ["mcp", "login", "net", "--no-browser"]);
  const closed = once(child, "close");
  let said = "";
  const address = await new Promise<string>((found, failed) => {
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk;
      const [, url] = /^ {2}(http\S+)$/m.exec(said) ?? [];
      if (url !== undefined) found(url);
    });
    void closed.then(() => failed(new Error(said)));
  });
  return { child, closed, address, said: () => said };
}

test("log in, be used from another process, and log out", async () => {
  const home = createCliHome();
  const oauth = await startOAuthServer();
  await runCli(home, ["mcp", "add", "net", "--url", oauth.url]);
  const tried = await runCli(home, ["mcp", "test"]);
  expect(tried).toMatchObject({ code: 1, out: expect.stringContaining("Run: harness mcp login net") });
  const { child, closed, address, said } = await begin(home);
  expect((await agree(address)).status).toBe(200);
  expect(await closed).toEqual([0, null]);
  expect(said()).toContain(`Logged in at net through ${oauth.issuer}, with the rights read.`);
  expect(child.exitCode).toBe(0);

  // While a request waits for its answer, the engine has sent it and its helper has the token.
  const reached = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  oauth.holdAnswers = () => {
    reached.resolve();
    return answer.promise;
  };
  const user = startCli(home, ["mcp", "test", "net"]);
  const ended = once(user, "close");
  await reached.promise;
  if (process.platform === "linux") {
    const secrets = oauth.secrets.filter((secret) => !secret.startsWith("code-"));
    const seen = seenWhileRunning(user.pid ?? 0, home.env.HOME ?? "", secrets);
    expect(seen).toMatchObject({ places: [], inEngine: 0 });
    expect(seen.inHelper).toBeGreaterThan(0);
  }
  answer.resolve();
  expect(await ended).toEqual([0, null]);

  expect(await runCli(home, ["creds", "list"])).toMatchObject({ out: expect.stringContaining("mcp-login") });
  expect(await runCli(home, ["mcp", "logout", "net"])).toMatchObject({ code: 0 });
  expect(await runCli(home, ["mcp", "logout", "net"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("no login is stored for the MCP server 'net'"),
  });
});

test("Ctrl-C while the browser is open ends with 130 and stores nothing", async () => {
  const home = createCliHome();
  const oauth = await startOAuthServer();
  await runCli(home, ["mcp", "add", "net", "--url", oauth.url]);
  const { child, closed, said } = await begin(home);
  child.kill("SIGINT");
  expect(await closed).toEqual([130, null]);
  expect(said()).toContain("Cancelled. Nothing was stored.");
  expect((await runCli(home, ["creds", "list"])).out).toContain("No key is stored");
});

test("a program, and a server with a token of its own, have no login", async () => {
  const home = createCliHome();
  await runCli(home, ["mcp", "add", "tool", "--", "some-program"]);
  await runCli(home, ["mcp", "add", "own", "--url", "https://example.com/mcp", "--bearer-token-env-var", "T"]);
  const refused = (name: string) => runCli(home, ["mcp", "login", name]);
  expect(await refused("tool")).toMatchObject({ code: 2, err: expect.stringContaining("it has no login") });
  expect(await refused("own")).toMatchObject({ code: 2, err: expect.stringContaining("names a token of its own") });
});
