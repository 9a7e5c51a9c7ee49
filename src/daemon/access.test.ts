/** What a daemon is refused before anything listens, its own token as time goes by, and notifications. As processes: test/e2e/daemon-access.test.ts. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  type Claims,
  createTokenRecords,
  createTokenTimes,
  phaseOf,
  signToken,
  TOKEN_KEY_PURPOSE,
  tokenFileText,
} from "#auth";
import { deriveKey, machineKey } from "#stores";
import { processPlace } from "#world";
import { createInProcessCli, type InProcessCli } from "../../test/fakes/in-process-cli.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { quietCliPorts } from "../../test/fakes/quiet-cli-ports.ts";
import { createSelfSignedCertificate } from "../../test/fakes/self-signed-certificate.ts";
import { sessionId, someClaims, tokenId, wholeClaims } from "../../test/fakes/token-claims.ts";
import { openDaemonAccess } from "./access.ts";
import { createDesktopChannel } from "./desktop-channel.ts";
import {
  beginRunToken,
  LOOK_MS,
  ownRun,
  RENEW_MS,
  RUN_TTL_SECONDS,
  type RunToken,
  revokeEndedRuns,
} from "./run-token.ts";

const HOUR_MS = 60 * 60 * 1000;

const KEY = "11".repeat(32);
const signingKey = deriveKey(machineKey({ HARNESS_MACHINE_KEY: KEY }), TOKEN_KEY_PURPOSE);
const bound = { sessions: [sessionId(1)] };
const certificate = createSelfSignedCertificate("localhost");

let cli: InProcessCli;
beforeEach(() => {
  cli = createInProcessCli({ HARNESS_MACHINE_KEY: KEY });
});

const daemon = (...flags: string[]) => cli.run("daemon", "run", ...flags);

function put(path: string, text: string, mode: number): string {
  const file = join(cli.workspace, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

function putToken(path: string, change: Partial<Claims>, mode = 0o400): string {
  return put(
    path,
    tokenFileText(signToken({ ...wholeClaims({ jti: "" }), jti: tokenId(7), ...change }, signingKey)),
    mode,
  );
}

describe("a token file that was brought", () => {
  test.each([
    ["mode 0600", {}, 0o600, "chmod 400"],
    ["mode 0440", {}, 0o440, "chmod 400"],
    ["over", { nbf: 0, exp: 1 }, 0o400, "TokenExpired"],
    ["not one that is known here", { ver: 2 as 1 }, 0o400, "TokenInvalid"],
  ])("is refused before anything listens: %s", async (_what, change, mode, told) => {
    putToken("ci.json", change, mode);
    expect(await daemon("--auth-token-file", "ci.json")).toMatchObject({ code: 2, err: expect.stringContaining(told) });
  });

  test("that is revoked or not there is refused", async () => {
    const refused = async (told: string, ...flags: string[]) =>
      expect(await daemon(...flags)).toMatchObject({ code: 2, err: expect.stringContaining(told) });
    putToken("ci.json", {});
    await refused("there is no file", "--auth-token-file", "none.json");
    await cli.run("token", "revoke", tokenId(7));
    await refused("TokenRevoked", "--auth-token-file", "ci.json");
  });

  test("in its usual place is refused when others could have changed it", async () => {
    const file = join(cli.env.HOME ?? "", ".config", "harness", "ci-token.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, tokenFileText("hat1.x.y"), { mode: 0o644 });
    expect(await daemon()).toMatchObject({ code: 2, err: expect.stringContaining("chmod 400") });
  });
});

describe("an address that other machines can reach", () => {
  const tls = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
  const token = ["--auth-token-file", "lan.json"];
  beforeEach(() => {
    put("cert.pem", certificate.cert, 0o644);
    put("key.pem", certificate.key, 0o600);
    putToken("lan.json", bound);
    putToken("all.json", {});
    putToken("none.json", { sessions: [] });
  });

  test.each([
    ["nothing", [], "is reachable from other machines"],
    ["no token", tls, "--auth-token-file"],
    ["no certificate", token, "--tls-cert"],
    ["no key", [...token, "--tls-cert", "cert.pem"], "--tls-key"],
    ["no such certificate", [...token, "--tls-cert", "gone.pem", "--tls-key", "key.pem"], "gone.pem"],
    ["a token for all sessions", [...tls, "--auth-token-file", "all.json"], "not for named sessions"],
    ["a token for no session", [...tls, "--auth-token-file", "none.json"], "not for named sessions"],
  ])("is refused with %s", async (_what, flags, told) => {
    for (const address of ["0.0.0.0:0", "[::]:0", "192.0.2.1:8443", "build.example:8443"]) {
      const refused = await daemon("--listen", address, ...flags);
      expect([address, refused]).toMatchObject([address, { code: 2, err: expect.stringContaining(told) }]);
    }
  });

  test("is refused with a key that everybody can read; loopback takes no certificate", async () => {
    chmodSync(join(cli.workspace, "key.pem"), 0o644);
    const open = await daemon("--listen", "0.0.0.0:0", ...tls, ...token);
    expect(open).toMatchObject({ code: 2, err: expect.stringContaining("every user of this machine") });
    const loopback = await daemon("--listen", "127.0.0.1:0", ...tls);
    expect(loopback).toMatchObject({ code: 2, err: expect.stringContaining("other machines can reach") });
  });
});

/** Runs of a daemon on a clock that a test moves, one beside the other. */
function runRig() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "harness-run-token-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clock = createManualClock();
  const records = createTokenRecords(folder);
  const times = createTokenTimes({ clock, records });
  const path = join(folder, "control.token");
  const log: string[] = [];
  const minted: Claims[] = [];
  const begin = (): RunToken => {
    const run = beginRunToken({
      path,
      records,
      times,
      clock,
      log: (line) => log.push(line),
      mint() {
        const nbf = clock.now() / 1000;
        const claims = someClaims({ jti: tokenId(minted.length + 1), nbf, exp: nbf + RUN_TTL_SECONDS });
        minted.push(claims);
        return { claims, token: signToken(claims, signingKey) };
      },
    });
    onTestFinished(() => run.end());
    return run;
  };
  return { folder, clock, records, times, path, log, minted, begin, written: () => readFileSync(path, "utf8") };
}

