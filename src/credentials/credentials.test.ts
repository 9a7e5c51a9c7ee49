import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFormTest, type SecretFingerprint } from "#base";
import type { CredentialRef } from "#engine";
import { createHttpClient, type HttpClient } from "#providers";
import { createManualClock, type ManualClock } from "../../test/fakes/manual-clock.ts";
import { helperFile } from "../../test/fakes/test-credentials.ts";
import { createCredentialStore } from "./credential-store.ts";
import { createHelperCredentials, type HelperCredentials } from "./credentials.ts";
import { createEnvironmentKeys } from "./environment-keys.ts";

const SECRET = "sk-test-4f8a1c9e2b7d6053";

interface Vendor {
  readonly origin: string;
  readonly seen: IncomingMessage[];
}

/** A server on loopback whose every request is handed to the test. */
async function startVendor(handle: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<Vendor> {
  const seen: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    seen.push(request);
    handle(request, response);
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  // A TCP server that listens has an address with a port.
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

interface Rig {
  readonly credentials: HelperCredentials;
  readonly clock: ManualClock;
  readonly http: HttpClient;
  readonly tick: () => void;
  find(...hosts: string[]): CredentialRef;
}

function open(file = helperFile): Rig {
  const clock = createManualClock();
  const env: Record<string, string | undefined> = { OPENAI_API_KEY: ` ${SECRET}\n`, PATH: process.env.PATH };
  let tick = (): void => undefined;
  const credentials = createHelperCredentials({
    file,
    env,
    keys: createEnvironmentKeys(env, undefined),
    clock,
    keyVariables: ["OPENAI_API_KEY"],
    directory: () => "/nonexistent",
    storeKey: () => Buffer.alloc(32),
    every(_ms, run) {
      tick = run;
      return () => undefined;
    },
  });
  onTestFinished(() => credentials.close());
  return {
    credentials,
    clock,
    http: createHttpClient({ clock, credentials }),
    tick: () => tick(),
    find(...hosts) {
      const wish = { provider: "openai", variables: ["OPENAI_API_KEY"], auth: "bearer" as const, hosts, origin: "" };
      const found = credentials.find(wish);
      if (found === undefined) throw new Error("no credential");
      return found;
    },
  };
}

async function send(rig: Rig, credential: CredentialRef, url: string, more: { headers?: Record<string, string> } = {}) {
  let text = "";
  const controller = new AbortController();
  const outcome = await rig.http.send(
    {
      peer: "vendor",
      url: new URL(url),
      method: "POST",
      headers: { "content-type": "application/json", ...more.headers },
      body: '{"a":1}',
      credential,
      signal: controller.signal,
      headersTimeoutMs: 60_000,
      firstTokenTimeoutMs: 60_000,
      chunkTimeoutMs: 60_000,
      maxResponseBytes: 1_000_000,
    },
    () => (chunk) => {
      text += chunk;
      return "flowing";
    },
  );
  return { text, outcome };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
  return Buffer.concat(chunks).toString();
}

test("the helper adds the key; what it passes on is what was sent and what was answered", async () => {
  let body = "";
  const vendor = await startVendor(async (request, response) => {
    body = await bodyOf(request);
    response.writeHead(200, { "x-request": "1", "set-cookie": "a=b", "x-harness-cut": "1" }).end("grün 🌍");
  });
  const rig = open();
  const { text, outcome } = await send(rig, rig.find(vendor.origin), `${vendor.origin}/v1/chat?x=1`);
  expect(text).toBe("grün 🌍");
  expect(outcome).toMatchObject({ type: "ok", status: 200, headers: { "x-request": "1" } });
  expect(outcome).not.toHaveProperty("headers.set-cookie");
  expect(body).toBe('{"a":1}');
  const [seen] = vendor.seen;
  expect({ url: seen?.url, method: seen?.method }).toEqual({ url: "/v1/chat?x=1", method: "POST" });
  expect(seen?.headers).toMatchObject({ authorization: `Bearer ${SECRET}`, host: vendor.origin.slice(7) });
  expect(Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith("x-harness-"))).toEqual([]);
});

test("a host that the key is not bound to is refused before anything is sent", async () => {
  const vendor = await startVendor((_request, response) => response.end());
  const rig = open();
  const credential = rig.find("https://api.openai.com", vendor.origin.replace("127.0.0.1", "localhost"));
  const { outcome } = await send(rig, credential, `${vendor.origin}/v1`);
  expect(outcome).toMatchObject({ type: "failed", reason: "CredentialHostRefused", retryable: false });
  expect(vendor.seen).toEqual([]);
});

test("a redirect is not followed, neither to another host nor to the same", async () => {
  const elsewhere = await startVendor((_request, response) => response.end());
  const vendor = await startVendor((_request, response) =>
    response.writeHead(307, { location: elsewhere.origin }).end(),
  );
  const rig = open();
  const { outcome } = await send(rig, rig.find(vendor.origin, elsewhere.origin), vendor.origin);
  expect(outcome).toMatchObject({ type: "failed", reason: "ProviderRefused" });
  expect([vendor.seen.length, elsewhere.seen.length]).toEqual([1, 0]);
});

test.each(["Authorization", "x-api-key", "Cookie"])("%s given by the engine is refused", async (name) => {
  const vendor = await startVendor((_request, response) => response.end());
  const rig = open();
  const { outcome } = await send(rig, rig.find(vendor.origin), vendor.origin, { headers: { [name]: "mine" } });
  expect(outcome).toMatchObject({ type: "failed", reason: "ConfigInvalid" });
  expect(vendor.seen).toEqual([]);
});

test("a vendor that repeats the key does not get it into the engine", async () => {
  const vendor = await startVendor((_request, response) => {
    response.writeHead(401, { "x-echo": `Bearer ${SECRET}`, "content-length": String(SECRET.length + 4) });
    response.write(`bad ${SECRET.slice(0, 9)}`, () => response.end(SECRET.slice(9)));
  });
  const rig = open();
  const { text, outcome } = await send(rig, rig.find(vendor.origin), vendor.origin);
  expect(text).toBe("bad «redacted:key»");
  expect(JSON.stringify(outcome)).not.toContain(SECRET);
});

test("a vendor that stops in the middle is told apart from a helper that died", async () => {
  const vendor = await startVendor((request, response) => {
    response.write("half", () => request.socket.destroy());
  });
  const rig = open();
  const { text, outcome } = await send(rig, rig.find(vendor.origin), vendor.origin);
  expect(text).toBe("half");
  expect(outcome).toMatchObject({ type: "failed", reason: "ProviderStreamCut", retryable: true });
});

test("a vendor that nobody answers for is unreachable", async () => {
  const rig = open();
  const { outcome } = await send(rig, rig.find("http://127.0.0.1:9"), "http://127.0.0.1:9/");
  expect(outcome).toMatchObject({ reason: "ProviderUnreachable", message: expect.stringContaining("ECONNREFUSED") });
});

test("a cancelled request ends at the vendor too", async () => {
  const closed = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const vendor = await startVendor((request, response) => {
    request.socket.once("close", () => closed.resolve());
    response.write("first");
    begun.resolve();
  });
  const rig = open();
  const controller = new AbortController();
  const sent = rig.http.send(
    {
      peer: "vendor",
      url: new URL(vendor.origin),
      method: "GET",
      headers: {},
      credential: rig.find(vendor.origin),
      signal: controller.signal,
      headersTimeoutMs: 60_000,
      firstTokenTimeoutMs: 60_000,
      chunkTimeoutMs: 60_000,
      maxResponseBytes: 1_000,
    },
    () => () => "flowing",
  );
  await begun.promise;
  controller.abort();
  expect(await sent).toMatchObject({ reason: "Cancelled" });
  await closed.promise;
});

test("who cannot show the pass, or another process that finds the socket, gets nothing", async () => {
  const vendor = await startVendor((_request, response) => response.end("ok"));
  const rig = open();
  const credential = rig.find(vendor.origin);
  const route = await rig.credentials.route(credential, new URL(vendor.origin));
  if (route.type !== "socket") throw new Error("no route");
  const asked = (headers: Record<string, string>) =>
    new Promise<unknown>((done) => {
      const request = httpRequest({ socketPath: route.socketPath, headers }, (response) => {
        done(response.resume().headers["x-harness-refused"]);
      });
      request.end();
    });
  expect(await asked({ ...route.headers, "x-harness-pass": "0".repeat(64) })).toBe("NotTheEngine");
  expect(await asked({ ...route.headers, "x-harness-credential": "other" })).toBe("UnknownCredential");
  expect(await asked({ ...route.headers, "x-harness-url": "file:///etc/passwd" })).toBe("HostNotBound");
  expect(vendor.seen).toEqual([]);
  expect(statSync(route.socketPath).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(route.socketPath)).mode & 0o777).toBe(0o700);
});

