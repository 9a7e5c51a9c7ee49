/** What joins turns besides the prompt, for `harness context`: context sources, and memories, with why they would join or not. */
import { type DeclaredSource, optionalFiles, type Project, type Settings } from "#artifacts";
import { type Memory, memoryText, messageOf } from "#base";
import { type ConsideredMemory, chooseMemories, coreMemories, createRanking, keyOf, TURN_TOKENS } from "#memory";
import { type ConditionCheck, expressionTexts, openMemories } from "#program";
import { createWorkspaceFiles } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import type { ContextFlags, Section } from "./context.ts";

const MAX_SOURCE_BYTES = 1024 * 1024;

type Joined = Omit<Section, "tokens">;

/** Commands and resources are not run to be looked at. */
export async function sourceSections(
  ports: CliPorts,
  { root, config }: Project,
  holds: ConditionCheck,
  { set }: ContextFlags,
): Promise<readonly Joined[]> {
  const { sources = [] } = config.context;
  if (sources.length === 0) return [];
  const textOf = await expressionTexts(ports, set);
  const files = createWorkspaceFiles(root, []);
  return Promise.all(
    sources.map(async (source): Promise<Joined> => {
      const { name, place, when, refresh, required, maxTokens } = source;
      const applies = when === undefined ? { holds: true } : holds(when);
      const base = { kind: "source", name, source: `${place.file}:${place.line}`, priority: 0 };
      const condition =
        when === undefined
          ? {}
          : { condition: { text: when.text.trim(), result: applies.failed ?? (applies.holds ? "True" : "False") } };
      const note = `${source.origin.kind}, once for each ${refresh}, at most ${maxTokens} tokens${required ? ", required" : ""}`;
      if (!applies.holds) {
        const hidden =
          applies.failed === undefined ? "its condition is false" : `its condition fails: ${applies.failed}`;
        return { ...base, ...condition, active: false, text: "", hidden, note };
      }
      const read = await readSource(source, textOf, async (path) =>
        (await files.read(path, MAX_SOURCE_BYTES)).toString(),
      );
      return { ...base, ...condition, active: !("hidden" in read), text: "", note, ...read };
    }),
  );
}

async function readSource(
  { origin }: DeclaredSource,
  textOf: (source: Extract<DeclaredSource["origin"], { kind: "starlark" }>["script"]) => string,
  fileText: (path: string) => Promise<string>,
): Promise<{ readonly text: string } | { readonly hidden: string }> {
  try {
    switch (origin.kind) {
      case "file":
        return { text: await fileText(origin.path) };
      case "starlark":
        return { text: textOf(origin.script) };
      case "command":
        return { hidden: `a turn runs it, if a rule allows it: ${origin.command}` };
      case "resource":
        return { hidden: `a turn reads it, if a rule allows it: @${origin.server}:${origin.uri}` };
    }
  } catch (error) {
    return { hidden: `it fails: ${messageOf(error)}` };
  }
}

/** Core memories, and those that would join a turn with `--input`. */
export async function memorySections(
  ports: CliPorts,
  project: Project,
  { memory: settings }: Pick<Settings, "memory">,
  input: string | undefined,
): Promise<readonly Joined[]> {
  const redactor = await ports.outward.load();
  const store = await openMemories(ports, project.root, (text) => redactor.text(text) !== text);
  const { memories: own, problems } = await store.load();
  const memories = [...own, ...optionalFiles(project, "memory").map(({ content }) => content)];
  if (!settings.enabled && memories.length > 0) {
    return [summary(`${memories.length} memories`, "memory.enabled in config.toml is false")];
  }
  const maxTokens = settings.maxTokens ?? TURN_TOKENS;
  const matching =
    input === undefined ? [] : chooseMemories(createRanking(memories), { input, maxTokens, isKnown: () => false });
  const named = [...coreMemories(memories), ...matching];
  const others = memories.length - named.length;
  const why =
    input === undefined ? "chosen by the input of each turn: see --input TEXT" : "they do not match the input";
  return [
    ...named.map(memorySection),
    ...(others === 0 ? [] : [summary(`${others} more`, why)]),
    ...problems.map((problem) => summary("left out", problem)),
  ];
}

function memorySection({ memory, isChosen, why }: ConsideredMemory): Joined {
  const text = memoryText(memory);
  return { ...place(memory), active: isChosen, text, ...(isChosen ? { note: why } : { hidden: why }) };
}

function place(memory: Memory): Pick<Joined, "kind" | "name" | "source" | "priority"> {
  return { kind: "memory", name: keyOf(memory), source: memory.source, priority: 0 };
}

function summary(name: string, hidden: string): Joined {
  return { kind: "memory", name, source: "memories", priority: 0, active: false, text: "", hidden };
}
