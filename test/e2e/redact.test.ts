/** `harness redact` as scripts call it. */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { callCli } from "../fakes/cli-call.ts";
import { type CliHome, createCliHome, finish, runCli, startCli } from "../fakes/cli-process.ts";
import { launcher } from "../fakes/launcher.ts";

const alnum = "Zk3Qm9Tx7Lp2Vb8Nc4Rd6Wf1Yh5Jg0SaUeKi";
const pat = `ghp_${alnum}`;

let home: CliHome;
beforeEach(() => {
  home = createCliHome();
});

describe("harness redact", () => {
  test("writes its input without the secrets", async () => {
    const input = `TOKEN=${pat}\npassword: "n7R#8wQz2v"\nnothing here ✓\n`;
    expect(await runCli(home, ["redact"], input)).toEqual({
      code: 0,
      out: 'TOKEN=«redacted:github-pat»\npassword: "«redacted:password»"\nnothing here ✓\n',
      err: "",
    });
  });

  test("writes as the input comes, and finds what is cut, also inside a character", async () => {
    const child = startCli(home, ["redact"]);
    const ended = finish(child);
    const first = new Promise<string>((resolve) => {
      child.stdout.once("data", (chunk: string) => resolve(chunk));
    });
    const bytes = Buffer.from(`first line é\n${pat} end\n`);
    child.stdin.write(bytes.subarray(0, 12));
    expect(await first).toContain("first ");
    child.stdin.write(bytes.subarray(12, 30));
    child.stdin.end(bytes.subarray(30));
    expect(await ended).toEqual({ code: 0, out: "first line é\n«redacted:github-pat» end\n", err: "" });
  });

  test("knows the secrets of its environment, in other forms too", async () => {
    const secret = "kept in the environment";
    const out = createCliHome({ HOUSE_TOKEN: secret });
    const encoded = Buffer.from(`user:${secret}`).toString("base64");
    const result = await runCli(out, ["redact"], `${secret}\n${encoded}\n`);
    expect(result.out.match(/«redacted:known-secret»/g)).toHaveLength(2);
  });

  test("knows keys of providers, which are taken out of the environment, and stored ones", async () => {
    const place = createCliHome({ ZAI_API_KEY: "correct-horse-41" });
    const args = ["creds", "add", "custom", "--host", "x.test"];
    expect(await callCli(place, args, "battery-staple-52")).toMatchObject({ code: 0 });
    const { out } = await callCli(place, ["redact"], "correct-horse-41 and battery-staple-52\n");
    expect(out).toBe("«redacted:known-secret» and «redacted:known-secret»\n");
    const { err } = await callCli(place, ["sessions", "show", "correct-horse-41"]);
    expect(err).toContain("«redacted:known-secret»");
    const said = await callCli(place, [
      "run",
      "-m",
      "scripted:demo",
      "--json",
      "use correct-horse-41, battery-staple-52",
    ]);
    expect(said.out).toContain("use «redacted:known-secret», «redacted:known-secret»");
    expect(said.out + said.err).not.toMatch(/horse|staple/);
  });

  test("knows the patterns of the user's configuration, and refuses without them", async () => {
    const { XDG_CONFIG_HOME = "" } = home.env;
    mkdirSync(join(XDG_CONFIG_HOME, "harness"), { recursive: true });
    const file = join(XDG_CONFIG_HOME, "harness", "config.toml");
    writeFileSync(file, '[redaction]\npatterns = [{ kind = "badge", pattern = "B-[0-9]{6}" }]\n');
    expect(await callCli(home, ["redact"], "B-120394\n")).toEqual({ code: 0, out: "«redacted:badge»\n", err: "" });
    writeFileSync(file, "this is [ broken\n");
    expect(await callCli(home, ["redact"], "B-120394\n")).toMatchObject({ code: 2, out: "" });
  });

  test("--explain tells where and what kind, never the value", async () => {
    const { code, out } = await callCli(home, ["redact", "--explain"], `a\n b ${pat}\n`);
    expect({ code, out }).toEqual({ code: 0, out: "2:4 github-pat\n" });
  });

  test("--explain --json has counts and the version of the policy", async () => {
    const { out } = await callCli(home, ["redact", "--explain", "--json"], `${pat}\n`);
    expect(JSON.parse(out)).toEqual({
      policy_version: expect.stringMatching(/^[0-9a-f]{16}$/),
      redacted_count: 1,
      counts: { "github-pat": 1 },
      findings: [{ kind: "github-pat", line: 1, column: 1 }],
    });
  });

  test("--check exits with 1 when there is a secret and with 0 when there is none", async () => {
    expect(await callCli(home, ["redact", "--check"], `${pat} ${pat}\n`)).toEqual({
      code: 1,
      out: "2 github-pat\n",
      err: "",
    });
    expect(await callCli(home, ["redact", "--check"], "nothing\n")).toEqual({ code: 0, out: "", err: "" });
  });

  test("takes patterns, and lets nothing through when one is wrong", async () => {
    const right = await callCli(home, ["redact", "--pattern", "ticket=ACME-\\d+"], "see ACME-123\n");
    expect(right.out).toBe("see «redacted:ticket»\n");
    const wrong = await callCli(home, ["redact", "--pattern", "ticket=(("], "see ACME-123\n");
    expect({ code: wrong.code, out: wrong.out }).toEqual({ code: 1, out: "" });
    expect(wrong.err).toContain("RedactionFailed");
  });

  test("refuses flags that say nothing", async () => {
    expect((await callCli(home, ["redact", "--json"], "x")).code).toBe(2);
    expect((await callCli(home, ["redact", "--pattern", "nokind"], "x")).code).toBe(2);
  });

  test.each([[["redact"]], [["redact", "--check"]], [["redact", "--explain"]]])("%j refuses a folder", async (args) => {
    const { code, out, err } = await runWith(home, args, { input: home.workspace });
    expect({ code, out, err }).toEqual({
      code: 2,
      out: "",
      err: "✗ UsageInvalid: standard input is a folder: name a file with < FILE, or use a pipe\n",
    });
  });

  test.each([[["redact"]], [["redact", "--explain"]], [["version"]]])("%j tells of a full disk", async (args) => {
    const input = home.put("input.txt", `${pat}\n`);
    const { code, err } = await runWith(home, args, { input, output: "/dev/full" });
    expect({ code, err }).toEqual({
      code: 1,
      err: "✗ FileFailed: standard output cannot be written: the disk is full.\n",
    });
  });
});

