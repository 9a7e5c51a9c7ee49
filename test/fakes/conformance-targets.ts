/** Our own program as a target of the conformance scenarios: in this process, behind a real server, and as a process on pipes. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import { defaultSettings } from "#artifacts";
import { signToken } from "#auth";
import { type Clock, createUlidFactory } from "#base";
import { type HttpTargetOptions, httpTarget, rpcTarget, type Target, type Wire } from "#conformance";
import { assembleHarness, type Harness } from "#program";
import { createIdMint, ReasonError } from "#protocol";
import { createHeldKeys } from "#providers";
import { defaultRetention, type MachineKey, runRetention } from "#stores";
import { type HttpServer, startHttpServer } from "#transports/http";
import { createSystemClock, createSystemRandom } from "#world";
import { createOutward } from "../../src/cli/outward.ts";
import { httpBackend } from "../../src/daemon/backend.ts";
import { openDatabase } from "../../src/stores/sqlite/driver.ts";
import { createCliHome } from "./cli-process.ts";
import { connectInProcess } from "./in-process-driver.ts";
import { launcher } from "./launcher.ts";
import { createSelfSignedCertificate } from "./self-signed-certificate.ts";
import { wholeClaims } from "./token-claims.ts";
import { createTokenService, TOKEN_KEY } from "./token-service.ts";

const root = resolve(import.meta.dirname, "../..");
export const SCENARIO = join(root, "scenarios/conformance.yaml");
export const WAIT_MS = 15_000;
/** Real ones; the first person's may make further ones. */
export const TOKENS = {
  human: signToken(wholeClaims({ jti: "tok_human", can_mint: true }), TOKEN_KEY),
  "other human": signToken(wholeClaims({ jti: "tok_other" }), TOKEN_KEY),
  agent: signToken(wholeClaims({ jti: "tok_agent", identity_class: "agent" }), TOKEN_KEY),
} as const;

/** A target with everything that scenarios can need, on a log and a folder of its own. */
export async function ownTarget(wire: Wire): Promise<Target> {
  return wire === "rpc" ? ownProgram() : ownHarness(wire);
}

/** `before`: what the shell does that starts it. */
export function ownProgram({
  before = ":",
  flags = [],
}: {
  readonly before?: string;
  readonly flags?: readonly string[];
} = {}): Target {
  const home = createCliHome();
  const args = [launcher, "rpc", "--cwd", home.workspace, "--sandbox", "off", "-m", `scripted:${SCENARIO}`, ...flags];
  return rpcTarget({
    command: "sh",
    args: ["-c", `${before}; exec "$@"`, "sh", process.execPath, ...args],
    agentArgs: ["--identity-class", "agent"],
    cwd: home.workspace,
    env: home.env,
    clock: createSystemClock(),
    waitMs: WAIT_MS,
  });
}

interface Running {
  readonly harness: Harness;
  readonly server: HttpServer;
}

export interface OwnServer {
  readonly socketPath: string;
  /** The harness behind it, as it is now. */
  harness(): Harness;
  /** Where other machines could reach it. */
  readonly lan: NonNullable<HttpTargetOptions["lan"]>;
  readonly abilities: Required<Pick<Target, "restart" | "expireContent" | "expireToken" | "passTime">>;
}

async function ownHarness(wire: Exclude<Wire, "rpc">): Promise<Target> {
  const { socketPath, harness, lan, abilities } = await ownServer();
  const options = { clock: createSystemClock(), waitMs: WAIT_MS };
  if (wire !== "in-process") {
    return {
      ...httpTarget(wire, { ...options, place: { kind: "unix", path: socketPath }, tokens: TOKENS, lan }),
      ...abilities,
    };
  }
  return {
    wire,
    lacks: (as) => (as === "nobody" || as === "stranger" ? "there are no tokens in a process" : undefined),
    connect: async (as = "human") =>
      connectInProcess({
        ...options,
        control: harness().control,
        read: (session, page) => harness().store.read(session, page),
        identityClass: as === "agent" ? "agent" : "human",
      }),
    ...abilities,
  };
}

