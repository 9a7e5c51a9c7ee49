/** `harness memory`: what agents remember in this folder, for people to read, correct and take back. */
import { optionalFiles } from "#artifacts";
import {
  defined,
  EffectError,
  type Memory,
  type MemoryDraft,
  type MemoryScope,
  type MemoryTier,
  type MemoryType,
  memoryText,
  nearestName,
  type OwnScope,
  visibleLine,
  visibleLines,
} from "#base";
import { createRanking } from "#memory";
import { mayHaveProject, openMemories, openProject } from "#program";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { namedFolder } from "./named-folder.ts";
import { formatTable } from "./table.ts";

const FOUND = 10;
const MAX_BODY_BYTES = 64 * 1024;

export interface MemoryFlags {
  readonly dir?: string;
  readonly json?: boolean;
  readonly scope?: MemoryScope;
  readonly description?: string;
  readonly tags?: string;
  readonly keywords?: string;
  readonly body?: string;
  readonly type?: MemoryType;
  readonly tier?: MemoryTier;
  readonly forGood?: boolean;
}

export async function listMemories(ports: CliPorts, flags: MemoryFlags): Promise<ExitCode> {
  const { memories, problems } = await look(ports, flags);
  const { terminal } = ports;
  if (flags.json === true) terminal.out(`${JSON.stringify({ memories, left_out: problems })}\n`);
  else {
    if (memories.length === 0) terminal.out("There are no memories here. Write one with: harness memory add NAME.\n");
    else terminal.out(table(memories, terminal.columns));
    for (const problem of problems) terminal.err(`Left out: ${visibleLine(problem)}\n`);
  }
  return 0;
}

export async function showMemory(ports: CliPorts, name: string, flags: MemoryFlags): Promise<ExitCode> {
  const memory = await find(ports, name, flags);
  if (flags.json === true) ports.terminal.out(`${JSON.stringify(memory)}\n`);
  else ports.terminal.out(`${visibleLines(`${memoryText(memory)}\n\n${aboutIt(memory)}`)}\n`);
  return 0;
}

function aboutIt({ tier, tags, keywords = [], source, labels }: Memory): string {
  const lines = [
    `Tier: ${tier}`,
    `Tags: ${tags.join(", ") || "none"}`,
    ...(keywords.length === 0 ? [] : [`Keywords: ${keywords.join(", ")}`]),
    `Source: ${source}`,
    ...(labels.length === 0 ? [] : [`Labels: ${labels.join(", ")}`]),
  ];
  return lines.join("\n");
}

export async function searchMemories(ports: CliPorts, words: readonly string[], flags: MemoryFlags): Promise<ExitCode> {
  const { memories } = await look(ports, flags);
  const found = createRanking(memories).rank(words.join(" ")).slice(0, FOUND);
  const { terminal } = ports;
  if (flags.json === true) {
    const facts = found.map(({ memory, score, tags, words }) => ({ memory, score, matched: { tags, words } }));
    terminal.out(`${JSON.stringify({ found: facts })}\n`);
  } else if (found.length === 0) terminal.out("No memory matches.\n");
  else {
    terminal.out(
      table(
        found.map(({ memory }) => memory),
        terminal.columns,
      ),
    );
  }
  return 0;
}

export async function addMemory(ports: CliPorts, name: string, flags: MemoryFlags): Promise<ExitCode> {
  const { description } = flags;
  const scope = ownScope(flags) ?? "project";
  if (description === undefined) throw invalid("--description is missing: say on one line what the memory says");
  const draft = await asDraft(ports, flags, {
    ...{ name, scope, description, type: "user", tier: "long-term", tags: [], body: "" },
  });
  const { memories } = await look(ports, flags);
  if (memories.some((one) => one.name === name && one.scope === scope)) {
    throw invalid(
      `there is a ${scope} memory ${visibleLine(name)} already; change it with: harness memory edit ${name}`,
    );
  }
  return write(ports, flags, draft, []);
}

export async function editMemory(ports: CliPorts, name: string, flags: MemoryFlags): Promise<ExitCode> {
  const given = [flags.description, flags.tags, flags.keywords, flags.body, flags.type, flags.tier];
  if (given.every((one) => one === undefined)) {
    throw invalid("name what to change: --description, --tags, --keywords, --body, --type or --tier");
  }
  const { scope, labels, updated: _, source: __, ...before } = await find(ports, name, flags);
  if (scope === "repository") {
    throw invalid(`${visibleLine(name)} is a file of the repository: change .harness/memory/${before.tier}/${name}.md`);
  }
  // A person has read it, and still it says what came from there.
  return write(ports, flags, await asDraft(ports, flags, { ...before, scope }), labels);
}

export async function forgetMemory(ports: CliPorts, name: string, flags: MemoryFlags): Promise<ExitCode> {
  const scopes: readonly OwnScope[] = [ownScope(flags) ?? (["project", "user"] as const)].flat();
  const store = await open(ports, flags);
  for (const scope of scopes) {
    const done = flags.forGood === true ? store.erase(scope, name) : store.forget(scope, name);
    if (!(await worded(done))) continue;
    return printed(ports, flags, { forgotten: name, scope }, `Forgotten: the ${scope} memory ${visibleLine(name)}.`);
  }
  throw await unknownName(ports, name, flags);
}