describe("a text in UTF-16, in which nothing would be found", () => {
  const text = `password = Xk9mQz2vLp7\n`;
  test.each([
    ["with a mark", Buffer.from(`\ufeff${text}`, "utf16le")],
    ["without one", Buffer.from(text, "utf16le")],
    ["the other way round", Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
  ])("%s is refused", async (_, bytes) => {
    for (const flags of [[], ["--check"], ["--explain"]]) {
      const child = startCli(home, ["redact", ...flags]);
      child.stdin.end(bytes);
      expect(await finish(child)).toEqual({
        code: 2,
        out: "",
        err: "✗ UsageInvalid: standard input is UTF-16: convert it to UTF-8 first, for example with iconv -f UTF-16 -t UTF-8\n",
      });
    }
  });
});

/** With a file or folder in the place of a pipe, as `<` and `>` of a shell do it. */
function runWith(
  { workspace, env }: CliHome,
  args: readonly string[],
  { input, output }: { readonly input: string; readonly output?: string },
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const opened = [openSync(input, "r"), ...(output === undefined ? [] : [openSync(output, "w")])];
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd: workspace,
    env: { ...env },
    stdio: [opened[0], opened[1] ?? "pipe", "pipe"],
  });
  for (const file of opened) closeSync(file);
  const shown = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    shown.out += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    shown.err += chunk;
  });
  return new Promise((done) => child.once("close", (code) => done({ code, ...shown })));
}
