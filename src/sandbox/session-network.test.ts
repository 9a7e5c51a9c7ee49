import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDomainList } from "#base";
import { processesWith } from "../../test/fakes/marked-processes.ts";
import { createSelfSignedCertificate } from "../../test/fakes/self-signed-certificate.ts";
import { openTestNetwork, type TestNetwork } from "../../test/fakes/session-network.ts";
import { hasSandbox } from "../../test/fakes/test-sandbox.ts";
import type { SessionNetworkOptions } from "./session-network.ts";

const ALLOWED = "127.0.0.2";
const OWNER = resolve(import.meta.dirname, "../../test/fakes/session-network-owner.ts");
/** Moments after which an owner is killed while it opens the network. */
const KILL_AFTER_MS = [0, 5, 10, 20, 40, 80];

async function openNetwork(options: Partial<SessionNetworkOptions> = {}): Promise<TestNetwork> {
  const network = await openTestNetwork({
    resolve: async (name) => [{ address: name === "inner.test" ? "10.0.0.1" : ALLOWED, family: 4 }],
    ...options,
  });
  onTestFinished(() => network.remove());
  return network;
}

const listed = (...names: string[]) => ({ domains: createDomainList([[...names, ALLOWED]]) });

async function listen(server: Server, host: string): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A server that greets everybody. */
const startGreeter = (host = "127.0.0.1") =>
  listen(
    createServer((socket) => void socket.end("machine\n")),
    host,
  );

describe.runIf(hasSandbox)("commands of a session", () => {
  test("reach a server that another command runs, as long as it runs; the machine does not", async () => {
    const network = await openNetwork();
    const script = `require("http").createServer((q, s) => s.end("hello from " + q.url)).listen(8123, "127.0.0.1", () => console.log("up"))`;
    const server = network.start(`"$NODE" -e '${script}'`);
    onTestFinished(() => server.kill());
    expect(await server.printed()).toBe("up\n");
    expect(await network.shell("curl -sS http://127.0.0.1:8123/first")).toBe("hello from /first");
    expect(await network.shell("curl -sS http://localhost:8123/second")).toBe("hello from /second");
    await expect(fetch("http://127.0.0.1:8123/")).rejects.toThrow("fetch failed");
    expect(network.records).toEqual([]);
  });

  test("reach a listed host through the proxy, and no other", async () => {
    const web = createHttpServer((request, response) => response.end(`host=${request.headers.host}`));
    const port = await listen(web, ALLOWED);
    const network = await openNetwork(listed("allowed.test"));
    const url = `http://allowed.test:${port}/`;
    expect(await network.shell(`curl -sS ${url}`)).toBe(`host=allowed.test:${port}`);
    const fetching = `fetch("${url}").then((r) => r.text()).then((t) => process.stdout.write(t))`;
    expect(await network.shell(`"$NODE" -e '${fetching}'`)).toBe(`host=allowed.test:${port}`);
    expect(await network.shell("curl -sS https://other.test/")).toContain("403");
    const entries = () => network.records.map(({ host, state }) => `${state} ${host}`).toSorted();
    await expect
      .poll(entries)
      .toEqual([
        "closed allowed.test",
        "closed allowed.test",
        "opened allowed.test",
        "opened allowed.test",
        "refused other.test",
      ]);
  });

  test("reach a listed host by SOCKS5", async () => {
    const { cert, key } = createSelfSignedCertificate("allowed.test");
    const server = createHttpsServer({ cert, key }, (_request, response) => response.end("secret way"));
    const port = await listen(server, ALLOWED);
    const network = await openNetwork(listed("allowed.test"));
    const curl = "curl -sS -k --socks5-hostname 127.0.0.1:3128";
    expect(await network.shell(`${curl} https://allowed.test:${port}/`)).toBe("secret way");
    expect(await network.shell(`${curl} https://other.test:${port}/`)).toContain("(97)");
    expect(network.records.filter(({ state }) => state === "refused")).toMatchObject([{ host: "other.test" }]);
  });

  test.each([
    ["http://127.0.0.1:1/", "127.0.0.1 is at 127.0.0.1, which is not a public internet address"],
    ["http://localhost:1/", "localhost is at 127.0.0.2, which is not a public internet address"],
    ["http://inner.test/", "inner.test is at 10.0.0.1, which is not a public internet address"],
    ["http://169.254.169.254/latest", "169.254.169.254 is at 169.254.169.254, which is not a public internet address"],
    ["http://[::1]:1/", "::1 is at ::1, which is not a public internet address"],
  ])("do not reach %s without a list", async (url, why) => {
    const network = await openNetwork();
    expect(await network.shell(`curl -sS -g --noproxy '' ${url}`)).toBe(`${why}\n`);
    expect(network.records).toMatchObject([{ state: "refused", why }]);
  });

  test("reach the ports of the machine that the user opened, and no others", async () => {
    const [opened, closed] = [await startGreeter(), await startGreeter()];
    const network = await openNetwork({ loopbackPorts: [opened], ...listed() });
    const read = (host: string, port: number) => network.shell(`exec 3<>/dev/tcp/${host}/${port} && cat <&3`);
    expect(await read("127.0.0.1", opened)).toBe("machine\n");
    expect(await read("localhost", opened)).toBe("machine\n");
    expect(await read("127.0.0.1", closed)).toContain("Connection refused");
    expect(await read("127.0.0.2", opened)).toContain("Connection refused");
    await expect.poll(() => network.records.length).toBe(4);
    expect(network.records[0]).toEqual({ connection: 1, host: "127.0.0.1", port: opened, state: "opened" });
  });

  test("reach a low port of the machine that the user opened", async () => {
    const network = await openNetwork({ loopbackPorts: [1] });
    expect(await network.shell("exec 3<>/dev/tcp/127.0.0.1/1 && cat <&3")).toBe("");
    expect(network.records).toMatchObject([
      { state: "opened", port: 1 },
      { state: "refused", port: 1 },
    ]);
  });

  test("have no other way out", async () => {
    const port = await startGreeter("0.0.0.0");
    const abstract = createServer((socket) => void socket.end("machine\n")).listen(`\0harness-${port}`);
    onTestFinished(() => void abstract.close());
    const network = await openNetwork();
    expect(await network.shell(`exec 3<>/dev/tcp/127.0.0.1/${port}`)).toContain("Connection refused");
    expect(await network.shell(`exec 3<>/dev/tcp/1.1.1.1/${port}`)).toContain("Network is unreachable");
    expect(await network.shell(`tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/route`)).toBe("    lo\n");
    const connecting = `require("net").connect("\\0harness-${port}").on("error", (e) => console.log(e.code))`;
    expect(await network.shell(`"$NODE" -e '${connecting}'`)).toBe("ECONNREFUSED\n");
    expect(await network.shell("nsenter --net=/proc/1/ns/net true; ip link add x type dummy")).toMatch(
      /not permitted|Permission denied/,
    );
  });
});

