import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type Plugin, type PluginHook, textOutput } from "#engine";
import { createHarness } from "../src/embed.ts";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";
import { createInProcessCli, type InProcessCli } from "./fakes/in-process-cli.ts";

const MODEL = `
name: reader
rules:
  - when: { tool: fs.list }
    reply: [{ text: "Listed." }]
otherwise: [{ tool: fs.list, args: { path: "." } }]
`;
const GUARD = `
import { sep } from "node:path";
export const plugin = {
  name: "guard",
  register(host) {
    host.addHook({
      name: "no-lists",
      event: "tool.pre",
      handle: ({ payload }) => (payload.name === "fs.list" ? { action: "block", reason: "no lists" + sep } : { action: "allow" }),
    });
  },
};
`;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

let cli: InProcessCli;
beforeEach(() => {
  cli = createInProcessCli();
  cli.put("model.yaml", MODEL);
});

function configure(toml: string): void {
  const file = join(cli.env.HOME ?? "", ".config/harness/config.toml");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, toml);
}

const run = () => cli.run("run", "--model", "scripted:model.yaml", "go", "--json");

describe("a plugin of config.toml", () => {
  test("is loaded when its file has the hash, by a path beside config.toml", async () => {
    configure(`[plugins.guard]\npath = "guard.mjs"\nsha256 = "${sha256(GUARD)}"\n`);
    cli.put(join(cli.env.HOME ?? "", ".config/harness/guard.mjs"), GUARD);
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toContain('blocked by hook \\"no-lists\\": no lists/');
    expect(out).toContain("plugin guard");
  });

  test("is not loaded without a hash, and the refusal has the line that pins it", async () => {
    const path = cli.put("guard.mjs", GUARD);
    configure(`[plugins.guard]\npath = "${path}"\n`);
    const { code, err } = await run();
    expect(code).toBe(2);
    expect(err).toContain("PluginNotPinned");
    expect(err).toContain(`sha256 = "${sha256(GUARD)}"`);
  });

  test("is not loaded when its file changed, and nothing starts without it", async () => {
    const path = cli.put("guard.mjs", GUARD);
    configure(`[plugins.guard]\npath = "${path}"\nsha256 = "${sha256(GUARD)}"\n`);
    writeFileSync(path, `${GUARD}\nglobalThis.harnessPluginRan = true;\n`);
    const { code, out, err } = await run();
    expect({ code, out }).toEqual({ code: 2, out: expect.stringContaining("PluginSHA256Mismatch") });
    expect(`${out}${err}`).toContain(sha256(readFileSync(path, "utf8")));
    expect(globalThis).not.toHaveProperty("harnessPluginRan");
  });

  test.each([
    ["throws", 'throw new Error("no luck");', "no luck"],
    ["does not parse", "export const = 1;", "SyntaxError|Unexpected"],
    ["exports none", "export const x = 1;", "does not export a plugin"],
    ["has another name", 'export const plugin = { name: "x", register() {} };', "calls itself 'x'"],
    ["imports what is beside it", 'import "./other.mjs";', "the plugin"],
    ["registers later", "export const plugin = { name: 'guard', async register() {} };", "returned a promise"],
  ])("that %s ends the start with its name", async (_what, text, told) => {
    const path = cli.put("guard.mjs", text);
    configure(`[plugins.guard]\npath = "${path}"\nsha256 = "${sha256(text)}"\n`);
    const { code, out, err } = await run();
    expect(code).toBe(2);
    expect(`${out}${err}`).toMatch(/PluginFailed.*guard/s);
    expect(`${out}${err}`).toMatch(new RegExp(told));
    expect(`${out}${err}`).not.toContain("base64");
  });

  test("comes from no project and no variable", async () => {
    const path = cli.put("guard.mjs", GUARD);
    const table = `[plugins.guard]\npath = "${path}"\nsha256 = "${sha256(GUARD)}"\n`;
    for (const file of ["config.toml", ".harness/config.toml"]) cli.put(file, table);
    const other = createInProcessCli({ HARNESS_PLUGINS: path, HARNESS_CONFIG: cli.put("c.toml", table) });
    other.put("model.yaml", MODEL);
    for (const { code, out } of [
      await run(),
      await other.run("run", "--model", "scripted:model.yaml", "go", "--json"),
    ]) {
      expect({ code, out }).toEqual({ code: 0, out: expect.not.stringContaining("no-lists") });
    }
    cli.put("harness.md", `---\nplugins:\n  guard: { path: ${path}, sha256: ${sha256(GUARD)} }\n---\n\nText.\n`);
    expect((await cli.run("validate")).out).toContain("plugins");
  });

  test("is listed with the state of its hash, and none of them runs", async () => {
    const text = "globalThis.harnessPluginListed = true;";
    const path = cli.put("p.mjs", text);
    const pin = (name: string, file: string, hash: string) => `[plugins.${name}]\npath = "${file}"\n${hash}\n`;
    const wrong = `sha256 = "${"0".repeat(64)}"`;
    configure(pin("good", path, `sha256 = "${sha256(text)}"`));
    expect(await cli.run("plugins")).toEqual({
      code: 0,
      out: expect.stringMatching(new RegExp(`good +pinned +${sha256(text)} +${path}\n$`)),
      err: "",
    });
    configure(pin("none", path, "") + pin("other", path, wrong) + pin("gone", `${path}x`, wrong));
    const listed = await cli.run("plugins", "list", "--json");
    expect(listed.code).toBe(1);
    expect(JSON.parse(listed.out)).toMatchObject([
      { name: "none", state: "not pinned", sha256: sha256(text), problem: expect.stringContaining(sha256(text)) },
      { name: "other", state: "changed", problem: expect.stringContaining(sha256(text)) },
      { name: "gone", state: "unreadable", problem: expect.stringContaining("ENOENT") },
    ]);
    const { out } = await cli.run("doctor");
    expect(out).toContain("✗ plugins: other is changed\n");
    expect(globalThis).not.toHaveProperty("harnessPluginListed");
    configure("");
    expect((await cli.run("plugins")).out).toContain("No plugins");
  });
});

