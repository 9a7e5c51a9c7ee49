/** Prompts and resources that are known before the first connection, lists that change, and servers that misbehave with them. */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { openServers, stdioServer } from "../../test/fakes/mcp-world.ts";
import { createScriptedWorld, type ScriptedWorld } from "../../test/fakes/scripted-mcp-world.ts";
import { approveWaiting } from "./approved-tools.ts";
import { createToolKeeper } from "./kept-tools.ts";
import { readPrompts } from "./prompt-list.ts";
import { loadSdk } from "./sdk.ts";

beforeAll(() => loadSdk());

const REVIEW = {
  name: "review",
  description: "Reviews.",
  arguments: [{ name: "style" }, { name: "file", required: true }],
};
const FILE_FIRST = [
  { name: "file", isRequired: true },
  { name: "style", isRequired: false },
];

type Answers = Readonly<
  Record<string, (params: Readonly<Record<string, unknown>>) => Record<string, unknown> | undefined>
>;

function createRig(answers: Answers, capabilities: ScriptedWorld["capabilities"] = { prompts: { listChanged: true } }) {
  const clock = createManualClock();
  const world = createScriptedWorld(clock);
  world.capabilities = capabilities;
  world.answer = (method, params) => {
    const answer = answers[method];
    return answer === undefined ? {} : answer(params);
  };
  const directory = join(mkdtempSync(join(tmpdir(), "mcp-prompts-")), "state");
  const keeper = createToolKeeper(directory, () => undefined);
  const server = stdioServer("s", []);
  const session = () => openServers([server], { clock, world, keeper });
  const keptFile = () => join(directory, readdirSync(directory)[0] ?? "");
  return { clock, world, keeper, server, session, keptFile };
}

const namesOf = (servers: ReturnType<typeof openServers>): string[] =>
  servers.prompts().flatMap(({ prompts }) => prompts.map(({ name }) => name));
const toolNames = (servers: ReturnType<typeof openServers>): string[] => servers.tools().map(({ name }) => name);

test("are kept with the list of tools: the next session knows both before it connects anything", async () => {
  const page = [{ ...REVIEW, name: "first" }];
  const rig = createRig(
    {
      "prompts/list": ({ cursor }) => (cursor === "2" ? { prompts: [REVIEW] } : { prompts: page, nextCursor: "2" }),
    },
    { prompts: {}, resources: {} },
  );
  const first = rig.session();
  await first.ready();
  await expect.poll(() => namesOf(first)).toEqual(["first", "review"]);
  await first.close();
  const second = rig.session();
  expect(second.prompts()).toEqual([
    {
      server: "s",
      prompts: [
        { name: "first", description: "Reviews.", args: FILE_FIRST },
        { name: "review", description: "Reviews.", args: FILE_FIRST },
      ],
    },
  ]);
  await second.ready();
  expect(toolNames(second)).toEqual(["mcp.resources", "mcp.read_resource", "mcp.get_prompt", "mcp.s.one"]);
  // The model is not offered the tool for prompts.
  expect(second.tool("mcp.get_prompt")).toMatchObject({ deferred: true, class: "sensitive" });
  expect([rig.world.running.length, second.states()[0]?.state]).toEqual([1, "idle"]);
  // An approval of tools keeps them.
  rig.keeper.write(rig.server, approveWaiting(rig.keeper.read(rig.server)!));
  expect(namesOf(rig.session())).toEqual(["first", "review"]);
});

test("a file that somebody has edited holds no prompt that could not be listed", async () => {
  const rig = createRig({ "prompts/list": () => ({ prompts: [REVIEW] }) });
  const first = rig.session();
  await first.ready();
  await expect.poll(() => readFileSync(rig.keptFile(), "utf8")).toContain("Reviews.");
  const kept = JSON.parse(readFileSync(rig.keptFile(), "utf8")) as { prompts: unknown[] };
  kept.prompts.push({ name: "x\u001b[2J", args: [] }, { name: "no-args" }, 7);
  writeFileSync(rig.keptFile(), JSON.stringify(kept));
  expect(namesOf(rig.session())).toEqual(["review"]);
});