describe("the token of a run", () => {
  test("is renewed half-way, all of them end with the run, and the file of another daemon stays", async () => {
    const { folder, clock, records, path, log, minted, begin, written } = runRig();
    const first = begin();
    const before = written();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await clock.advance(RENEW_MS - 1);
    expect(written()).toBe(before);
    const { ino } = statSync(path);
    await clock.advance(1);
    expect(written()).not.toBe(before);
    // A file of another identity would show where a sandbox that runs has hidden this one.
    expect(statSync(path)).toMatchObject({ ino });
    expect(readdirSync(folder).filter((name) => name.startsWith("control"))).toEqual(["control.token"]);
    const second = begin();
    first.end();
    expect(records.revokedAt({ jti: tokenId(1) })).toBeDefined();
    expect(records.revokedAt({ jti: tokenId(2) })).toBeDefined();
    expect(records.revokedAt({ jti: tokenId(3) })).toBeUndefined();
    expect(written()).not.toBe("");
    second.end();
    expect(() => written()).toThrow("ENOENT");
    await clock.advance(RENEW_MS * 3);
    expect([minted.length, clock.sleeping, log]).toEqual([3, 0, []]);
  });

  test.each([
    ["-1 h", -HOUR_MS],
    ["+1 h", HOUR_MS],
    ["+25 h", 25 * HOUR_MS],
    ["-25 h", -25 * HOUR_MS],
  ])("is good through a step of %s, and is renewed once so that its claims fit the clock", async (_what, stepMs) => {
    const { clock, times, minted, begin, written } = runRig();
    begin();
    const before = written();
    clock.stepWall(stepMs);
    const [first] = minted as [Claims];
    expect(times.phase(first)).toBe("valid");
    await clock.advance(LOOK_MS);
    expect(written()).not.toBe(before);
    await clock.advance(10 * LOOK_MS);
    expect(minted).toHaveLength(2);
    expect(minted.map((claims) => times.phase(claims))).toEqual(["valid", "valid"]);
    expect(phaseOf(minted[1] as Claims, clock.now())).toBe("valid");
  });

  test("takes no notice of a step within the leeway, nor of a clock that goes back and forth between two looks", async () => {
    const { clock, minted, begin } = runRig();
    begin();
    for (const stepMs of [5_000, -5_000, 25 * HOUR_MS, -25 * HOUR_MS]) clock.stepWall(stepMs);
    await clock.advance(LOOK_MS);
    clock.stepWall(-5_000);
    await clock.advance(LOOK_MS);
    expect(minted).toHaveLength(1);
  });

  test("ends after its time on the monotonic clock, whatever the wall clock says", async () => {
    const { clock, times, minted, begin } = runRig();
    begin();
    clock.stepWall(-25 * HOUR_MS);
    await clock.advance(RUN_TTL_SECONDS * 1000 - 1);
    expect(times.phase(minted[0] as Claims)).toBe("expiring");
    await clock.advance(1);
    expect(times.phase(minted[0] as Claims)).toBe("draining");
  });

  test("is over with its run, also when the wall clock says that it ended before and is set back later", () => {
    const { clock, records, minted, begin } = runRig();
    const run = begin();
    clock.stepWall(25 * HOUR_MS);
    run.end();
    clock.stepWall(-25 * HOUR_MS);
    expect(records.revokedAt(minted[0] as Claims)).toMatchObject({ isRunOver: true });
  });

  test("of a run that was killed is revoked by the next daemon, also by one whose clock is ahead", () => {
    const { clock, records, folder } = runRig();
    const { exp } = someClaims();
    records.add(someClaims(), clock.now(), { process: `${processPlace()}.${process.pid}.1` });
    expect(revokeEndedRuns(createTokenRecords(folder), {}, exp * 1000 + HOUR_MS)).toEqual([tokenId(1)]);
  });

  test("that could not be written is tried again after a pause, and not at once", async () => {
    const { clock, path, log, minted, begin } = runRig();
    begin();
    rmSync(path);
    mkdirSync(path);
    clock.stepWall(HOUR_MS);
    await clock.advance(3 * LOOK_MS);
    expect([log.length, minted.length]).toEqual([3, 4]);
    rmSync(path, { recursive: true });
    await clock.advance(2 * LOOK_MS);
    expect([log.length, minted.length, statSync(path).isFile()]).toEqual([3, 5, true]);
  });
});

