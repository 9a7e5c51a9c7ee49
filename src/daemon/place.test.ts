import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSystemClock } from "#world";
import { quietCliPorts } from "../../test/fakes/quiet-cli-ports.ts";
import { claimDaemon } from "./claim.ts";
import { daemonPlace, reachDaemon, tokenSources } from "./place.ts";
import { daemonPlaces } from "./state.ts";

const ports = { env: { HOME: "/home/ann" }, cwd: "/work" };
const own = "/home/ann/.local/state/harness/control.token";

test.each([
  [{}, "unix:/home/ann/.local/share/harness/control.sock", own],
  [{ connect: "unix:/s" }, "unix:/s", own],
  [{ connect: "127.0.0.1:7000" }, "127.0.0.1:7000", own],
  [{ connect: "http://localhost:7000" }, "http://localhost:7000", own],
  [{ connect: "[::1]:7000" }, "[::1]:7000", own],
  [{ connect: "https://there.example", tokenFile: "t" }, "https://there.example", "/work/t"],
])("with %j it is %s, with the token in %s", (flags, address, tokenFile) => {
  expect(daemonPlace(ports, flags)).toMatchObject({ address, tokenFile });
});

test.each(["https://there.example", "there.example:7000", "https://127.0.0.1.there.example", "https://10.0.0.1:7000"])(
  "%s is another machine: the token of the daemon here is not for it",
  (connect) => {
    expect(() => daemonPlace(ports, { connect })).toThrow(/--token-file/);
    const given = { ...ports, env: { ...ports.env, HARNESS_TOKEN: "t" } };
    expect(daemonPlace(given, { connect })).toMatchObject({ address: connect });
  },
);

/** A home in which a daemon runs that listens at these addresses and has its token in a file of its own. */
async function homeWithDaemon(addresses: readonly string[]) {
  const home = mkdtempSync(join(tmpdir(), "harness-place-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { HOME: home };
  const tokenFile = join(home, "own.token");
  writeFileSync(tokenFile, "own\n", { mode: 0o600 });
  const facts = {
    ...{ version: "1", commit: "c", builtAt: "", startedAt: "2026-01-01T00:00:00.000Z", startedUpMs: 1 },
    ...{ addresses, tokenFile, args: [], cwd: "/", background: true },
  };
  const claimed = await claimDaemon(daemonPlaces(env).claims, facts, createSystemClock());
  if (!("held" in claimed)) throw new Error("somebody else is the daemon");
  claimed.held.ready(facts);
  onTestFinished(() => claimed.held.release());
  const names = (flags: { connect?: string; tokenFile?: string }, given: Record<string, string> = {}) => {
    const asked = { cwd: "/work", env: { ...env, ...given } };
    return tokenSources(asked, daemonPlace(asked, flags)).map(({ name }) => name);
  };
  return { home, env, names, usual: `unix:${daemonPlaces(env).socket}` };
}

const OWN = "the token file of the daemon";

test("the daemon of the owner: what is given first, and then its own file", async () => {
  const { names, usual } = await homeWithDaemon(["127.0.0.1:7000"]);
  const stale = { HARNESS_TOKEN: "stale" };
  expect(names({})).toEqual([OWN]);
  expect(names({}, stale)).toEqual(["HARNESS_TOKEN", OWN]);
  expect(names({ tokenFile: "t" }, stale)).toEqual(["HARNESS_TOKEN", "/work/t", OWN]);
  for (const connect of [usual, "127.0.0.1:7000", "http://localhost:7000"]) {
    expect(names({ connect }, stale)).toEqual(["HARNESS_TOKEN", OWN]);
  }
});

test("another server, here or elsewhere: what is given for it, and never the token of the daemon", async () => {
  const { names } = await homeWithDaemon(["127.0.0.1:7000", "0.0.0.0:7001"]);
  const given = { HARNESS_TOKEN: "given" };
  const elsewhere = ["https://there.example", "https://there.example:7000", "https://127.0.0.1.there.example:7000"];
  for (const connect of [...elsewhere, "127.0.0.1:7002", "unix:/other"]) {
    expect(names({ connect }, given)).toEqual(["HARNESS_TOKEN"]);
    expect(names({ connect, tokenFile: "t" })).toEqual(["/work/t"]);
    expect(names({ connect, tokenFile: "t" }, given)).toEqual(["HARNESS_TOKEN"]);
  }
});

test("a server here that is not the daemon is sent nothing but what was given, also when it refuses that", async () => {
  const { env } = await homeWithDaemon([]);
  const sent: unknown[] = [];
  const server = createServer((request, response) => {
    sent.push(request.headers["x-harness-token"]);
    response.writeHead(401).end('{"error":{"reason":"TokenInvalid","message":"no"}}');
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const said = { out: "", err: "" };
  const asking = {
    ...quietCliPorts(said, { cwd: "/", env: { ...env, HARNESS_TOKEN: "given" } }),
    clock: createSystemClock(),
  };
  const place = daemonPlace(asking, { connect: `127.0.0.1:${port}` });
  await expect(reachDaemon(asking, place, new AbortController().signal)).rejects.toMatchObject({
    reason: "TokenInvalid",
  });
  expect([sent, said.err]).toEqual([["given"], ""]);
});
