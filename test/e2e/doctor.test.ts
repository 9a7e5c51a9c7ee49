/** `harness doctor`, `verify` and `debug` as somebody types them who wants to know why it does not work. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { callCli } from "../fakes/cli-call.ts";
import { type CliHome, createCliHome, runCli } from "../fakes/cli-process.ts";
import { createDaemonHome } from "../fakes/daemon-home.ts";
import { startMockProvider } from "../fakes/mock-provider-server.ts";

/** Of the form that a vendor's keys have. */
const SECRET = ["gh", "p_", "Qm3TzR8vLx2NwKd7YbHs5JfGc9PaXe4Uo1Vi"].join("");

interface Report {
  readonly ok: boolean;
  readonly checks: readonly {
    readonly check: string;
    readonly state: string;
    readonly detail: string;
    readonly fix?: string;
  }[];
}

async function doctor(
  home: CliHome,
  run = callCli,
): Promise<{ readonly code: number | null; readonly report: Report }> {
  const { code, out } = await run(home, ["doctor", "--json"]);
  return { code, report: JSON.parse(out) as Report };
}

describe("harness doctor", () => {
  test("finds nothing wrong in a new home, and leaves it as it was", async () => {
    const home = createCliHome();
    const { code, report } = await doctor(home, runCli);
    expect(report.checks.filter(({ state }) => state === "error")).toEqual([]);
    expect({ code, ok: report.ok }).toEqual({ code: 0, ok: true });
    expect(new Set(report.checks.map(({ check }) => check))).toEqual(
      new Set([
        "node",
        "MCP servers",
        "folders",
        "configuration",
        "machine key",
        "session log",
        "redaction",
        "credentials",
        "keys",
        "sandbox",
        "daemon",
        "project",
        "git",
        "log",
        "plugins",
      ]),
    );
    expect(["data", "config"].filter((name) => existsSync(join(home.env.HOME ?? "", name)))).toEqual([]);
  });

  test("says what is wrong and what to do", async () => {
    const home = createCliHome();
    const data = join(home.env.HOME ?? "", "data", "harness");
    mkdirSync(data, { recursive: true });
    chmodSync(data, 0o755);
    writeFileSync(join(data, "sessions.db"), "no database at all, not even a small one");
    home.configure("max_stepz = 3\n");
    home.put("harness.md", "---\ncontext: { max_history: 5 }\n---\n\nBe brief.\n");
    const { code, report } = await doctor(home);
    expect(code).toBe(1);
    expect(report.checks).toEqual(
      expect.arrayContaining([
        { check: "folders", state: "warning", detail: expect.stringContaining("755"), fix: `Run: chmod 700 ${data}` },
        expect.objectContaining({
          check: "configuration",
          state: "warning",
          detail: expect.stringContaining("max_steps"),
        }),
        expect.objectContaining({ check: "session log", state: "error" }),
        expect.objectContaining({ check: "project", state: "warning", fix: "Run: harness ack" }),
      ]),
    );
    home.configure("max_steps = -3\n");
    expect((await doctor(home)).report.checks).toContainEqual(
      expect.objectContaining({
        check: "configuration",
        state: "error",
        detail: expect.stringContaining("config.toml:1"),
      }),
    );
  });

  test("notices that the key of the machine is gone, and makes no other", async () => {
    const home = createCliHome();
    await callCli(home, ["creds", "add", "openai"], SECRET);
    const file = join(home.env.XDG_CONFIG_HOME ?? "", "harness/machine.key");
    rmSync(file);
    const { code, report } = await doctor(home);
    expect(code).toBe(1);
    expect(report.checks).toContainEqual(
      expect.objectContaining({
        check: "machine key",
        state: "error",
        detail: expect.stringContaining("machine.key is missing"),
      }),
    );
    expect(existsSync(file)).toBe(false);
  });

  test("notices stored keys that the key of the machine does not open", async () => {
    const home = createCliHome();
    const ofKeys = async (env: Readonly<Record<string, string>> = {}) =>
      (await doctor({ ...home, env: { ...home.env, ...env } })).report.checks.find(
        ({ check }) => check === "credentials",
      );
    expect(await callCli(home, ["creds", "add", "openai"], "sk-test-Qm3TzR8vLx2N")).toMatchObject({ code: 0 });
    expect(await ofKeys()).toMatchObject({ state: "ok" });
    expect(await ofKeys({ HARNESS_PASSPHRASE: "another one" })).toMatchObject({
      state: "error",
      detail: expect.stringContaining("encrypted with another machine key"),
    });
  });

  test("warns of folders that are not the user's alone, with the command that mends each", async () => {
    const base = createCliHome();
    const root = base.env.HOME ?? "";
    const runtime = join(root, "run");
    const home = { ...base, env: { ...base.env, XDG_RUNTIME_DIR: runtime } };
    const [data, config, state] = ["data/harness", "config/harness", ".local/state/harness"].map((path) =>
      join(root, path),
    ) as [string, string, string];
    const modes: readonly (readonly [string, number])[] = [
      [join(root, "data"), 0o777],
      [data, 0o777],
      [join(data, "daemon"), 0o750],
      [config, 0o755],
      [state, 0o700],
      [runtime, 0o770],
    ];
    for (const [path, mode] of modes) {
      mkdirSync(path, { recursive: true });
      chmodSync(path, mode);
    }
    const folders = async () =>
      (await doctor(home)).report.checks.flatMap(({ check, state: found, detail, fix }) =>
        check === "folders" ? [[found, detail, fix]] : [],
      );
    expect(await folders()).toEqual([
      ["warning", `others can change files in ${data} (777)`, `Run: chmod 700 ${data}`],
      ["warning", `others can look into ${join(data, "daemon")} (750)`, `Run: chmod 700 ${join(data, "daemon")}`],
      [
        "warning",
        `everybody can replace the folders in ${join(root, "data")} (777)`,
        `Run: chmod o-w ${join(root, "data")}`,
      ],
      ["ok", state, undefined],
      ["warning", `others can look into ${config} (755)`, `Run: chmod 700 ${config}`],
      ["warning", `others can change files in ${runtime} (770)`, `Run: chmod 700 ${runtime}`],
    ]);
    for (const [path] of modes) chmodSync(path, 0o700);
    expect((await folders()).map(([found]) => found)).toEqual(["ok", "ok", "ok"]);
    if (process.getuid?.() !== 0) return; // only root can give a folder away
    chownSync(config, 12345, 12345);
    chownSync(runtime, 12345, 12345);
    expect((await folders()).filter(([found]) => found === "warning")).toEqual(
      [config, runtime].map((path) => [
        "warning",
        `${path} belongs to another user (12345)`,
        `Run: sudo chown -R ${userInfo().username} ${path}`,
      ]),
    );
  });

  test("tells how the daemon is", async () => {
    const home = createDaemonHome();
    const pid = await home.start();
    const ofDaemon = async () => (await doctor(home, runCli)).report.checks.filter(({ check }) => check === "daemon");
    expect(await ofDaemon()).toMatchObject([{ state: "ok", detail: expect.stringContaining(String(pid)) }]);
    chmodSync(home.socket, 0o666);
    process.kill(pid, "SIGSTOP");
    expect(await ofDaemon()).toMatchObject([
      { state: "error", detail: expect.stringContaining("was stopped"), fix: "Run: harness daemon restart" },
      { state: "error", fix: `Run: chmod 600 ${home.socket}` },
    ]);
  });
});