const hooked = (hook: Omit<PluginHook, "name">): Plugin => ({
  name: "test",
  register: (host) => host.addHook({ name: "it", ...hook }),
});
const results = [calls(["fs_read", { path: "a.txt" }]), says("ok")];

describe("a hook of a plugin", () => {
  test.each<[string, PluginHook["handle"]]>([
    ["throws", () => Promise.reject(new Error("broken"))],
    ["answers nothing", () => undefined as never],
    ["answers another word", () => ({ action: "approve" }) as never],
    ["changes what is not there", () => ({ action: "modify", payload: { nothing: 1 } })],
  ])("that %s blocks the call", async (_what, handle) => {
    const rig = await createHarnessRig(results, { plugins: [hooked({ event: "tool.pre", handle })] });
    rig.workspace.put("a.txt", "x");
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "HookBlocked" }]);
  });

  test("that takes too long blocks the call", async () => {
    const handle = (): Promise<never> => Promise.withResolvers<never>().promise;
    const plugins = [hooked({ event: "tool.pre", handle, timeoutMs: 1 })];
    const rig = await createHarnessRig(results, { plugins });
    rig.workspace.put("a.txt", "x");
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "HookBlocked" }]);
    expect(rig.of("HookTimeout")).toMatchObject([{ hook: "it", timeout_ms: 1 }]);
  });

  test("can point a call elsewhere, and is judged there; what it does to its copy changes nothing", async () => {
    const elsewhere = hooked({
      event: "tool.pre",
      handle: () => ({ action: "modify", payload: { args: { path: "/etc/passwd" } } }),
    });
    const mutating = hooked({
      event: "tool.pre",
      handle({ payload }) {
        Object.assign((payload as { args: object }).args, { path: "/etc/passwd" });
        return { action: "allow" };
      },
    });
    for (const [plugin, outcome] of [
      [elsewhere, "denied"],
      [mutating, "ok"],
    ] as const) {
      const rig = await createHarnessRig(results, { plugins: [plugin] });
      rig.workspace.put("a.txt", "x");
      await rig.send();
      expect(rig.of("ToolResult")).toMatchObject([{ outcome }]);
    }
  });

  test("cannot allow what a rule denies", async () => {
    const plugin = hooked({ event: "tool.pre", handle: () => ({ action: "allow" }) });
    const denied = { effect: "deny", rule: "Read", source: "test" } as const;
    const rig = await createHarnessRig(results, { plugins: [plugin], settings: { permissions: [denied] } });
    rig.workspace.put("a.txt", "x");
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
  });

  test("holds in a session of the library, at the start of a turn as well", async () => {
    const seen: string[] = [];
    const ask = (event: string): PluginHook => ({
      name: event,
      event,
      handle({ payload }) {
        seen.push(`${event} ${typeof payload === "string" ? payload : ""}`.trim());
        return { action: "allow" };
      },
    });
    const events = ["session.start", "turn.start", "turn.end"];
    const plugin: Plugin = { name: "watch", register: (host) => void events.map((event) => host.addHook(ask(event))) };
    const harness = await createHarness({ model: "scripted:scenarios/offline.yaml", env: {}, plugins: [plugin] });
    await harness.prompt("hello");
    await harness.close();
    expect(seen).toEqual(["session.start", "turn.start hello", "turn.end"]);
  });
});

