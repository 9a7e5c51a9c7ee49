/**
 * `#client` and `#protocol` build for browsers: nothing of Node is in them, and the client works where there is nothing but what the
 * web has. The context stands for a page; the server is a real one.
 */
import { resolve } from "node:path";
import { createContext, runInContext } from "node:vm";
import { rolldown } from "rolldown";
import { describe, expect, test } from "vitest";
import type { Client, connect, DaemonTarget, Event, ReasonError } from "#client";
import { says } from "./fakes/harness-rig.ts";
import { createHttpRig } from "./fakes/http-rig.ts";

const root = resolve(import.meta.dirname, "..");

/** Packages that are made for browsers as well. */
const WEB_PACKAGES = ["eventsource-parser", "zod"];

interface Bundle {
  readonly code: string;
  /** Of Node, or that could not be found. */
  readonly outside: readonly string[];
  readonly packages: readonly string[];
}

async function bundle(entry: string): Promise<Bundle> {
  const build = await rolldown({
    cwd: root,
    input: entry,
    platform: "browser",
    treeshake: { moduleSideEffects: false },
    // What is not found is told by `outside`.
    logLevel: "silent",
  });
  const { output } = await build.generate({ format: "iife", name: "bundled", codeSplitting: false });
  await build.close();
  const [chunk, ...others] = output;
  expect(others).toEqual([]);
  const modules = chunk.moduleIds.flatMap((id) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []);
  // What is imported late and is in this piece as well names the piece itself.
  const outside = [...chunk.imports, ...chunk.dynamicImports].filter((name) => name !== chunk.fileName);
  return { code: chunk.code, outside, packages: [...new Set(modules)] };
}

const built = { client: bundle("src/client/index.ts"), protocol: bundle("src/protocol/index.ts") };
const schemas = bundle("src/protocol/schemas.ts");

test.each([...Object.entries(built), ["protocol/schemas", schemas] as const])(
  "%s has nothing of Node in it",
  async (_name, building) => {
    const { code, outside, packages } = await building;
    expect(outside).toEqual([]);
    expect(packages.filter((name) => !WEB_PACKAGES.includes(name))).toEqual([]);
    expect(code.match(/["'`]node:[^"'`]+["'`]|\bprocess\.|\bBuffer\b|\brequire\(|\b__dirname\b/g)).toBeNull();
  },
);

test("the check finds what is of Node", async () => {
  const { outside, packages } = await bundle("src/client/node/host.ts");
  expect(outside).toEqual(expect.arrayContaining(["node:http", "node:fs/promises"]));
  expect(packages).toContain("ws");
});

/** What a page has, and nothing else: neither `process` nor `Buffer`. */
async function page(): Promise<{ readonly connect: typeof connect }> {
  const { code } = await built.client;
  const web = { fetch, WebSocket, TextDecoder, TextEncoder, URL, URLSearchParams, AbortController, AbortSignal };
  const context = createContext({ ...web, crypto, performance, setTimeout, clearTimeout });
  expect(runInContext("[typeof process, typeof Buffer, typeof require]", context).join()).toBe(
    "undefined,undefined,undefined",
  );
  // What `src/client/index.ts` exports.
  return runInContext(`${code}; bundled`, context) as { readonly connect: typeof connect };
}

describe.each(["sse", "ws"] as const)("in a page, over %s", (wire) => {
  async function connected(port: number, more: Partial<DaemonTarget> = {}): Promise<Client> {
    const { connect: connectTo } = await page();
    return connectTo({ url: `http://127.0.0.1:${port}`, token: "human", wire, ...more } as DaemonTarget);
  }

  test("a client opens a session, sends, and reads its events", async () => {
    const rig = await createHttpRig([says("Hello, page.")]);
    const client = await connected(rig.port);
    const session = await client.open({ workingDir: rig.workspace.root });
    const events = session.events({ since: 0 });
    const { turn } = await session.send("Hello");
    const seen: Event[] = [];
    for await (const event of events) {
      seen.push(event);
      if (event.kind === "TurnEnded") break;
    }
    expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1));
    expect(seen.at(-1)).toMatchObject({ payload: { turn, outcome: "answered" } });
    expect(await Array.fromAsync(session.log())).toHaveLength(seen.length);
    await expect(session.steer("too late")).rejects.toMatchObject({ reason: "NoTurnRunning" });
    await session.end();
    await client.close();
  });

  test("a token that is refused is refused for its reason", async () => {
    const { port } = await createHttpRig([]);
    const wrong = await connected(port, { token: "wrong" }).catch((error: ReasonError) => error.reason);
    expect(wrong).toBe("TokenInvalid");
  });

  test("what only Node can do is refused", async () => {
    const { connect: connectTo } = await page();
    const refused = { reason: "UsageInvalid", message: expect.stringContaining("needs Node") };
    await expect(connectTo({ socket: "/tmp/x", token: "t", wire })).rejects.toMatchObject(refused);
    await expect(connectTo({ command: ["harness", "rpc"] })).rejects.toMatchObject(refused);
    await expect(connectTo({ url: "http://localhost:1", tokenFile: "t", wire })).rejects.toMatchObject(refused);
  });
});
