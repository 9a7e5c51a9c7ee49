/** Keys as users have them: stored with `harness creds`, given in the environment, and never where somebody else could look. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { callCli } from "../fakes/cli-call.ts";
import { createCliHome, openCliTerminal, runCli } from "../fakes/cli-process.ts";
import { huntForKey } from "../fakes/key-hunt.ts";
import { type MockProviderServer, startMockProvider } from "../fakes/mock-provider-server.ts";

const SECRET = "sk-test-4f8a1c9e2b7d6053";

async function openVendor(): Promise<MockProviderServer> {
  const vendor = await startMockProvider({ always: { type: "message", blocks: [{ type: "text", text: "hello" }] } });
  onTestFinished(() => vendor.close());
  return vendor;
}

function credentialFile({ env }: { readonly env: Readonly<Record<string, string>> }): string {
  return join(env.XDG_CONFIG_HOME ?? "", "harness/creds.enc");
}

describe("harness creds", () => {
  test("stores, lists, uses, tests and deletes a key without ever showing it", async () => {
    const vendor = await openVendor();
    const home = createCliHome({ OPENAI_BASE_URL: `${vendor.url}/v1` });
    const said: string[] = [];
    const run = async (args: string[], stdin?: string) => {
      const result = await runCli(home, args, stdin);
      said.push(result.out, result.err);
      return result;
    };
    expect(await run(["creds", "list"])).toMatchObject({ code: 0, out: expect.stringContaining("No key is stored") });
    const added = await run(["creds", "add", "openai", "--host", vendor.url, "--json"], `${SECRET}\n`);
    expect(added).toMatchObject({
      code: 0,
      err: expect.stringContaining("machine.key, so anybody who can read both files"),
    });
    expect(JSON.parse(added.out)).toMatchObject({ provider: "openai", name: "default", hosts: [vendor.url] });
    expect(statSync(credentialFile(home)).mode & 0o777).toBe(0o600);
    expect(readFileSync(credentialFile(home), "utf8")).not.toContain(SECRET);

    // Without a model: the stored key chooses it.
    expect(await run(["run", "hi"])).toMatchObject({ code: 0, out: "hello\n" });
    expect(await run(["creds", "test", "openai", "--json"])).toMatchObject({ code: 0 });
    expect(vendor.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${SECRET}`,
      `Bearer ${SECRET}`,
    ]);
    expect((await run(["models", "--json"])).out).toContain(
      '"provider":"openai","default_model":"openai:gpt-6.1-terra"',
    );

    expect(JSON.parse((await run(["creds", "list", "--json"])).out)).toHaveLength(1);
    expect(await run(["creds", "delete", "openai"])).toMatchObject({ code: 0 });
    expect(await run(["creds", "delete", "openai"])).toMatchObject({ code: 2 });
    expect((await run(["run", "-m", "openai:x", "hi"])).err).toContain("MissingCredential");
    expect(said.join("")).not.toContain(SECRET);
  });

  test("a broken file stops no session that needs no key, but says that its keys are not recognised", async () => {
    const home = createCliHome();
    await callCli(home, ["creds", "add", "openai"], SECRET);
    writeFileSync(credentialFile(home), "{", { mode: 0o600 });
    const offline = ["-m", "scripted:offline"];
    const { code, out, err } = await callCli(home, ["run", ...offline, "--json", "hi"]);
    expect({ code, err }).toMatchObject({ code: 0 });
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; payload: unknown });
    expect(events.filter(({ kind }) => kind === "Error").map(({ payload }) => payload)).toEqual([
      {
        reason: "CredentialStoreFailed",
        message: expect.stringMatching(/creds\.enc.* Redaction does not know these keys/),
        terminal: false,
      },
    ]);
    expect((await callCli(home, ["run", ...offline, "hi"])).err).toContain("Redaction does not know these keys");
    expect((await callCli(home, ["redact"], "text\n")).err).toContain("creds.enc");
    expect(await callCli(home, ["run", ...offline, "--record", "a.cassette", "hi"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("CredentialStoreFailed"),
    });
  });

  test("a stored key goes to no address but its own, whatever the environment says", async () => {
    const vendor = await openVendor();
    const home = createCliHome({ OPENAI_BASE_URL: `${vendor.url}/v1` });
    await callCli(home, ["creds", "add", "openai"], SECRET);
    const { code, err } = await callCli(home, ["run", "-m", "openai:x", "hi"]);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("CredentialHostRefused") });
    expect(vendor.requests).toEqual([]);
  });

  test("a key can be typed unseen, and as an argument it is warned about", async () => {
    const home = createCliHome();
    const terminal = openCliTerminal(home, ["creds", "add", "anthropic"]);
    await terminal.see("Key for anthropic/default (not shown): ");
    terminal.type(`x\u007f${SECRET}\r`);
    expect(await terminal.see("Stored anthropic/default")).not.toContain(SECRET);
    expect(await terminal.exit).toBe(0);
    const { code, err } = await runCli(home, ["creds", "add", "zai", "work", SECRET]);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("a secret on the command line stays") });
  });

  test("a key that is not typed after all is told as that, and nothing is stored", async () => {
    const home = createCliHome();
    for (const key of ["sk-half\u0003", "\u0004"]) {
      const terminal = openCliTerminal(home, ["creds", "add", "anthropic"]);
      await terminal.see("(not shown): ");
      terminal.type(key);
      await terminal.see("Cancelled: No key was typed for anthropic/default: nothing was stored.");
      expect(await terminal.exit).toBe(130);
    }
    expect(existsSync(credentialFile(home))).toBe(false);
  });

  test.each([
    [["add", "nobody"], "there is no provider 'nobody'"],
    [["add", "custom"], "use --host to say where the key may be sent"],
    [["add", "openai", "--host", "ftp://x"], "'ftp://x' is neither a host nor an address"],
    [["add", "openai", "a/b"], "'a/b' is not a valid name"],
  ])("%j is a usage error", async (args, message) => {
    const home = createCliHome();
    const { code, err } = await callCli(home, ["creds", ...args], SECRET);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
    expect(existsSync(credentialFile(home))).toBe(false);
  });

  test("another passphrase opens nothing, and says so", async () => {
    const vendor = await openVendor();
    const home = createCliHome({ OPENAI_BASE_URL: `${vendor.url}/v1` });
    const as = (passphrase: string) => ({ ...home, env: { ...home.env, HARNESS_PASSPHRASE: passphrase } });
    await callCli(as("one"), ["creds", "add", "openai", "--host", vendor.url], SECRET);
    const wrong = await callCli(as("two"), ["run", "-m", "openai:x", "--store", "memory", "hi"]);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("KeyInvalid") });
    const right = await callCli(as("one"), ["run", "-m", "openai:x", "--store", "memory", "hi"]);
    expect(right).toMatchObject({ code: 0 });
  });

  test("a new machine key takes stored keys with it", async () => {
    const vendor = await openVendor();
    const home = createCliHome({ OPENAI_BASE_URL: `${vendor.url}/v1` });
    await callCli(home, ["creds", "add", "openai", "--host", vendor.url], SECRET);
    expect(await callCli(home, ["run", "hi"])).toMatchObject({ code: 0 });
    expect(await callCli(home, ["sessions", "rekey"])).toMatchObject({ code: 0, err: "" });
    expect(await callCli(home, ["run", "hi"])).toMatchObject({ code: 0 });
    expect(vendor.requests).toHaveLength(2);
  });

  test.runIf(process.platform === "linux")(
    "the keychain keeps a secret, and is asked by the helper alone",
    async () => {
      const vendor = await openVendor();
      const plain = createCliHome({ OPENAI_BASE_URL: `${vendor.url}/v1` });
      const folder = join(plain.env.HOME ?? "", "bin");
      // Behaves as the real one: the secret comes over standard input and goes to standard output.
      const kept = join(plain.env.HOME ?? "", "kept-by-keychain");
      const script = `#!/bin/sh\ncase "$1" in store) cat > ${kept};; lookup) cat ${kept};; clear) rm ${kept};; esac\n`;
      mkdirSync(folder);
      writeFileSync(join(folder, "secret-tool"), script);
      chmodSync(join(folder, "secret-tool"), 0o755);
      const home = { ...plain, env: { ...plain.env, PATH: `${folder}:${plain.env.PATH}` } };
      const added = await runCli(home, ["creds", "add", "openai", "--keychain", "--host", vendor.url], SECRET);
      expect(added).toMatchObject({ code: 0, err: "", out: expect.stringContaining("in the keychain") });
      expect(readFileSync(kept, "utf8")).toBe(SECRET);
      expect(await runCli(home, ["run", "hi"])).toMatchObject({ code: 0 });
      expect(vendor.requests[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
      const told = await runCli(plain, ["creds", "add", "zai", "--keychain"], SECRET);
      expect(told).toMatchObject({ code: 0, err: expect.stringContaining("the keychain cannot be used") });
      expect(await runCli(home, ["creds", "delete", "openai"])).toMatchObject({ code: 0 });
      expect(existsSync(kept)).toBe(false);
    },
  );

  test("without a provider it says how the helper is", async () => {
    const home = createCliHome({ OPENAI_API_KEY: SECRET });
    const { code, out } = await runCli(home, ["creds", "test", "--json"]);
    expect({ code, report: JSON.parse(out) }).toMatchObject({ code: 0, report: { ok: true, helper: "running" } });
    if (process.platform === "linux") expect(JSON.parse(out)).toMatchObject({ environment_wiped: true });
  });
});

describe.runIf(process.platform === "linux")("while a child of the program runs, no key is seen from outside", () => {
  test.each([
    { name: "a command without a sandbox", flags: ["--sandbox", "off"], call: "exec", stored: false },
    { name: "a program of a script", flags: ["--sandbox", "off"], call: "script", stored: false },
    { name: "a stored key", flags: [], call: "exec", stored: true },
  ] as const)("$name", async (hunt) => {
    const found = await huntForKey(hunt, SECRET);
    expect(found).toMatchObject({ places: [], inEngineMemory: 0, sentToVendor: 2, exitCode: 0 });
    expect(found.processes.some((command) => command.includes("sh -c") || command.includes("bash"))).toBe(true);
  });
});

describe("a key that the engine does not have", () => {
  const ODD = "Maple-tree_under/9moons+of2glass";

  test.each([
    ["of the environment", "environment"],
    ["that is stored", "store"],
  ])("%s is recognised where it turns up, in the first event already", async (_, place) => {
    const vendor = await openVendor();
    const home = createCliHome({
      OPENAI_BASE_URL: `${vendor.url}/v1`,
      ...(place === "environment" ? { OPENAI_API_KEY: ODD } : {}),
    });
    if (place === "store") await runCli(home, ["creds", "add", "openai", "--host", vendor.url], ODD);
    const prompt = `is ${ODD} mine, or ${Buffer.from(ODD).toString("hex")}?`;
    const { code, out } = await runCli(home, ["run", "-m", "openai:x", "--json", prompt]);
    expect(code).toBe(0);
    expect(out).toContain("is «redacted:known-secret» mine, or «redacted:known-secret»?");
    const bodies = JSON.stringify(vendor.requests.map(({ body }) => body));
    expect(bodies).toContain("is «redacted:known-secret» mine");
    expect(out + bodies).not.toContain(ODD);
  });
});