describe("what a plugin registers", () => {
  const nothing = (): { action: "allow" } => ({ action: "allow" });
  const slash = (namespace: string, name = "go") => ({
    namespace,
    name,
    description: "",
    run: () => ({ text: "ran" }),
  });
  const wire = (name: string) => ({ name, start: () => Promise.reject(new Error("never")) });
  test.each<[string, Plugin["register"], string]>([
    [
      "an event that is none",
      (host) => host.addHook({ name: "a", event: "tool.before", handle: nothing }),
      "tool.before",
    ],
    ["a namespace of the program", (host) => host.addSlashCommand(slash("sessions")), "is reserved for Harness"],
    ["a word without a namespace", (host) => host.addSlashCommand(slash("")), "is not a valid namespace"],
    ["a wire of the program", (host) => host.addTransport(wire("http")), "wire 'http' is taken"],
    ["a namespace of another plugin", (host) => host.addSlashCommand(slash("mine", "b")), "taken by the plugin first"],
    [
      "a hook that is there",
      (host) => host.addHook({ name: "h", event: "error", handle: nothing }),
      "already registered",
    ],
    ["a wire that is there", (host) => host.addTransport(wire("smoke")), "wire 'smoke' is taken"],
  ])("is refused: %s", async (_what, register, told) => {
    const first: Plugin = {
      name: "first",
      register(host) {
        host.addSlashCommand(slash("mine"));
        host.addHook({ name: "h", event: "error", handle: nothing });
        host.addTransport(wire("smoke"));
      },
    };
    const refused = createHarnessRig([], { plugins: [first, { name: "second", register }] });
    await expect(refused).rejects.toMatchObject({ reason: "PluginFailed", message: expect.stringContaining(told) });
  });

  test("a slash command gets arguments that fit, and its failure has a reason", async () => {
    const plugin: Plugin = {
      name: "words",
      register(host) {
        const args = [{ name: "how", values: ["fast", "slow"], required: true }, { name: "why" }];
        const run = (given: object) => ({ text: JSON.stringify(given) });
        host.addSlashCommand({ namespace: "words", name: "go", description: "go", args, run });
        host.addSlashCommand({ ...slash("words", "break"), run: () => Promise.reject(new Error("broken")) });
        host.addSlashCommand({ ...slash("words", "lie"), run: () => "text" as never });
      },
    };
    const rig = await createHarnessRig([], { plugins: [plugin] });
    const ask = (verb: string, payload: unknown) =>
      rig.submit({ kind: "CustomCommand", namespace: "words", verb, payload });
    expect(await ask("go", { how: "fast" })).toEqual({ result: { text: '{"how":"fast"}' } });
    for (const payload of [{}, { how: "well" }, { how: "fast", more: "x" }, { how: 1 }, null]) {
      await expect(ask("go", payload)).rejects.toMatchObject({
        reason: "InvalidCommand",
        message: expect.stringContaining("/words:go fast|slow [WHY]"),
      });
    }
    for (const verb of ["break", "lie"]) await expect(ask(verb, {})).rejects.toMatchObject({ reason: "PluginFailed" });
    await expect(ask("other", {})).rejects.toMatchObject({ reason: "InvalidCommand" });
    expect(rig.harness.slashCommands().map(({ namespace, name }) => `${namespace}:${name}`)).toContain("words:go");
  });

  test("cannot be added to later", async () => {
    let later: (() => void) | undefined;
    const tool = {
      name: "late",
      label: "Late",
      class: "read_only",
      description: "",
      parameters: {},
      run: async () => textOutput(""),
    } as const;
    const plugin: Plugin = {
      name: "late",
      register(host) {
        later = () => host.addToolSource({ name: "late", tools: () => [tool] });
      },
    };
    await createHarnessRig([], { plugins: [plugin] });
    expect(later).toThrow("while its register function runs");
  });
});
