import { expect, test, vi } from "vitest";
import { ClientId, SessionId, textArguments } from "#protocol";
import { createSlashRegistry, type SlashCaller, type SlashEntry, type SlashSource } from "./slash-registry.ts";

const caller: SlashCaller = {
  session: SessionId.from("0".repeat(26)),
  client: ClientId.from("0".repeat(26)),
  identityClass: "human",
  allow: () => undefined,
};

function entry(namespace: string, name: string, change: Partial<SlashEntry> = {}): SlashEntry {
  return { namespace, name, description: name, args_schema: textArguments("text"), run: () => ({}), ...change };
}

function source(owner: string, namespaces: readonly string[], ...entries: readonly SlashEntry[]): SlashSource {
  return { owner, namespaces, entries: () => entries };
}

function words(sources: readonly SlashSource[], builtIns = {}): readonly string[] {
  return createSlashRegistry(sources, builtIns)
    .rows()
    .map(({ namespace, name }) => `${namespace}:${name}`);
}

test("rows are those of the table that can be carried out here, then those of each source", () => {
  const listed = words([source("skills", ["skills"], entry("skills", "review"))], { health: () => ({}) });
  expect(listed).toContain(":model");
  expect(listed).toContain(":health");
  expect(listed).not.toContain("sessions:list");
  expect(listed.at(-1)).toBe("skills:review");
});

test("a row in another namespace, under a built-in word or with a name that cannot be typed is left out", () => {
  const odd = [entry("agents", "x"), entry("skills", "a b"), entry("skills", "\u001b[2J"), entry("skills", "ok")];
  const listed = words([
    source("skills", ["skills"], ...odd),
    source("sessions", ["sessions"], entry("sessions", "list")),
  ]);
  expect(listed.filter((word) => !word.startsWith(":") && !word.startsWith("permissions"))).toEqual(["skills:ok"]);
});

test("a description is one visible line", () => {
  const rows = createSlashRegistry([source("a", ["a"], entry("a", "b", { description: "x\u001b[2J\ny" }))], {}).rows();
  expect(rows.at(-1)?.description).toBe("x⟨U+001B⟩[2J⏎y");
});

test("two owners of a namespace are refused, as is a namespace that cannot be typed", () => {
  const twice = [source("the plugin a", ["lint"]), source("the plugin b", ["lint"])];
  expect(() => createSlashRegistry(twice, {})).toThrow(
    "the plugin b and the plugin a both claim the slash commands /lint:…",
  );
  expect(() => createSlashRegistry([source("a", ["No Good"])], {})).toThrow("is not a namespace");
});

test("a row runs with arguments that fit", async () => {
  const run = vi.fn(() => ({ input: "look" }));
  const registry = createSlashRegistry([source("skills", ["skills"], entry("skills", "review", { run }))], {});
  const row = { namespace: "skills", name: "review" };
  expect(await registry.run(row, { text: "all" }, caller)).toEqual({ input: "look" });
  expect(run).toHaveBeenCalledWith({ text: "all" }, caller);
  await expect(registry.run(row, { other: "all" }, caller)).rejects.toThrow("Usage: /skills:review [TEXT]");
  await expect(registry.run({ ...row, name: "none" }, {}, caller)).rejects.toThrow("there is no /skills:none");
});

test("what a client does is left to it, and a command of the protocol comes back to be submitted", async () => {
  const registry = createSlashRegistry([], {});
  await expect(registry.run({ namespace: "", name: "quit" }, {}, caller)).rejects.toThrow("by the client itself");
  const reply = await registry.run({ namespace: "", name: "model" }, { model: "a:b" }, caller);
  expect(reply).toEqual({ command: { kind: "SetModel", model: "a:b" } });
});

test("only a human runs a row that is for people", async () => {
  const mine = entry("mcp", "approve", { humanOnly: "approve a server", run: () => ({ text: "done" }) });
  const registry = createSlashRegistry([source("mcp", ["mcp"], mine)], {});
  const row = { namespace: "mcp", name: "approve" };
  await expect(registry.run(row, {}, { ...caller, identityClass: "agent" })).rejects.toThrow(
    "Only a human may approve",
  );
  expect(await registry.run(row, {}, caller)).toEqual({ text: "done" });
});
