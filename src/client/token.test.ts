/** A client with several sources of a token, on real sockets: the first that is not refused is used, and each wrong one is told once. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildHandshake } from "#protocol/schemas";
import { startScriptedServer } from "../../test/fakes/scripted-server.ts";
import { connect } from "./connect.ts";

/** A server that takes one token, and the tokens that it was sent. */
async function server(reason = "TokenInvalid") {
  const seen: string[] = [];
  const state = { good: "good" };
  const { socket } = await startScriptedServer((request: IncomingMessage, response: ServerResponse) => {
    const sent = String(request.headers["x-harness-token"]);
    seen.push(sent);
    if (sent !== state.good) {
      response.writeHead(401).end(JSON.stringify({ error: { reason, message: "no" } }));
    } else if (request.url?.startsWith("/v1/handshake")) response.end(JSON.stringify(buildHandshake(["rest"])));
    else response.end(JSON.stringify({ sessions: [] }));
  }, false);
  return { socket, seen, state };
}

function wrongOnes() {
  const told: [string, string][] = [];
  return { told, onRefused: (name: string, { reason }: { reason: string }) => void told.push([name, reason]) };
}

test.each(["TokenInvalid", "TokenExpired", "TokenRevoked", "TooManyFailures"])(
  "%s leads to the next source, which is kept",
  async (reason) => {
    const { socket, seen } = await server(reason);
    const { told, onRefused } = wrongOnes();
    const tokens = [
      { name: "first", token: "stale" },
      { name: "second", token: () => "good" },
      { name: "third", token: "never" },
    ];
    const client = await connect({ socket, tokens, onRefused });
    await client.sessions();
    await client.sessions();
    expect(seen).toEqual(["stale", "good", "good", "good"]);
    expect(told).toEqual([["first", reason]]);
    await client.close();
  },
);

test("a source that cannot be read is passed over, too", async () => {
  const folder = mkdtempSync(join(tmpdir(), "harness-token-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "empty"), "");
  const { socket, seen } = await server();
  const { told, onRefused } = wrongOnes();
  const tokens = [
    { name: "gone", tokenFile: join(folder, "gone") },
    { name: "empty", tokenFile: join(folder, "empty") },
    { name: "last", token: "good" },
  ];
  const client = await connect({ socket, tokens, onRefused });
  expect(seen).toEqual(["good"]);
  expect(told).toEqual([
    ["gone", "ServerUnreachable"],
    ["empty", "TokenInvalid"],
  ]);
  await client.close();
});

test("one that is refused later, while many ask at once, costs one step", async () => {
  const { socket, seen, state } = await server("TokenExpired");
  const { told, onRefused } = wrongOnes();
  const tokens = [
    { name: "first", token: "good" },
    { name: "second", token: "next" },
    { name: "third", token: "never" },
  ];
  const client = await connect({ socket, tokens, onRefused });
  state.good = "next";
  await Promise.all([1, 2, 3, 4].map(() => client.sessions()));
  expect(told).toEqual([["first", "TokenExpired"]]);
  expect(seen).not.toContain("never");
  await client.close();
});

test("a refusal that is not about the token, and that of the last source, stay as they are", async () => {
  const scope = await server("TokenScope");
  const tokens = [
    { name: "first", token: "stale" },
    { name: "second", token: "good" },
  ];
  await expect(connect({ socket: scope.socket, tokens })).rejects.toMatchObject({ reason: "TokenScope" });
  expect(scope.seen).toEqual(["stale"]);
  const { socket, seen } = await server("TokenRevoked");
  const none = [
    { name: "first", token: "stale" },
    { name: "second", token: "old" },
  ];
  await expect(connect({ socket, tokens: none })).rejects.toMatchObject({ reason: "TokenRevoked" });
  expect(seen).toEqual(["stale", "old"]);
});
