/** `harness token` in this process; how a person confirms one is in test/e2e/token.test.ts. */
import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type Claims, signToken, TOKEN_KEY_PURPOSE } from "#auth";
import { deriveKey, machineKey } from "#stores";
import { createInProcessCli, type InProcessCli } from "../../test/fakes/in-process-cli.ts";
import { sessionId, someClaims, tokenId } from "../../test/fakes/token-claims.ts";

const KEY = "11".repeat(32);
/** Where the clock of the program stands. */
const NOW_SECONDS = Date.UTC(2026, 0, 1) / 1000;

let cli: InProcessCli;
let parent: Claims;
beforeEach(() => {
  parent = someClaims({
    jti: tokenId(9),
    sessions: [sessionId(1), sessionId(2)],
    nbf: NOW_SECONDS - 10,
    exp: NOW_SECONDS + 3600,
    can_mint: true,
  });
  cli = createInProcessCli({ HARNESS_MACHINE_KEY: KEY, HARNESS_TOKEN: signed(parent) });
});

function signed(claims: Claims): string {
  return signToken(claims, deriveKey(machineKey({ HARNESS_MACHINE_KEY: KEY }), TOKEN_KEY_PURPOSE));
}

const mint = (...args: string[]) => cli.run("token", "mint", ...args);

describe("token mint", () => {
  test("with a token that may mint: no more than it has, and listed", async () => {
    const made = await cli.json("token", "mint", "--session", sessionId(1), "--commands", "SendInput", "--ttl", "15m");
    expect(made).toMatchObject({
      token: expect.stringMatching(/^hat1\./),
      claims: {
        sessions: [sessionId(1)],
        commands: ["SendInput"],
        identity_class: "agent",
        nbf: NOW_SECONDS,
        exp: NOW_SECONDS + 900,
        can_mint: false,
        minted_by: [parent.jti],
      },
    });
    expect(await mint("--session", sessionId(3), "--commands", "SendInput")).toMatchObject({ code: 1, out: "" });
    expect((await mint("--session", sessionId(1), "--commands", "UndoTurn")).err).toContain("TokenScope");
    expect((await mint("--session", sessionId(1), "--identity-class", "human")).err).toContain("TokenScope");
    expect((await mint("--all-sessions", "--commands", "SendInput")).err).toContain("TokenScope");
    const listed = (await cli.json("token", "list")) as unknown[];
    expect(listed).toMatchObject([{ state: "valid", sessions: [sessionId(1)] }]);
    expect((await cli.run("token", "list")).out).toMatch(
      /^TOKEN .*\ntok_[0-9A-Z]{26} {2}agent +valid +2026-01-01 00:15 /,
    );
  });

  test("a file that is there already is told before anybody is asked for a code", async () => {
    const alone = createInProcessCli({ HARNESS_MACHINE_KEY: KEY });
    alone.put("ci.json", "{}");
    const refused = await alone.run("token", "mint", "--session", sessionId(1), "--file", "ci.json");
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("AlreadyExists") });
  });

  test("with nobody to confirm it: refused, with what to do instead", async () => {
    const alone = createInProcessCli({ HARNESS_MACHINE_KEY: KEY });
    const refused = await alone.run("token", "mint", "--session", sessionId(1));
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toContain("ConfirmationUnavailable");
    expect(refused.err).toContain("--file");
    expect(await alone.json("token", "list")).toEqual([]);
  });

  test("with flags that make no sense: exit code 2", async () => {
    for (const args of [
      [],
      ["--session", sessionId(1), "--all-sessions"],
      ["--session", "sess_1"],
      ["--session", sessionId(1), "--ttl", "forever"],
      ["--session", sessionId(1), "--ttl", "91d"],
      ["--session", sessionId(1), "--commands", "Dance"],
      ["--session", sessionId(1), "--commands", ","],
    ]) {
      expect(await mint(...args), args.join(" ")).toMatchObject({ code: 2, out: "" });
    }
  });

  test("into a file: mode 0400, never over another, and check reads it", async () => {
    const file = join(cli.workspace, "ci.json");
    expect(await mint("--session", sessionId(2), "--commands", "SendInput", "--file", "ci.json")).toMatchObject({
      code: 0,
      out: `${file}\n`,
    });
    expect(statSync(file).mode & 0o777).toBe(0o400);
    expect((await mint("--session", sessionId(2), "--commands", "SendInput", "--file", "ci.json")).err).toContain(
      "AlreadyExists",
    );
    expect(await cli.json("token", "check", "--file", "ci.json")).toMatchObject({ sessions: [sessionId(2)] });
    // No token is left on record that nobody was given.
    expect(await mint("--session", sessionId(2), "--commands", "SendInput", "--file", "no/ci.json")).toMatchObject({
      code: 2,
      out: "",
    });
    const listed = (await cli.json("token", "list")) as readonly { readonly state: string }[];
    expect(listed.filter(({ state }) => state === "valid")).toHaveLength(1);
    chmodSync(file, 0o600);
    expect(await cli.run("token", "check", "--file", "ci.json")).toMatchObject({ code: 2, out: "" });
  });
});

describe("token revoke and check", () => {
  test("a revoked token is refused, and so is what it has minted", async () => {
    expect(await cli.json("token", "check")).toMatchObject({ jti: parent.jti });
    const { token } = (await cli.json("token", "mint", "--session", sessionId(1), "--commands", "SendInput")) as {
      token: string;
    };
    expect(await cli.json("token", "revoke", parent.jti)).toEqual({
      jti: parent.jti,
      revoked: true,
      known: false,
      new: true,
    });
    expect((await cli.run("token", "revoke", parent.jti)).err).toContain("Was revoked before");
    expect((await cli.run("token", "check")).err).toContain("TokenRevoked");
    expect((await mint("--session", sessionId(1), "--commands", "SendInput")).err).toContain("TokenRevoked");
    cli.put("child.json", `{"token":"${token}"}`);
    chmodSync(join(cli.workspace, "child.json"), 0o400);
    expect((await cli.run("token", "check", "--file", "child.json")).err).toContain("TokenRevoked");
    expect((await cli.run("token", "revoke", "tok_1")).code).toBe(2);
  });

  test("a token of another machine, an old one and none at all are told apart", async () => {
    const check = async (env: Record<string, string>) =>
      (await createInProcessCli({ HARNESS_MACHINE_KEY: KEY, ...env }).run("token", "check")).err;
    expect(await check({ HARNESS_TOKEN: signToken(parent, new Uint8Array(32)) })).toContain("TokenInvalid");
    expect(await check({ HARNESS_TOKEN: signed({ ...parent, exp: NOW_SECONDS }) })).toContain("TokenExpired");
    expect(await check({})).toContain("UsageInvalid");
  });
});