export async function undoMemory(ports: CliPorts, flags: MemoryFlags): Promise<ExitCode> {
  const scope = ownScope(flags) ?? "project";
  const change = await worded((await open(ports, flags)).undo(scope));
  if (change === undefined) throw new ReasonError("NothingToUndo", `No change of a ${scope} memory is recorded.`);
  const { name, before } = change;
  const is = before === undefined ? "it is gone" : "its earlier version is back";
  return printed(ports, flags, { undone: name, scope, restored: before !== undefined }, `${visibleLine(name)}: ${is}.`);
}

async function write(
  ports: CliPorts,
  flags: MemoryFlags,
  draft: MemoryDraft,
  labels: Memory["labels"],
): Promise<ExitCode> {
  const { name, scope } = draft;
  const what = await worded((await open(ports, flags)).write(draft, { source: "a person", labels }));
  return printed(
    ports,
    flags,
    { written: name, scope, new: what === "new" },
    `Written: the ${scope} memory ${visibleLine(name)}.`,
  );
}

function printed({ terminal }: CliPorts, { json }: MemoryFlags, fact: object, sentence: string): ExitCode {
  terminal.out(json === true ? `${JSON.stringify(fact)}\n` : `${sentence}\n`);
  return 0;
}

async function asDraft(ports: CliPorts, flags: MemoryFlags, before: MemoryDraft): Promise<MemoryDraft> {
  const body = flags.body === "-" ? await ports.terminal.readAll(MAX_BODY_BYTES) : flags.body;
  const tags = flags.tags?.split(",").map((tag) => tag.trim().toLowerCase().replace(/\s+/g, "-"));
  const keywords = flags.keywords?.split(",").map((keyword) => keyword.trim());
  const { description, type, tier } = flags;
  return {
    ...before,
    ...defined({ description, type, tier, body, tags: tags?.filter(Boolean), keywords: keywords?.filter(Boolean) }),
  };
}

async function open(ports: CliPorts, { dir }: MemoryFlags): Promise<Awaited<ReturnType<typeof openMemories>>> {
  const redactor = await ports.outward.load();
  return openMemories(ports, namedFolder(ports.cwd, dir), (text) => redactor.text(text) !== text);
}

/** All that a session here has. */
async function look(
  ports: CliPorts,
  flags: MemoryFlags,
): Promise<{ readonly memories: readonly Memory[]; readonly problems: readonly string[] }> {
  const place = defined({ dir: flags.dir });
  const { memories, problems } = await (await open(ports, flags)).load();
  const project = mayHaveProject(ports, place) ? (await openProject(ports, place)).loaded.project : undefined;
  const files = optionalFiles(project ?? { optional: [] }, "memory");
  const all = [...memories, ...files.map(({ content }) => content)];
  return {
    memories: flags.scope === undefined ? all : all.filter(({ scope }) => scope === flags.scope),
    problems: [
      ...problems,
      ...(project?.leftOut ?? []).flatMap(({ kind, file, why }) => (kind === "memory" ? [`${file}: ${WHY[why]}`] : [])),
    ],
  };
}

const WHY = {
  denied: "you denied it; harness ack --denied asks again",
  "not-acked": "it needs your ack: harness ack",
  broken: "it cannot be read: harness validate says why",
};

/** The nearest first: of the project, of the user, of the repository. */
async function find(ports: CliPorts, name: string, flags: MemoryFlags): Promise<Memory> {
  const { memories } = await look(ports, flags);
  const named = memories.filter((memory) => memory.name === name);
  const [found] = [...named.filter(({ scope }) => scope === "project"), ...named];
  if (found !== undefined) return found;
  throw await unknownName(ports, name, flags);
}

async function unknownName(ports: CliPorts, name: string, flags: MemoryFlags): Promise<ReasonError> {
  const { memories } = await look(ports, flags);
  const nearest = nearestName(
    name,
    memories.map((memory) => memory.name),
  );
  const hint = nearest === undefined ? "list them with harness memory list" : `did you mean ${nearest}?`;
  return invalid(`there is no such memory as ${visibleLine(name)}: ${hint}`);
}

/** Commander lets only these pass where a memory is written. */
function ownScope({ scope }: MemoryFlags): OwnScope | undefined {
  return scope === "user" || scope === "project" ? scope : undefined;
}

async function worded<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof EffectError) throw new ReasonError("NotAllowed", error.message, { cause: error });
    throw error;
  }
}

function invalid(detail: string): ReasonError {
  return new ReasonError("UsageInvalid", detail);
}

function table(memories: readonly Memory[], columns: number): string {
  const rows = memories.map(({ name, scope, tier, type, tags, description }) => {
    return [name, scope, tier, type, tags.join(","), description];
  });
  return formatTable(["MEMORY", "SCOPE", "TIER", "TYPE", "TAGS", "DESCRIPTION"], rows, columns);
}
