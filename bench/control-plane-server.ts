/** The server under test: a whole harness on an encrypted log, with a provider that says what the benchmark wants, on a Unix socket. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultSettings } from "#artifacts";
import { createAuthenticator, createFailureLimit, createTokenRecords, createTokenTimes, signToken } from "#auth";
import type { ModelCall, Plugin } from "#engine";
import { assembleHarness, type Harness, type HarnessOptions } from "#program";
import type { SessionId } from "#protocol";
import { createHeldKeys } from "#providers";
import { type HttpServer, startHttpServer } from "#transports/http";
import { createSystemClock } from "#world";
import { createOutward } from "../src/cli/outward.ts";
import { httpBackend } from "../src/daemon/backend.ts";
import { wholeClaims } from "../test/fakes/token-claims.ts";

const KEY = new Uint8Array(32).fill(7);
export const TOKEN = signToken(wholeClaims({ jti: "tok_bench" }), KEY);

export interface BenchServer {
  readonly harness: Harness;
  readonly server: HttpServer;
  readonly socketPath: string;
  createSessions(count: number): Promise<SessionId[]>;
  close(): Promise<void>;
}

export const STORE_KEY = { bytes: Buffer.alloc(32, 7), source: "the benchmark" };

/** `speak` is the model. `kept`: a log that is there already, as a program has it on the disk; default: a new one. */
export async function startBenchServer(
  speak: (call: ModelCall) => Promise<void>,
  kept?: Pick<HarnessOptions, "store" | "signer" | "heads">,
): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), "harness-bench-http-"));
  const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
  const plugin: Plugin = {
    name: "bench",
    register(host) {
      host.addProvider({
        name: "bench",
        async chat(call) {
          const calls: string[] = [];
          await speak({
            ...call,
            emit(event) {
              if (event.type === "tool_call") calls.push(event.name);
              call.emit(event);
            },
          });
          return { type: "done", model: "bench:one", stop: calls.length > 0 ? "tool_calls" : "end", usage, costUsd: 0 };
        },
        models: async () => [{ id: "bench:one" }],
        countTokens: () => 0,
      });
    },
  };
  const clock = createSystemClock();
  const credentials = createHeldKeys({});
  const build = { version: "0.0.0", commit: "", builtAt: "" };
  const harness = await assembleHarness({
    settings: { ...defaultSettings, sandbox: "off" },
    env: { PATH: process.env.PATH },
    credentials,
    clock,
    workspace: folder,
    model: "bench:one",
    offlineAllowed: false,
    scenarioFile: (name) => name,
    store: { kind: "sqlite", path: join(folder, "sessions.db"), key: () => STORE_KEY },
    ...kept,
    autoApprove: false,
    waitsForHumans: true,
    plugins: [plugin],
  });
  const socketPath = join(folder, "c.sock");
  const outward = createOutward({ env: { HOME: folder }, cwd: folder, clock });
  const records = createTokenRecords(join(folder, "state"));
  const failures = createFailureLimit({ clock });
  const times = createTokenTimes({ clock, records });
  const authenticator = createAuthenticator({ key: () => KEY, records, times, failures });
  const server = await startHttpServer({
    backend: await httpBackend({ clock, build, credentials, outward }, harness, defaultSettings),
    authenticate: ({ token, source }) => ({ claims: authenticator.authenticate(token, source) }),
    clock,
    listen: [{ kind: "unix", path: socketPath }],
  });
  const client = harness.control.connect({ identityClass: "human", interactive: false });
  return {
    harness,
    server,
    socketPath,
    async createSessions(count) {
      const ids: SessionId[] = [];
      for (let n = 0; n < count; n++) {
        const { session } = await client.submit({ kind: "CreateSession" });
        if (session === undefined) throw new Error("no session");
        ids.push(session);
      }
      return ids;
    },
    async close() {
      await harness.shutdown();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