describe.runIf(hasSandbox)("the holder of the namespace", () => {
  const holders = (network: TestNetwork) => processesWith(join(network.folder, "egress.sock"));

  test("ends with close(), which leaves nothing and lets nobody in", async () => {
    const network = await openTestNetwork({ loopbackPorts: [3128] });
    expect(holders(network).length).toBe(2);
    expect(network.env.HTTP_PROXY).toBe("http://127.0.0.1:3129");
    await network.remove();
    expect(holders(network)).toEqual([]);
    expect(network.isOpen()).toBe(false);
    expect(() => network.enter({ file: "/bin/true", args: [] })).toThrow("the network of the session was closed");
    await network.close();
  });

  test("when it was killed, leaves commands without a network, never with the machine's", async () => {
    const port = await startGreeter();
    const network = await openNetwork({ loopbackPorts: [port] });
    for (const pid of holders(network)) process.kill(pid, "SIGKILL");
    await expect.poll(() => network.isOpen()).toBe(false);
    expect(await network.shell(`exec 3<>/dev/tcp/127.0.0.1/${port}`)).toContain("Connection refused");
    const next = await openTestNetwork({ folder: network.folder });
    expect(await next.shell("echo again")).toBe("again\n");
    await next.close();
  });

  test("ends when its owner is killed, also while it begins", async () => {
    for (const afterMs of [undefined, ...KILL_AFTER_MS]) {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), "harness-network-")));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const owner = spawn(process.execPath, [OWNER, folder], { stdio: ["ignore", "pipe", "inherit"] });
      let said = "";
      owner.stdout.on("data", (chunk: Buffer) => {
        said += chunk.toString("utf8");
      });
      // Both of its lines may come in one piece.
      const lines = (): number => said.split("\n").length - 1;
      await expect.poll(lines, { interval: 1 }).toBeGreaterThanOrEqual(afterMs === undefined ? 2 : 1);
      if (afterMs !== undefined) await new Promise((done) => setTimeout(done, afterMs));
      owner.kill("SIGKILL");
      await once(owner, "exit");
      await expect.poll(() => processesWith(folder)).toEqual([]);
    }
  });

  test.each<[string, Partial<SessionNetworkOptions>, RegExp]>([
    ["without nsenter", { nsenter: undefined }, /nsenter was not found \(install util-linux\)/],
    ["where nsenter fails", { nsenter: "/bin/false" }, /could not enter the namespace/],
    ["where nsenter enters nothing", { nsenter: "/nonexistent/nsenter" }, /ENOENT/],
    ["without bubblewrap", { bwrap: "/nonexistent/bwrap" }, /ENOENT/],
    ["where bubblewrap makes no namespace", { bwrap: "/bin/false" }, /did not start the forwarder/],
    ["without node", { node: "/nonexistent/node" }, /nonexistent\/node/],
    ["with a port that is none", { loopbackPorts: [70_000] }, /70000 is not a port/],
    ["with too many ports", { loopbackPorts: Array.from({ length: 17 }, (_, at) => at + 1) }, /more than 16 ports/],
  ])("is refused %s", async (_name, options, message) => {
    await expect(openTestNetwork(options)).rejects.toMatchObject({
      reason: "SandboxUnavailable",
      message: expect.stringMatching(message),
    });
  });
});