test("kill -9 in the middle of a stream: the call can be tried again, and the next helper has the key", async () => {
  let count = 0;
  const vendor = await startVendor((_request, response) => {
    count += 1;
    response.write("part ");
    if (count > 1) response.end("whole");
  });
  const rig = open();
  const credential = rig.find(vendor.origin);
  const controller = new AbortController();
  const first = rig.http.send(
    {
      peer: "vendor",
      url: new URL(vendor.origin),
      method: "GET",
      headers: {},
      credential,
      signal: controller.signal,
      headersTimeoutMs: 60_000,
      firstTokenTimeoutMs: 60_000,
      chunkTimeoutMs: 60_000,
      maxResponseBytes: 1_000,
    },
    () => () => {
      process.kill(pidOf(rig), "SIGKILL");
      return "flowing";
    },
  );
  expect(await first).toMatchObject({ reason: "CredentialHelperFailed", retryable: true });
  expect(await send(rig, credential, vendor.origin)).toMatchObject({ text: "part whole", outcome: { status: 200 } });
  expect(vendor.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${SECRET}`, `Bearer ${SECRET}`]);
  expect(rig.credentials.status()).toMatchObject({ state: "running", crashes: 1 });
});

test("a second crash within a minute is the last: nothing is sent any more", async () => {
  const vendor = await startVendor((_request, response) => response.end("ok"));
  const rig = open();
  const credential = rig.find(vendor.origin);
  expect(await send(rig, credential, vendor.origin)).toMatchObject({ text: "ok" });
  const folder = await socketFolder(rig, credential, vendor);
  for (let crash = 0; crash < 2; crash++) {
    process.kill(pidOf(rig), "SIGKILL");
    await expect.poll(() => rig.credentials.status().crashes).toBe(crash + 1);
  }
  expect((await send(rig, credential, vendor.origin)).outcome).toMatchObject({
    type: "failed",
    reason: "CredentialHelperFailed",
    retryable: false,
    message: expect.stringContaining("ended 2 times within a minute"),
  });
  expect(rig.credentials.status()).toMatchObject({ state: "failed", crashes: 2 });
  expect(vendor.seen).toHaveLength(1);
  expect(existsSync(folder)).toBe(false);
});

test("crashes that are more than a minute apart are survived", async () => {
  const vendor = await startVendor((_request, response) => response.end("ok"));
  const rig = open();
  const credential = rig.find(vendor.origin);
  for (let crash = 0; crash < 3; crash++) {
    expect(await send(rig, credential, vendor.origin)).toMatchObject({ text: "ok" });
    await rig.clock.advance(60_000);
    process.kill(pidOf(rig), "SIGKILL");
    await expect.poll(() => rig.credentials.status().crashes).toBe(crash + 1);
  }
  expect(await send(rig, credential, vendor.origin)).toMatchObject({ text: "ok" });
});

test("a helper that hangs is ended and replaced", async () => {
  const vendor = await startVendor((_request, response) => response.end("ok"));
  const rig = open();
  const credential = rig.find(vendor.origin);
  await send(rig, credential, vendor.origin);
  const pid = pidOf(rig);
  process.kill(pid, "SIGSTOP");
  rig.tick();
  await new Promise((done) => setImmediate(done));
  expect(rig.credentials.status().pid).toBe(pid);
  await rig.clock.advance(20_000);
  rig.tick();
  await expect.poll(() => rig.credentials.status().crashes).toBe(1);
  expect(await send(rig, credential, vendor.origin)).toMatchObject({ text: "ok" });
  expect(rig.credentials.status().pid).not.toBe(pid);
});

test("a helper that cannot start is told, and nothing is sent without it", async () => {
  const vendor = await startVendor((_request, response) => response.end("ok"));
  const rig = open("/nonexistent/helper.js");
  const { outcome } = await send(rig, rig.find(vendor.origin), vendor.origin);
  expect(outcome).toMatchObject({ reason: "CredentialHelperFailed", retryable: false });
  expect(vendor.seen).toEqual([]);
});

test("nothing readable is kept for the next helper, and nothing at all when the engine is done", async () => {
  const vendor = await startVendor((_request, response) => response.end("ok"));
  const rig = open();
  const credential = rig.find(vendor.origin);
  await send(rig, credential, vendor.origin);
  const folder = await socketFolder(rig, credential, vendor);
  const kept = () => readdirSync(folder).filter((name) => name !== "s");
  await expect.poll(kept).toEqual(["kept"]);
  expect(readFileSync(`${folder}/kept`, "latin1")).not.toContain(SECRET);
  const pid = pidOf(rig);
  for (const part of ["environ", "cmdline"]) {
    expect(readFileSync(`/proc/${pid}/${part}`, "latin1")).not.toContain(SECRET);
  }
  rig.credentials.close();
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  expect(existsSync(folder)).toBe(false);
  expect((await send(rig, credential, vendor.origin)).outcome).toMatchObject({ reason: "CredentialHelperFailed" });
});

function pidOf({ credentials }: Rig): number {
  const { pid } = credentials.status();
  if (pid === undefined) throw new Error("there is no helper");
  return pid;
}

async function socketFolder(rig: Rig, credential: CredentialRef, vendor: Vendor): Promise<string> {
  const route = await rig.credentials.route(credential, new URL(vendor.origin));
  if (route.type !== "socket") throw new Error("no route");
  return dirname(route.socketPath);
}

test("every key of the environment is told, also while no model needs one", async () => {
  const rig = open();
  const known: SecretFingerprint[] = [];
  rig.credentials.onSecret((fingerprint) => known.push(fingerprint));
  await rig.credentials.told();
  expect(known.length).toBe(1);
  expect(finds(known, SECRET)).toBe(true);
  process.kill(rig.credentials.status().pid!, "SIGKILL");
  await expect.poll(() => rig.credentials.status().crashes).toBe(1);
  await rig.credentials.told();
  expect(known.length, "the next helper tells it again").toBe(2);
});

test("stored keys are told, also those that no model needs; those that cannot be are said to be unknown", async () => {
  const directory = mkdtempSync(join(tmpdir(), "harness-creds-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const clock = createManualClock();
  const key = Buffer.alloc(32, 7);
  const store = createCredentialStore({ directory, clock, key: () => key });
  const secret = Buffer.from("correct-horse-41");
  const changed = Buffer.from("changed-horse-42");
  const bound = { provider: "custom", hosts: ["https://x.test"], useKeychain: false };
  await store.add({ ...bound, name: "another", secret: changed });
  await store.add({ ...bound, name: "default", secret });
  const whole = readFileSync(store.path, "utf8");
  const [entry = "", tampered = ""] = [
    /"another"[\s\S]*?"https/.exec(whole)?.[0],
    '"another",\n   "hosts": [\n    "http',
  ];
  for (const [storeKey, content, isFound, problem] of [
    [key, whole, true, undefined],
    [Buffer.alloc(32, 8), whole, false, /encrypted with another machine key/],
    [key, whole.replace(entry, tampered), true, /custom\/another was changed after it was stored/],
    [key, "{", false, /creds\.enc/],
  ] as const) {
    writeFileSync(store.path, content, { mode: 0o600 });
    const credentials = createHelperCredentials({
      file: helperFile,
      env: { PATH: process.env.PATH },
      keys: createEnvironmentKeys({}, undefined),
      clock,
      keyVariables: [],
      directory: () => directory,
      storeKey: () => storeKey,
    });
    onTestFinished(() => credentials.close());
    expect(credentials.storeStatus()).toEqual(
      content === "{"
        ? { state: "failing", detail: expect.stringMatching(/creds\.enc/) }
        : { state: "ok", detail: "2 credentials stored" },
    );
    const known: SecretFingerprint[] = [];
    credentials.onSecret((fingerprint) => known.push(fingerprint));
    const untold = await credentials.told();
    expect(untold?.message).toEqual(problem === undefined ? undefined : expect.stringMatching(problem));
    expect(untold?.reason).toBe(problem && "CredentialStoreFailed");
    expect(finds(known, "correct-horse-41")).toBe(isFound);
  }
});

/** Whether one of them is told by its plain form. */
function finds(known: readonly SecretFingerprint[], value: string): boolean {
  const isHere = (fingerprint: SecretFingerprint): boolean =>
    fingerprint.forms.some((form) => form.chars === value.length && createFormTest(fingerprint, form)(value, 0));
  return known.some(isHere);
}

test.each(["/nonexistent", "a folder that others can write to"])("%s is no place for the socket", async (place) => {
  const folder = mkdtempSync(join(tmpdir(), "harness-run-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o777);
  const env = { XDG_RUNTIME_DIR: place.startsWith("/") ? place : folder, PATH: process.env.PATH };
  const credentials = createHelperCredentials({
    file: helperFile,
    env,
    keys: createEnvironmentKeys({ OPENAI_API_KEY: SECRET }, undefined),
    clock: createManualClock(),
    keyVariables: ["OPENAI_API_KEY"],
    directory: () => "/nonexistent",
    storeKey: () => Buffer.alloc(32),
  });
  onTestFinished(() => credentials.close());
  expect(await credentials.check()).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

test("without any place for the socket the helper has failed, and nothing else has", async () => {
  vi.stubEnv("TMPDIR", "/nonexistent");
  onTestFinished(() => void vi.unstubAllEnvs());
  const rig = open();
  expect((await rig.credentials.told())?.message).toMatch(/does not work: it has no place for its socket: ENOENT/);
  expect(await rig.credentials.check()).toMatch(/no place for its socket: ENOENT/);
});

test.runIf(process.platform === "linux")("a core dump of the helper would hold no memory", async () => {
  const rig = open();
  await rig.credentials.told();
  expect(readFileSync(`/proc/${rig.credentials.status().pid}/coredump_filter`, "utf8").trim()).toMatch(/^0+$/);
});
