/** The daemon's own log: what happened is in it, who was refused and why, and no token, no key and no input. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createDaemonHome, type DaemonHome, textBody } from "../fakes/daemon-home.ts";
import { startMockProvider } from "../fakes/mock-provider-server.ts";

const SECRET = ["gh", "p_", "Qm3TzR8vLx2NwKd7YbHs5JfGc9PaXe4Uo1Vi"].join("");

function logText(home: DaemonHome): string {
  const folder = join(home.env.HOME ?? "", ".local", "state", "harness", "log");
  return readdirSync(folder)
    .map((name) => {
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
      return readFileSync(join(folder, name), "utf8");
    })
    .join("");
}

/** Opens an event stream, and closes it when it has begun. */
function lookIn(home: DaemonHome, session: string): Promise<void> {
  const token = readFileSync(home.tokenFile, "utf8").trim();
  const headers = { host: "localhost", "x-harness-token": token };
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: home.socket, path: `/v1/sessions/${session}/events`, headers, agent: false });
    asked.on("response", (response) => {
      response.on("close", resolve);
      response.on("error", () => undefined);
      response.destroy();
    });
    asked.on("error", reject);
    asked.end();
  });
}

test.skipIf(process.platform !== "linux")("connects, refusals, turns and failures of providers are in it", async () => {
  const vendor = await startMockProvider();
  vendor.reply(
    { type: "message", blocks: [{ type: "text", text: "Hello." }] },
    { type: "http", status: 401, body: JSON.stringify({ error: { message: `bad key, not ${SECRET}` } }) },
  );
  const home = createDaemonHome({
    OPENAI_API_KEY: "sk-a-key-of-the-test-12345",
    OPENAI_BASE_URL: `${vendor.url}/v1`,
  });
  const pid = await home.start("-m", "openai:gpt-6.1-terra", "--log-level", "info,transport=debug");
  await home.ask("GET", "/v1/handshake");
  const { id } = (await home.ask("POST", "/v1/sessions", { working_dir: home.workspace })).json;
  const turn = `/v1/sessions/${id}/input?wait=turn`;
  expect((await home.ask("POST", turn, textBody(`keep ${SECRET}`))).json.outcome).toBe("answered");
  expect((await home.ask("POST", turn, textBody("again"))).json.outcome).toBe("error");
  // The daemon got the key of whoever started it, and shows it to nobody.
  expect(vendor.requests[0]?.headers.authorization).toBe("Bearer sk-a-key-of-the-test-12345");
  const shown = ["environ", "cmdline"].map((name) => readFileSync(`/proc/${pid}/${name}`, "latin1")).join();
  expect(shown).not.toContain("sk-a-key-of-the-test-12345");
  await lookIn(home, id);
  const wrong = { host: "localhost", "x-harness-token": "a-token-that-is-wrong" };
  await new Promise((resolve) => {
    request({ socketPath: home.socket, path: "/v1/tools?x=query-word", headers: wrong, agent: false }, resolve).end();
  });
  const file = home.put("a-file", "x");
  expect((await home.ask("POST", "/v1/sessions", { working_dir: file })).status).toBe(400);
  expect((await home.ask("POST", "/v1/sessions", { working_dir: "workspace" })).status).toBe(400);
  const token = readFileSync(home.tokenFile, "utf8").trim();
  const { health } = await home.status();
  expect(health.subsystems).toMatchObject({
    credential_helper: { state: "running" },
    providers: { model: "openai:gpt-6.1-terra", seen: { openai: { state: "failing", failures: 1 } } },
    log: { state: "ok", withheld: 0, lost: 0 },
  });
  process.kill(health.subsystems.credential_helper.pid, "SIGKILL");
  const helperDied = { component: "credentials", level: "warn", msg: "the helper died", crashes: 1 };
  while (!home.logged().some(({ component }) => component === "credentials")) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await home.daemon("stop");

  const lines = home.logged();
  const has = (fields: Record<string, unknown>): void => {
    expect(lines).toContainEqual(expect.objectContaining({ ts: expect.any(String), ...fields }));
  };
  has({ component: "engine", level: "info", msg: "session opened", session: id });
  has({ component: "engine", level: "info", msg: "turn began", session: id });
  has({ component: "engine", level: "info", msg: "turn ended", outcome: "answered" });
  has({ component: "provider.openai", level: "error", msg: "call failed", reason: "ProviderUnauthorized" });
  has({ component: "engine", level: "warn", msg: "turn ended", outcome: "error" });
  has({ component: "transport.http", level: "info", msg: "client connected", streams: 1 });
  has({ component: "transport.http", level: "info", msg: "client disconnected", streams: 0 });
  has({ component: "auth", level: "warn", msg: "refused", method: "GET", path: "/v1/tools", channel: "unix" });
  has({ component: "transport.http", msg: "refused", path: "/v1/sessions", reason: "ConfigInvalid" });
  has({ component: "daemon", stage: "drain", why: "signal" });
  has(helperDied);
  const text = logText(home);
  for (const word of [SECRET, "sk-a-key-of-the-test-12345", token, "a-token-that-is-wrong", "query-word", "keep "]) {
    expect(text).not.toContain(word);
  }
});

test("goes to standard error as well when that is asked for", async () => {
  const home = createDaemonHome({ HARNESS_LOG_LEVEL: "off,daemon=info" });
  const busy = await home.start();
  const { code, err } = await home.daemon("run", "--log-to-stderr");
  expect(code).toBe(1);
  expect(err).toMatch(/ INFO {2}daemon: stage pid=\d+ stage=begin /);
  expect(err).toContain(`another daemon already has the socket (process ${busy})`);
});