describe("tokens of runs that have ended", () => {
  test.each([
    ["a process that runs is left alone", {}, false],
    ["one that has ended is revoked", { process: `${processPlace()}.${process.pid}.1` }, true],
    ["one of another boot is revoked when its socket is ours", { process: "elsewhere.1.1", socket: "/s" }, true],
    ["one of another container with its own socket is left alone", { process: "elsewhere.1.1", socket: "/t" }, false],
    ["a server of another container is left alone", { process: "elsewhere.1.1" }, false],
  ])("%s", (_what, run, isRevoked) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "harness-runs-")));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const records = createTokenRecords(folder);
    records.add(someClaims({ jti: tokenId(1) }), 1_500_000, { ...ownRun(undefined), ...run });
    records.add(someClaims({ jti: tokenId(2) }), 1_500_000);
    expect(revokeEndedRuns(records, { socket: "/s" }, 1_500_000)).toEqual(isRevoked ? [tokenId(1)] : []);
    expect(records.revokedAt({ jti: tokenId(1) }) !== undefined).toBe(isRevoked);
    expect(records.revokedAt({ jti: tokenId(2) })).toBeUndefined();
    expect(revokeEndedRuns(records, { socket: "/s" }, 1_500_000)).toEqual([]);
  });
});

describe("a notification", () => {
  const show = (script: string) => {
    const file = put("notify", `#!/bin/sh\n${script}\n`, 0o755);
    const notifier = { file, args: (title: string, text: string) => [title, text] };
    return createDesktopChannel({ env: { PATH: process.env.PATH }, cwd: cli.workspace, notifier });
  };

  test("shows the code and what is asked for", async () => {
    const channel = show('printf "%s|%s" "$1" "$2" > shown.txt');
    expect(channel.isThere()).toBe(true);
    expect(await channel.show("012345", someClaims(), 0)).toBe(true);
    expect(readFileSync(join(cli.workspace, "shown.txt"), "utf8")).toMatch(
      /^A program is requesting a token\|Code 012345\. tok_.*agent, SendInput, CancelTurn in sess_/,
    );
  });

  test("that fails is none", async () => {
    expect(await show("exit 1").show("012345", someClaims(), 0)).toBe(false);
    const missing = { file: join(cli.workspace, "nothing"), args: () => [] };
    const channel = createDesktopChannel({ env: {}, cwd: cli.workspace, notifier: missing });
    expect(await channel.show("012345", someClaims(), 0)).toBe(false);
  });
});

test("the token of the run is taken after any number of guesses from the same socket, also the first time", async () => {
  const ports = quietCliPorts({ out: "", err: "" }, { env: cli.env, cwd: cli.workspace });
  const access = openDaemonAccess(ports, {}, [{ kind: "unix", path: join(cli.workspace, "c.sock") }]);
  access.begin();
  onTestFinished(() => access.end());
  const reason = async (token: string): Promise<string> => {
    const checked = await access.authenticate({ token, channel: "unix", source: "unix" });
    return "refusal" in checked ? checked.refusal.reason : "ok";
  };
  const reasons = await Promise.all(Array.from({ length: 12 }, () => reason("guess")));
  expect(reasons.at(-1)).toBe("TooManyFailures");
  expect(await reason(readFileSync(access.tokenFile, "utf8").trim())).toBe("ok");
});
