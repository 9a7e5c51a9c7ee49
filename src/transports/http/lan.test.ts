/** An address that other machines can reach: all addresses of this one, with a certificate made on the spot. */

import { request } from "node:https";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import WebSocket from "ws";
import { defined } from "#base";
import { type AuthRig, createAuthRig } from "../../../test/fakes/auth-rig.ts";
import { says } from "../../../test/fakes/harness-rig.ts";
import { createHttpRig, textInput } from "../../../test/fakes/http-rig.ts";
import { createSelfSignedCertificate } from "../../../test/fakes/self-signed-certificate.ts";
import { lanHosts } from "./lan.ts";
import { defaultLimits } from "./limits.ts";
import { openListener } from "./open-listener.ts";

const tls = createSelfSignedCertificate("localhost");

function lanPort({ server }: AuthRig): number {
  const found = server.addresses.find((address) => address.kind === "tcp" && address.host === "0.0.0.0");
  if (found?.kind !== "tcp") throw new Error("it does not listen there");
  return found.port;
}

interface Wanted {
  readonly token?: string;
  readonly host?: string;
  readonly origin?: string;
  readonly body?: unknown;
}

function ask(rig: AuthRig, method: string, path: string, { token, host, origin, body }: Wanted = {}) {
  const port = lanPort(rig);
  // What an answer holds is looked at by its test.
  return new Promise<{ status: number; json: { error?: { reason: string } } }>((resolve, reject) => {
    const headers = {
      host: host ?? `localhost:${port}`,
      ...defined({ "x-harness-token": token, origin }),
    };
    const asked = request(
      { host: "127.0.0.1", servername: "localhost", port, method, path, headers, ca: tls.cert, agent: false },
      (response) => {
        const { statusCode: status = 0 } = response;
        // What the server answers is JSON.
        const parsed = (body: string) => ({ status, json: JSON.parse(body) as { error?: { reason: string } } });
        text(response).then(parsed).then(resolve, reject);
      },
    );
    asked.on("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

describe("over TLS", () => {
  test("a token for named sessions does its work, also on a web socket", async () => {
    const rig = await createAuthRig([says("over the net")], { tls });
    const token = rig.token({ sessions: [rig.session] });
    expect(await ask(rig, "GET", "/v1/handshake", { token })).toMatchObject({ status: 200 });
    const answered = await ask(rig, "POST", rig.path("/input?wait=turn"), { token, body: textInput("hi") });
    expect(answered).toMatchObject({ status: 200, json: { answer: "over the net" } });
    const socket = new WebSocket(`wss://localhost:${lanPort(rig)}/v1/ws?session=${rig.session}`, {
      headers: { "x-harness-token": token },
      ca: tls.cert,
      lookup: (_name, _options, found) => found(null, [{ address: "127.0.0.1", family: 4 }]),
    });
    const shaken = new Promise<string>((resolve, reject) => {
      socket.once("message", (data: Buffer) => resolve(data.toString()));
      socket.once("error", reject);
      socket.once("open", () => socket.send(JSON.stringify({ frame: "handshake", body: {} })));
    });
    expect(await shaken).toContain('"frame":"handshake"');
    socket.terminate();
  });

  test("everything else is refused: no token, one for all sessions, another name, a page, asking for a token", async () => {
    const rig = await createAuthRig([], { tls });
    const token = rig.token({ sessions: [rig.session] });
    const refusals: readonly (readonly [Wanted, number, string])[] = [
      [{}, 401, "TokenRequired"],
      [{ token: rig.token() }, 403, "TokenScope"],
      [{ token, host: "evil.example" }, 421, "HostRefused"],
      [{ token, host: `127.0.0.1:${lanPort(rig)}` }, 421, "HostRefused"],
      [{ token, origin: "https://evil.example" }, 403, "OriginRefused"],
    ];
    for (const [wanted, status, reason] of refusals) {
      expect(await ask(rig, "GET", "/v1/health", wanted)).toMatchObject({ status, json: { error: { reason } } });
    }
    const asked = `/v1/auth/token?session=${rig.session}`;
    expect(await ask(rig, "GET", asked)).toMatchObject({ status: 401 });
    expect(await ask(rig, "GET", asked, { token })).toMatchObject({ json: { error: { reason: "NotAllowed" } } });
    expect(rig.shown).toEqual([]);
  });

  test("who does not speak it gets no word", async () => {
    const rig = await createAuthRig([], { tls });
    const token = rig.token({ sessions: [rig.session] });
    const socket = connect(lanPort(rig), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(`GET /v1/health HTTP/1.1\r\nhost: localhost:${lanPort(rig)}\r\nx-harness-token: ${token}\r\n\r\n`);
    const answered = await text(socket);
    expect(answered).not.toContain("HTTP/1.1 2");
    expect(answered).not.toContain("version");
  });
});

test("a handshake that does not come about is given up", async () => {
  const rig = await createAuthRig([], { tls, limits: { headersMs: 200 } });
  const silent = connect(lanPort(rig), "127.0.0.1");
  silent.on("error", () => undefined);
  expect(await text(silent)).toBe("");
});

describe("without a certificate that fits", () => {
  const options = { origins: [], limits: defaultLimits };
  const everywhere = { kind: "tcp", host: "0.0.0.0", port: 0 } as const;

  test.each([
    ["none", undefined, "UsageInvalid"],
    ["nonsense", { cert: "x", key: "y" }, "ConfigInvalid"],
    ["the key of another", { cert: tls.cert, key: createSelfSignedCertificate("localhost").key }, "ConfigInvalid"],
  ])("nothing listens: %s", async (_what, given, reason) => {
    await expect(openListener(everywhere, { ...options, tls: given })).rejects.toMatchObject({ reason });
  });

  test("loopback needs none", async () => {
    const rig = await createHttpRig([]);
    expect(await rig.ask("GET", "/v1/health", { tcp: true })).toMatchObject({ status: 200 });
  });
});

test("a server is called what its certificate says, and the address that it was told to listen on", () => {
  expect(lanHosts(createSelfSignedCertificate("build.example"), "0.0.0.0", 8443)).toEqual(["build.example:8443"]);
  expect(lanHosts(createSelfSignedCertificate("build.example"), "10.1.2.3", 443)).toEqual([
    "build.example:443",
    "10.1.2.3:443",
  ]);
  expect(() => lanHosts(createSelfSignedCertificate("*.example"), "::", 443)).toThrow(/names no host/);
});
