/** The program keeps nothing readable, and says what is wrong with a key. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callCli } from "../fakes/cli-call.ts";
import { createCliHome, offlineModel, runCli } from "../fakes/cli-process.ts";
import { addKeychain } from "../fakes/fake-keychain.ts";

test("what was said is not readable on the disk, and the key is private", async () => {
  const home = createCliHome(offlineModel);
  const { code } = await callCli(home, ["run", "hello canary-in-the-mine"]);
  expect(code).toBe(0);
  const data = join(home.env.XDG_DATA_HOME ?? "", "harness");
  const files = readdirSync(data);
  expect(files).toContain("sessions.db");
  expect(files.filter((name) => readFileSync(join(data, name)).includes("canary"))).toEqual([]);
  const key = join(home.env.XDG_CONFIG_HOME ?? "", "harness", "machine.key");
  expect([statSync(key).size, statSync(key).mode & 0o777]).toEqual([32, 0o600]);
});

test("a key that is none, or another one, is exit 2 with the reason", async () => {
  const home = createCliHome(offlineModel);
  const given = (value: string) => ({ ...home, env: { ...home.env, HARNESS_MACHINE_KEY: value } });
  const bad = await callCli(given("hunter2"), ["run", "hello"]);
  expect([bad.code, bad.err]).toEqual([2, expect.stringContaining("HARNESS_MACHINE_KEY is not a key")]);
  expect(bad.err).not.toContain("hunter2");
  expect((await callCli(given("a".repeat(64)), ["run", "hello"])).code).toBe(0);
  const other = await callCli(given("b".repeat(64)), ["run", "hello"]);
  expect([other.code, other.err]).toEqual([2, expect.stringMatching(/sessions\.db does not open with the key/)]);
});

test.runIf(process.platform === "linux")(
  "where there is a keychain it keeps the key; a key in a file stays there until sessions rekey",
  async () => {
    const plain = createCliHome(offlineModel);
    const keychain = addKeychain(plain);
    const file = join(plain.env.XDG_CONFIG_HOME ?? "", "harness", "machine.key");
    const doctor = async () => (await runCli(keychain.home, ["doctor"])).out;
    // Without its session the key goes into a file, and stays usable with it.
    expect(await runCli(plain, ["run", "hello"])).toMatchObject({ code: 0 });
    expect(await runCli(keychain.home, ["run", "hello"])).toMatchObject({ code: 0 });
    expect([statSync(file).size, keychain.entries()]).toEqual([32, []]);
    expect(await doctor()).toContain(`machine key: from ${file}; harness sessions rekey`);
    expect(await runCli(keychain.home, ["sessions", "rekey"])).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toBe(`in the keychain: ${keychain.entries()[0]}\n`);
    expect(keychain.entries()).toHaveLength(1);
    expect(await doctor()).toContain("machine key: from the keychain (secret-tool)");
    expect(await runCli(keychain.home, ["run", "--continue", "again"])).toMatchObject({ code: 0 });
    keychain.lock(true);
    expect(await runCli(keychain.home, ["run", "hello"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/KeyInvalid.*the keychain is locked.*Unlock the keychain/s),
    });
    keychain.lock(false);
    const inFile = { ...keychain.home, env: { ...keychain.home.env, HARNESS_KEYCHAIN: "off" } };
    expect(await runCli(inFile, ["sessions", "rekey"])).toMatchObject({ code: 0 });
    expect([statSync(file).size, keychain.entries()]).toEqual([32, []]);
    expect(await runCli(plain, ["run", "--continue", "again"])).toMatchObject({ code: 0 });
  },
);