test("a data folder with a path that is too long for a socket is told before a daemon fails on it", async () => {
  const home = createCliHome();
  const env = { ...home.env, XDG_DATA_HOME: join(home.env.HOME ?? "", "long".repeat(30)) };
  const { code, out } = await callCli({ ...home, env }, ["doctor"]);
  expect(out).toMatch(/! daemon: .*control\.sock: longer than \d+ bytes/);
  expect(out).toContain("XDG_DATA_HOME");
  expect(code).toBe(0);
});

test("harness verify goes the whole way once", async () => {
  const home = createCliHome();
  const { code, out, err } = await runCli(home, ["verify", "--json"]);
  const { ok, steps } = JSON.parse(out) as { ok: boolean; steps: { step: string; ok: boolean; detail: string }[] };
  expect({ code, ok, failed: steps.filter((step) => !step.ok) }, err).toEqual({ code: 0, ok: true, failed: [] });
  expect(steps.map(({ step }) => step)).toEqual([
    "redaction",
    "stdio initialize",
    "http initialize (unix socket)",
    "http initialize (loopback)",
    "tools",
    "a turn",
    "program",
    "daemon",
  ]);
});

describe("harness debug --raw", () => {
  test("of a session that is not there says so, and writes nothing", async () => {
    const home = createCliHome();
    const nobody = `sess_${"0".repeat(26)}`;
    const refused = { code: 2, err: expect.stringContaining("SessionNotFound") };
    expect(await callCli(home, ["debug", "--raw", "--session", nobody])).toMatchObject(refused);
    await callCli(home, ["run", "-m", "scripted:demo", "--store", "jsonl", "hi"]);
    expect(await callCli(home, ["debug", "--raw", "--session", nobody, "--json"])).toMatchObject(refused);
    expect(existsSync(join(home.env.HOME ?? "", ".local/state/harness/debug"))).toBe(false);
    const [inFolder = ""] = readdirSync(join(home.workspace, ".harness/threads")).filter((name) => /^sess_/.test(name));
    expect(await callCli(home, ["debug", "--raw", "--session", inFolder])).toMatchObject({ code: 0 });
  });

  test("writes what goes over the wire, only when it was asked for, and no secret", async () => {
    const vendor = await startMockProvider();
    vendor.reply(
      { type: "message", blocks: [{ type: "text", text: "Hello." }] },
      { type: "message", blocks: [{ type: "text", text: "plain answer" }] },
      { type: "message", blocks: [{ type: "text", text: `the token is ${SECRET}, as you said`, deltas: 9 }] },
    );
    const home = createCliHome({ OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: `${vendor.url}/v1` });
    const model = ["-m", "openai:gpt-6.1-terra"];
    const first = await callCli(home, ["run", ...model, "--json", "hi"]);
    const session = /sess_\w{26}/.exec(first.out)?.[0] ?? "";
    expect((await callCli(home, ["debug", "--session", session])).code).toBe(2);
    const begun = await callCli(home, ["debug", "--raw", "--session", session.slice(0, 20), "--json"]);
    const { file } = JSON.parse(begun.out) as { file: string };
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await callCli(home, ["run", ...model, "--resume", session, `remember ${SECRET}`]);
    await callCli(home, ["run", ...model, "--resume", session, "what was it?"]);
    const { out } = await callCli(home, ["debug", "--session", session]);
    expect(out).toBe(readFileSync(file, "utf8"));
    expect(out).not.toContain(SECRET);
    expect(out).not.toContain(SECRET.slice(-6));
    expect(out).not.toContain("test-key");
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const call = ["asked", "sent", "received", "answered"];
    expect(lines.map(({ kind }) => kind)).toEqual(["begin", ...call, ...call]);
    expect(lines[2]).toMatchObject({
      url: `${vendor.url}/v1/chat/completions`,
      body: expect.stringContaining("messages"),
    });
    expect(lines[3]).toMatchObject({ status: 200, body: expect.stringContaining("plain answer") });
    expect(lines[7]).toMatchObject({ withheld: expect.any(String) });
    expect((await callCli(home, ["debug", "--off", "--session", session])).code).toBe(0);
    expect(existsSync(file)).toBe(false);
  });
});
