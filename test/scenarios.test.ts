/** The scenarios that ship, played with the real tools on real files. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createUlidFactory, noServers } from "#base";
import type { ModelEvent } from "#engine";
import { createIdMint, type Message, type ToolResultBlock, type ToolUseBlock } from "#protocol";
import { createBuiltinTools } from "#tools";
import { createProcesses, createPublicWeb, createSystemClock, createWorkspaceFiles } from "#world";
import { loadScenario } from "../src/providers/scenario.ts";
import { createScriptedProvider } from "../src/providers/scripted.ts";
import { createManualClock } from "./fakes/manual-clock.ts";
import { noMemory } from "./fakes/no-memory.ts";

const MAX_STEPS = 10;
const scenarios = join(import.meta.dirname, "..", "scenarios");
const clock = createManualClock();
const ids = createIdMint(createUlidFactory({ clock, random: { bytes: (count) => new Uint8Array(count) } }));
const signal = new AbortController().signal;

let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "harness-scenario-"));
});
afterEach(() => rmSync(workspace, { recursive: true }));

/** Plays one turn without a gate; gives the calls that were made and the text of the last step. */
async function play(scenario: string, prompt?: string): Promise<{ calls: unknown[]; answer: string }> {
  const script = await loadScenario(join(scenarios, `${scenario}.yaml`));
  const provider = createScriptedProvider(script, { clock });
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: prompt ?? script.prompt ?? "" }] }];
  const calls: unknown[] = [];
  for (let step = 1; step <= MAX_STEPS; step++) {
    const events: ModelEvent[] = [];
    const request = { model: "scripted:x", system: [], messages, tools: [] };
    const outcome = await provider.chat({ request, emit: (event) => void events.push(event), signal });
    if (outcome.type === "failed") throw new Error(outcome.message);
    const uses = events.flatMap((event): ToolUseBlock[] =>
      event.type === "tool_call"
        ? [{ type: "tool_use", id: ids.call(), name: event.name, input: JSON.parse(event.arguments) }]
        : [],
    );
    if (uses.length === 0) {
      return { calls, answer: events.map((event) => (event.type === "text" ? event.text : "")).join("") };
    }
    calls.push(...uses.map(({ name, input }) => [name, input]));
    messages.push({ role: "assistant", content: uses }, { role: "user", content: await Promise.all(uses.map(run)) });
  }
  throw new Error(`no answer after ${MAX_STEPS} steps`);
}

async function run({ id, name, input }: ToolUseBlock): Promise<ToolResultBlock> {
  const tool = createBuiltinTools(createSystemClock())
    .tools()
    .find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const ports = {
    files: createWorkspaceFiles(workspace),
    processes: createProcesses({ root: workspace, env: process.env }),
    web: createPublicWeb(),
    servers: noServers,
    memory: noMemory,
  };
  const context = { session: ids.session(), turn: ids.turn(), callId: id, signal, ports };
  const asking = {
    step: 1,
    depth: 0,
    nesting: 0,
    originator: ids.client(),
    annotate: () => undefined,
    call: async () => ({ content: [] }),
    background: () => Promise.reject(new Error("nothing goes on beside this call")),
    progress: () => {},
    ask: async () => undefined,
  };
  try {
    // The arguments are what the scenario says; the scenario's mappings are objects.
    const output = await tool.run(input as Record<string, unknown>, { ...context, ...asking });
    return { type: "tool_result", tool_use_id: id, content: [...output.content], is_error: output.isError ?? false };
  } catch (error) {
    return { type: "tool_result", tool_use_id: id, content: [{ type: "text", text: String(error) }], is_error: true };
  }
}

describe("the demo", () => {
  it("finds the bug, fixes it and shows that the check passes", async () => {
    cpSync(join(scenarios, "demo"), workspace, { recursive: true });
    const { calls, answer } = await play("demo");
    expect(calls).toEqual([
      ["fs.list", { path: "." }],
      ["fs.read", { path: "greet.mjs" }],
      ["exec", { command: "node check.mjs" }],
      ["fs.edit", { path: "greet.mjs", old_text: "name === undefined ?", new_text: "name !== undefined ?" }],
      ["exec", { command: "node check.mjs" }],
    ]);
    expect(answer).toContain("now passes 2 of 2 checks");
    expect(answer.split("\n")).toHaveLength(2);
    expect(readFileSync(join(workspace, "greet.mjs"), "utf8")).toContain("name !== undefined ?");
  });

  it("says what came back when a step does not go as expected", async () => {
    writeFileSync(join(workspace, "unrelated.txt"), "");
    expect((await play("demo")).answer).toMatch(/^I stop here.*unrelated\.txt/s);
  });

  it("asks to be allowed exactly what it runs and edits", async () => {
    const { allow } = await loadScenario(join(scenarios, "demo.yaml"));
    expect(allow).toEqual(["Bash(node check.mjs)", "Edit(greet.mjs)"]);
  });
});

describe("the offline model", () => {
  it.each(["list files", "Please list the files.", "ls", "show me all files in this folder"])(
    "lists files when asked %j",
    async (prompt) => {
      writeFileSync(join(workspace, "notes.txt"), "");
      const { calls, answer } = await play("offline", prompt);
      expect(calls).toEqual([["fs.list", { path: "." }]]);
      expect(answer).toContain("notes.txt");
    },
  );

  it.each(["read notes.txt", "Please read the file `notes.txt`.", "cat notes.txt", 'show "notes.txt"'])(
    "reads a file when asked %j",
    async (prompt) => {
      writeFileSync(join(workspace, "notes.txt"), "remember the milk");
      const { calls, answer } = await play("offline", prompt);
      expect(calls).toEqual([["fs.read", { path: "notes.txt" }]]);
      expect(answer).toContain("remember the milk");
    },
  );

  it("tells when a file is not there", async () => {
    expect((await play("offline", "read nothing.txt")).answer).toContain("nothing.txt does not exist");
  });

  it.each([
    ["hello", /^Hello!/],
    ["thanks a lot", /welcome/],
    ["bye", /^Goodbye/],
    ["who are you?", /scripted model/],
    ["how do I set a model?", /ANTHROPIC_API_KEY/],
    ["help", /list files/],
  ])("answers %j", async (prompt, expected) => {
    expect(await play("offline", prompt)).toEqual({ calls: [], answer: expect.stringMatching(expected) });
  });

  it("explains itself for anything else, in at most three lines", async () => {
    const { answer } = await play("offline", "refactor the parser");
    for (const part of ["offline scripted model", "OPENROUTER_API_KEY", "--model ollama:<name>", "harness demo"]) {
      expect(answer).toContain(part);
    }
    expect(answer.split("\n").length).toBeLessThanOrEqual(3);
  });
});