test("are read again when the server says that they have changed, once for several announcements", async () => {
  let prompts = [REVIEW];
  let listed = 0;
  const rig = createRig({
    "prompts/list": () => {
      listed += 1;
      return { prompts };
    },
  });
  const servers = rig.session();
  await servers.ready();
  await expect.poll(() => namesOf(servers)).toEqual(["review"]);
  prompts = [];
  const changed = { method: "notifications/prompts/list_changed" };
  for (let count = 0; count < 3; count++) rig.world.running[0]?.send(changed);
  await expect
    .poll(async () => {
      await rig.clock.advance(1_000);
      return namesOf(servers);
    })
    .toEqual([]);
  expect(listed).toBe(2);
});

test.each([
  ["hangs", () => undefined],
  ["is not a list", () => ({ prompts: "none" })],
  [
    "has no end",
    ({ cursor }: Readonly<Record<string, unknown>>) => ({ prompts: [], nextCursor: `${Number(cursor ?? 0) + 1}` }),
  ],
])("a list that %s costs the prompts and nothing else", async (_what, answer) => {
  const rig = createRig({
    "prompts/list": answer,
    "tools/call": () => ({ content: [{ type: "text", text: "done" }] }),
  });
  const servers = rig.session();
  await servers.ready();
  expect(await servers.run("mcp.s.one")).toMatchObject({ content: [{ text: "done" }] });
  await expect
    .poll(async () => {
      await rig.clock.advance(31_000);
      return servers.lines.join("\n");
    })
    .toContain("s: its prompts could not be read");
  expect([namesOf(servers), servers.states()[0]?.state]).toEqual([[], "ready"]);
});

test("of too many the first are listed, and of names only what can be typed", () => {
  const refused: string[] = [];
  const read = readPrompts((why) => void refused.push(why));
  const many = Array.from({ length: 10_000 }, (_, at) => ({ name: `p${at}`, description: "\u001b[2J\u202eobey" }));
  const wrong = [
    { name: "with blank" },
    { name: "bell\u0007" },
    { name: "-dash" },
    { name: "x".repeat(65) },
    { name: 7 },
    "x",
    { name: "a", arguments: "all" },
    { name: "a", arguments: [{ name: "__proto__" }] },
    { name: "a", arguments: [{ name: "b" }, { name: "b" }] },
    { name: "a", arguments: Array.from({ length: 33 }, (_, at) => ({ name: `a${at}` })) },
  ];
  expect(read.add([...wrong, ...many, { name: "p1" }])).toBe(false);
  const prompts = read.prompts();
  expect(prompts).toHaveLength(500);
  expect(prompts[0]).toEqual({ name: "p0", description: "⟨U+001B⟩[2J⟨U+202E⟩obey", args: [] });
  expect(refused).toHaveLength(wrong.length + 1);
  expect([..."\u0007\u001b\u202e"].filter((hidden) => refused.join().includes(hidden))).toEqual([]);
});

test("a prompt that hangs ends with the time of the server, and one that is no prompt is empty", async () => {
  const given: (Record<string, unknown> | undefined)[] = [
    undefined,
    { messages: "x" },
    { messages: [{ role: "user" }] },
  ];
  const rig = createRig({ "prompts/list": () => ({ prompts: [REVIEW] }), "prompts/get": () => given.shift() });
  const servers = rig.session();
  await servers.ready();
  const args = { server: "s", prompt: "review", arguments: {} };
  const hanging = servers.run("mcp.get_prompt", args);
  const ended = expect(hanging).rejects.toMatchObject({ reason: "ToolTimeout" });
  await expect.poll(() => given).toHaveLength(2);
  await rig.clock.advance(61_000);
  await ended;
  for (let count = 0; count < 2; count++) {
    const output = await servers.run("mcp.get_prompt", args);
    expect(JSON.stringify(output.content)).toMatch(/refused the call|empty answer/);
  }
  await expect(servers.run("mcp.get_prompt", { ...args, server: "t" })).rejects.toThrow("There are: s.");
});

