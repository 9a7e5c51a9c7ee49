/** With a plugin and MCP servers, every command that shows the request shows what a vendor receives: names, texts and schemas. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ackProject } from "./fakes/ack-project.ts";
import { callCli } from "./fakes/cli-call.ts";
import { createCliHome } from "./fakes/cli-process.ts";
import { startModel } from "./fakes/eval-rig.ts";

const SERVER = join(import.meta.dirname, "fakes/listing-mcp-server.ts");
const PLUGIN = `
export const plugin = {
  name: "weather",
  register(host) {
    host.addToolSource({
      name: "weather",
      tools: () => [{
        name: "weather.now",
        label: "Weather",
        class: "read_only",
        description: "Tells the weather.",
        parameters: { type: "object", properties: { city: { type: "string", minLength: 1 } }, required: ["city"] },
        run: async () => ({ content: [{ type: "text", text: "sun" }] }),
      }],
    });
    host.useRequest((call, next) =>
      next({ ...call, request: { ...call.request, system: [...call.request.system, "The sun shines."] } }));
  },
};
`;
const AGENT = "---\ndescription: Looks things up.\ntools: [fs.read]\n---\n\nYou look things up.\n";
const ECHO = `---
parameters:
  text: { type: string, required: true, description: "What to repeat" }
script: |
  def run(args):
      return args["text"]
---

Repeats a text.
`;

interface Sent {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

interface Request {
  readonly system: readonly string[];
  readonly tools: readonly Sent[];
}

interface Row {
  readonly name: string;
  readonly source: string;
  readonly description: string;
  readonly schema: unknown;
  readonly visible?: boolean;
}

const onWire = (tools: readonly Sent[]): Sent[] =>
  tools.map(({ name, description, parameters }) => ({ name: name.replaceAll(".", "_"), description, parameters }));
const ofRows = (rows: readonly Row[]): Sent[] =>
  onWire(rows.filter(({ visible = true }) => visible).map((row) => ({ ...row, parameters: row.schema })));

async function open(servers: string) {
  const { vendor, env } = await startModel();
  const home = createCliHome({ HARNESS_MODEL: "openai:gpt-4o", ...env });
  const folder = join(String(home.env.XDG_CONFIG_HOME), "harness");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "weather.mjs"), PLUGIN);
  const pin = createHash("sha256").update(PLUGIN).digest("hex");
  const config = `sandbox = "off"\n[plugins.weather]\npath = "weather.mjs"\nsha256 = "${pin}"\n${servers}`;
  writeFileSync(join(folder, "config.toml"), config, { mode: 0o600 });
  home.put("harness.md", "---\nmeta: { enabled: true }\n---\n\nYou are the agent of this test.\n");
  home.put(".harness/agents/scout.md", AGENT);
  home.put(".harness/tools/echo.md", ECHO);
  const json = async (...args: string[]): Promise<unknown> => JSON.parse((await callCli(home, args)).out);
  return { home, folder, vendor, json };
}

const entry = (name: string, tools: number): string =>
  `[mcp_servers.${name}]\ncommand = "${process.execPath}"\nargs = ["${SERVER}", "${tools}"]\nstartup_timeout_ms = 60000\n`;

test("what each command shows is what the vendor receives, with a plugin and servers of both kinds", async () => {
  const gone = '[mcp_servers.gone]\ncommand = "no-such-program"\n';
  const { home, vendor, json } = await open(entry("few", 2) + entry("many", 30) + gone);
  // Looked at before it is acked, and without running anything of it.
  const before = (await json("tools", "--json")) as readonly Row[];
  await ackProject(home);
  expect(await callCli(home, ["run", "--store", "memory", "Hi."])).toMatchObject({ code: 0 });
  // The shape of OpenAI's wire, which the mock has checked.
  const body = vendor.requests[0]?.body as {
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly tools: readonly { readonly function: Sent }[];
  };
  const sent = onWire(body.tools.map((tool) => tool.function));
  const names = sent.map(({ name }) => name);
  for (const name of ["weather_now", "mcp_few_look_1", "mcp_search", "mcp_describe", "delegate", "task_poll", "echo"]) {
    expect(names).toContain(name);
  }
  expect(names).not.toContain("mcp_many_look_1");
  expect(ofRows(before)).toEqual(sent);
  expect(ofRows((await json("run", "--list-tools", "--json")) as readonly Row[])).toEqual(sent);
  expect(ofRows((await json("deploy", "--list-tools", "--json")) as readonly Row[])).toEqual(sent);
  const system = body.messages.filter(({ role }) => role === "system").map(({ content }) => content);
  expect(system).toContain("The sun shines.");
  for (const args of [
    ["context", "--json"],
    ["inspect", "--json"],
    ["deploy", "--dry-run"],
  ]) {
    const shown = (await json(...args)) as { request: Request; mcp_servers: readonly { name: string }[] };
    expect(onWire(shown.request.tools)).toEqual(sent);
    expect(shown.request.system).toEqual(system);
    expect(shown.mcp_servers).toEqual([
      { name: "few", state: "idle", tools: 2 },
      { name: "many", state: "idle", tools: 30 },
      { name: "gone", state: "down", tools: 0, reason: "the program no-such-program does not exist" },
    ]);
  }
  expect(vendor.requests).toHaveLength(1);
  const sources = new Map(before.map(({ name, source }) => [name, source]));
  expect(sources.get("weather.now")).toBe("plugin weather");
  expect(sources.get("mcp.few.look_0")).toBe("MCP server few");
  expect(before.find(({ name }) => name === "mcp.many.look_0")).toMatchObject({
    visible: false,
    why: "its server is lazy: the model finds it with mcp.search",
  });
  const { err } = await callCli(home, ["tools"]);
  expect(err).toBe("warning: the MCP server 'gone' is not connected: the program no-such-program does not exist\n");
}, 60_000);

test("a plugin that does not match its hash is not loaded to be listed", async () => {
  const { home, folder } = await open("");
  writeFileSync(join(folder, "weather.mjs"), `${PLUGIN}// changed`);
  for (const args of [["tools"], ["context"], ["inspect"], ["run", "--list-tools"]]) {
    const { code, err } = await callCli(home, args);
    expect({ code, isNamed: err.includes("PluginSHA256Mismatch") || err.includes("weather") }).toEqual({
      code: 2,
      isNamed: true,
    });
  }
});
