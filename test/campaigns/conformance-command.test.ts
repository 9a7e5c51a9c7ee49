/** A daemon that is killed under the conformance suite, and the requirements that need tokens and TLS; `test/e2e` has the command. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { signToken, TOKEN_KEY_PURPOSE, tokenFileText } from "#auth";
import { httpTarget, type RequirementId, runConformance, type Target } from "#conformance";
import { deriveKey, machineKey } from "#stores";
import { createSystemClock } from "#world";
import { type CliHome, createCliHome, finish, runCli } from "../fakes/cli-process.ts";
import { daemonPlace, startDaemonRun } from "../fakes/daemon-run.ts";
import { createSelfSignedCertificate } from "../fakes/self-signed-certificate.ts";
import { sessionId, wholeClaims } from "../fakes/token-claims.ts";

const MODEL = ["-m", "scripted:conformance", "--sandbox", "off"];

interface Daemon {
  readonly socketPath: string;
  readonly tokenFile: string;
  child: ChildProcessWithoutNullStreams;
  /** What it told a person when it began to listen. */
  readonly said: string;
}

async function startDaemon(home: CliHome, ...more: string[]): Promise<Daemon> {
  const { socket: socketPath, tokenFile, flags } = daemonPlace(home);
  rmSync(tokenFile, { force: true });
  const { child, said } = await startDaemonRun(home, ...flags, ...MODEL, ...more);
  expect(existsSync(tokenFile)).toBe(true);
  return { socketPath, tokenFile, child, said: said() };
}

test("what a kill leaves is mended by the next start, over both wires", async () => {
  const home = createCliHome();
  let daemon = await startDaemon(home);
  const { socketPath, tokenFile } = daemon;
  const clock = createSystemClock();
  const restart = async (): Promise<void> => {
    const gone = finish(daemon.child);
    daemon.child.kill("SIGKILL");
    await gone;
    daemon = await startDaemon(home);
  };
  const tokens = {
    // A run of the daemon has a token of its own.
    get human() {
      return readFileSync(tokenFile, "utf8").trim();
    },
  };
  const place = { kind: "unix", path: socketPath } as const;
  const targets = (["rest", "ws"] as const).map(
    (wire): Target => ({ ...httpTarget(wire, { place, clock, waitMs: 15_000, tokens }), restart }),
  );
  const wanted: readonly RequirementId[] = ["stream:restart", "stream:cut-off", "turn:queue-restart"];
  const { findings } = await runConformance({ targets, clock, only: (id) => wanted.includes(id) });
  const verdicts = findings.map(({ requirement, wire, verdict, detail }) => ({ requirement, wire, verdict, detail }));
  expect(verdicts).toEqual(
    (["rest", "ws"] as const).flatMap((wire) =>
      wanted.map((requirement) => ({ requirement, wire, verdict: "pass", detail: undefined })),
    ),
  );
});

test("a token that may mint, and an address in the network, let it ask for the end of tokens and for TLS", async () => {
  const HARNESS_MACHINE_KEY = "11".repeat(32);
  const home = createCliHome({ HARNESS_MACHINE_KEY });
  const key = deriveKey(machineKey({ HARNESS_MACHINE_KEY }), TOKEN_KEY_PURPOSE);
  const certificate = createSelfSignedCertificate("localhost");
  home.put("cert.pem", certificate.cert);
  chmodSync(home.put("key.pem", certificate.key), 0o600);
  const lan = tokenFileText(signToken(wholeClaims({ jti: "lan", sessions: [sessionId(1)] }), key));
  chmodSync(home.put("lan.json", lan), 0o400);
  const minting = home.put("minting", signToken(wholeClaims({ jti: "minting", can_mint: true }), key));
  const tls = ["--tls-cert", "cert.pem", "--tls-key", "key.pem", "--auth-token-file", "lan.json"];
  const { socketPath, said } = await startDaemon(home, "--listen", "0.0.0.0:0", ...tls);
  const [, port = ""] = /0\.0\.0\.0:(\d+) with TLS/.exec(said) ?? [];
  const { code, out } = await runCli(home, [
    "conformance",
    ...["--against", `unix://${socketPath}`, "--token-file", minting, "--wire", "rest", "--json"],
    ...["--lan", `https://localhost:${port}`, "--lan-ca", "cert.pem"],
    ...["--only", "auth:expiring", "--only", "auth:drain", "--only", "auth:tls", "--only", "auth:lan-scope"],
  ]);
  const { findings } = JSON.parse(out) as { findings: { requirement: string; verdict: string; detail?: string }[] };
  expect({ code, findings: findings.filter(({ verdict }) => verdict !== "pass") }).toEqual({ code: 0, findings: [] });
  expect(findings).toHaveLength(4);
});