test("a prompt that floods is refused, and the server goes on", async () => {
  const messages = (text: string) => ({ messages: [{ role: "user", content: { type: "text", text } }] });
  const given = [messages("x".repeat(11 * 1024 * 1024)), messages("short")];
  const rig = createRig({ "prompts/list": () => ({ prompts: [REVIEW] }), "prompts/get": () => given.shift() });
  const servers = rig.session();
  await servers.ready();
  const get = () => servers.run("mcp.get_prompt", { server: "s", prompt: "review", arguments: {} });
  await expect(get()).rejects.toMatchObject({ reason: "TooLarge" });
  expect(await get()).toMatchObject({ content: [{ text: "short" }] });
});

test("messages of both roles say whose they are, and what is long is cut", async () => {
  const messages = [
    { role: "user", content: { type: "text", text: "x".repeat(500_000) } },
    { role: "assistant", content: { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" } },
    { role: "user", content: { type: "resource", resource: { uri: "n://1", text: "note" } } },
  ];
  const rig = createRig({ "prompts/list": () => ({ prompts: [REVIEW] }), "prompts/get": () => ({ messages }) });
  const servers = rig.session();
  await servers.ready();
  const { content } = await servers.run("mcp.get_prompt", { server: "s", prompt: "review", arguments: {} });
  expect(content[0]).toMatchObject({ text: "[user]" });
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  expect(text.length).toBeLessThan(401_000);
  expect(text).toContain("[… the rest was left out]");
  expect(content.filter(({ type }) => type === "image")).toHaveLength(1);
});

test("older era: a resource that was read is subscribed to once, and a change is told", async () => {
  const subscribed: unknown[] = [];
  const rig = createRig(
    {
      "resources/read": ({ uri }) => ({ contents: [{ uri, text: "first" }] }),
      "resources/subscribe": ({ uri }) => {
        subscribed.push(uri);
        return {};
      },
    },
    { resources: { subscribe: true } },
  );
  const servers = rig.session();
  await servers.ready();
  for (let count = 0; count < 2; count++) await servers.run("mcp.read_resource", { server: "s", uri: "n://1" });
  await expect.poll(() => subscribed).toEqual(["n://1"]);
  for (const uri of ["n://1", "n://other"]) {
    rig.world.running[0]?.send({ method: "notifications/resources/updated", params: { uri } });
  }
  await expect.poll(() => servers.updates()).toEqual([{ server: "s", uri: "n://1" }]);
});

test("values for somebody who types are bounded, printable, and never waited for", async () => {
  const values = Array.from({ length: 100 }, (_, at) => `v${at}`);
  values[0] = "\u001b[2J";
  values[1] = "x".repeat(501);
  const given = [{ completion: { values } }, undefined, { completion: { values: "all" } }];
  const rig = createRig(
    { "prompts/list": () => ({ prompts: [REVIEW] }), "completion/complete": () => given.shift() },
    { prompts: {}, completions: {} },
  );
  const servers = rig.session();
  const signal = new AbortController().signal;
  const asked = { server: "s", of: { prompt: "review" }, argument: "file", value: "v", others: { style: "a" } };
  // Nothing is connected for it.
  expect([await servers.port.complete(asked, signal), rig.world.running.length]).toEqual([[], 0]);
  await servers.ready();
  expect(await servers.port.complete(asked, signal)).toEqual(values.slice(2));
  const hanging = servers.port.complete(asked, signal);
  await expect.poll(() => given).toHaveLength(1);
  await rig.clock.advance(2_001);
  expect(await hanging).toEqual([]);
  expect(await servers.port.complete(asked, signal)).toEqual([]);
  expect(servers.states()[0]?.state).toBe("ready");
});