/** A harness on a log and a folder of its own, behind a server on a Unix socket. */
export async function ownServer(): Promise<OwnServer> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "harness-own-")));
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const time = createHastyClock();
  const key: MachineKey = { bytes: Buffer.alloc(32, 7), source: "the test" };
  const path = join(folder, "sessions.db");
  const socketPath = join(folder, "c.sock");
  const expired = new Set<string>();
  const { clock } = time;
  const certificate = createSelfSignedCertificate("localhost");
  const ids = createIdMint(createUlidFactory({ clock, random: createSystemRandom() }));
  const tokens = createTokenService(folder, clock, () => ids.token());
  let running = await start();

  async function start(): Promise<Running> {
    const credentials = createHeldKeys({});
    const harness = await assembleHarness({
      settings: { ...defaultSettings, sandbox: "off" },
      env: { PATH: process.env.PATH },
      credentials,
      clock: time.clock,
      workspace,
      model: `scripted:${SCENARIO}`,
      offlineAllowed: false,
      scenarioFile: (name) => name,
      store: { kind: "sqlite", path, key: () => key },
      undo: { directory: join(folder, "undo"), key: key.bytes },
      autoApprove: false,
      waitsForHumans: true,
      checkToken: tokens.checkToken,
    });
    const outward = createOutward({ env: { HOME: folder }, cwd: folder, clock: createSystemClock() });
    const build = { version: "0.0.0", commit: "", builtAt: "" };
    const server = await startHttpServer({
      backend: await httpBackend({ clock: createSystemClock(), build, credentials, outward }, harness, defaultSettings),
      authenticate: (presented) =>
        expired.has(presented.token)
          ? { refusal: new ReasonError("TokenExpired", { exp: "just now" }) }
          : tokens.authenticate(presented),
      desk: () => tokens.desk(),
      clock,
      tls: certificate,
      listen: [
        { kind: "unix", path: socketPath },
        { kind: "tcp", host: "0.0.0.0", port: 0 },
      ],
    });
    return { harness, server };
  }

  async function stop(): Promise<void> {
    await running.harness.shutdown();
    await running.server.close();
  }
  onTestFinished(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  return {
    socketPath,
    harness: () => running.harness,
    get lan() {
      const [port = 0] = running.server.addresses.flatMap((one) => (one.kind === "tcp" ? [one.port] : []));
      return { kind: "tls" as const, host: "localhost", port, ca: certificate.cert };
    },
    abilities: {
      async restart() {
        await stop();
        running = await start();
      },
      async expireContent() {
        // Retention leaves open sessions alone: for its time they count as closed.
        const db = openDatabase({ path, key, clock });
        db.exec("CREATE TEMP TABLE owners AS SELECT id, owner FROM sessions; UPDATE sessions SET owner = NULL");
        runRetention({
          path,
          key,
          clock: { now: () => clock.now() + 60_000 },
          policy: { ...defaultRetention, contentTtlMs: 0 },
        });
        db.exec("UPDATE sessions SET owner = (SELECT owner FROM owners WHERE owners.id = sessions.id)");
        db.close();
      },
      async expireToken(as) {
        expired.add(TOKENS[as as keyof typeof TOKENS]);
      },
      passTime: time.pass,
    },
  };
}

/** The real clock, with sleepers that can be told that their time is over. */
function createHastyClock(): { readonly clock: Clock; pass(ms: number): Promise<void> } {
  const real = createSystemClock();
  let passedMs = 0;
  const sleepers = new Set<{ readonly ms: number; readonly wake: AbortController }>();
  return {
    clock: {
      ...real,
      now: () => real.now() + passedMs,
      monotonicMs: () => real.monotonicMs() + passedMs,
      uptimeMs: () => real.uptimeMs() + passedMs,
      async sleep(ms, signal) {
        const sleeper = { ms, wake: new AbortController() };
        sleepers.add(sleeper);
        await real.sleep(
          ms,
          signal === undefined ? sleeper.wake.signal : AbortSignal.any([signal, sleeper.wake.signal]),
        );
        sleepers.delete(sleeper);
      },
    },
    async pass(ms) {
      passedMs += ms;
      for (const sleeper of sleepers) if (sleeper.ms <= ms) sleeper.wake.abort();
    },
  };
}
