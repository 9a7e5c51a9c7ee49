/**
 * `node bench/project.ts`: what a project costs a running session, through the whole harness. Ten hooks around each call against the
 * same project without them; and an edit of one file among twenty, from the moment it is written until the next step runs with it.
 * Medians of many rounds in one process, the two kinds of session in turns.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Provider } from "#engine";
import type { Harness } from "#program";
import { openMemoryHarness } from "../test/fakes/memory-harness.ts";
import { openProjects } from "../test/fakes/open-projects.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const HOOKS = 10;
const ARTIFACTS = 20;
const CALLS = 300;
const WARM_UP = 50;
const EDITS = 60;
const HOOKS_LIMIT_MS = 1;
const RELOAD_LIMIT_MS = 20;

export async function benchProject(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "harness-bench-"));
  const sessions: BenchSession[] = [];
  try {
    const plain = await openSession(join(folder, "plain"), 0);
    const hooked = await openSession(join(folder, "hooked"), HOOKS);
    sessions.push(plain, hooked);
    const times = { plain: [] as number[], hooked: [] as number[] };
    for (let round = -WARM_UP; round < CALLS; round++) {
      const pair = { plain: await plain.turnMs(), hooked: await hooked.turnMs() };
      if (round < 0) continue;
      times.plain.push(pair.plain);
      times.hooked.push(pair.hooked);
    }
    const reloads: number[] = [];
    for (let edit = 0; edit < EDITS; edit++) reloads.push(await reloadMs(hooked, edit));
    const added = median(times.hooked) - median(times.plain);
    return [
      { name: `a call through ${HOOKS} hooks, added`, unit: "ms", ours: added, limit: HOOKS_LIMIT_MS },
      {
        name: `an edit of one of ${ARTIFACTS} files, until the next step runs with it`,
        unit: "ms",
        ours: median(reloads),
        limit: RELOAD_LIMIT_MS,
      },
    ];
  } finally {
    for (const { harness } of sessions) await harness.shutdown();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface BenchSession {
  readonly harness: Harness;
  readonly root: string;
  /** One turn that makes one call and answers. */
  turnMs(): Promise<number>;
  /** What the tool said last. */
  last(): string;
  reloads(): number;
}

/** The turn after an edit, less what the same turn takes when nothing has changed. */
async function reloadMs(session: BenchSession, edit: number): Promise<number> {
  const before = await session.turnMs();
  const seen = session.reloads();
  writeFileSync(join(session.root, ".harness/tools/echo.md"), echoTool(`edit ${edit}`));
  const after = await session.turnMs();
  if (session.reloads() !== seen + 1 || session.last() !== `edit ${edit}`) throw new Error("the edit was not seen");
  return after - before;
}

async function openSession(root: string, hooks: number): Promise<BenchSession> {
  const put = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  put("harness.md", "---\nmeta: { enabled: false }\n---\n\nBe brief.\n");
  put(".harness/tools/echo.md", echoTool("first"));
  for (let index = 1; index < ARTIFACTS - HOOKS; index++) put(`.harness/tools/other_${index}.md`, echoTool(`${index}`));
  for (let index = 0; index < HOOKS; index++) {
    put(`.harness/hooks/hook_${index}.md`, guardHook(index, index < hooks ? "tool.pre" : "context.compact"));
  }
  const harness = await openMemoryHarness({
    workspace: root,
    model: "bench:calls",
    plugins: [{ name: "bench", register: (host) => host.addProvider(callingProvider()) }],
    projects: openProjects,
  });
  let last = "";
  let reloads = 0;
  const client = harness.control.connect({
    identityClass: "human",
    interactive: false,
    onEvent(event) {
      if (event.kind === "ToolResult")
        last = event.payload.content.map((block) => ("text" in block ? block.text : "")).join("");
      else if (event.kind === "ProjectChanged") reloads += 1;
    },
  });
  const { session } = await client.submit({ kind: "CreateSession" });
  if (session === undefined) throw new Error("no session");
  return {
    harness,
    root,
    last: () => last,
    reloads: () => reloads,
    async turnMs() {
      const start = performance.now();
      const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text: "go" }] });
      const ended = await done;
      if (ended?.outcome !== "answered") throw new Error(`the turn ended with ${ended?.outcome}: ${ended?.message}`);
      return performance.now() - start;
    },
  };
}

/** Calls `echo` once in each turn and then answers, at once. */
function callingProvider(): Provider {
  const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
  return {
    name: "bench",
    async chat({ request, emit }) {
      const last = request.messages.at(-1);
      const isAnswered = last?.content.some(({ type }) => type === "tool_result") === true;
      if (isAnswered) emit({ type: "text", block: 0, text: "done" });
      else emit({ type: "tool_call", block: 0, name: "echo", arguments: "{}" });
      return { type: "done", model: request.model, stop: isAnswered ? "end" : "tool_calls", usage, costUsd: 0 };
    },
    models: async () => [],
    countTokens: () => 1,
  };
}

function echoTool(text: string): string {
  return `---\nparameters: {}\nscript: |\n  def run(args):\n      return ${JSON.stringify(text)}\n---\n\nSays something.\n`;
}

function guardHook(index: number, event: string): string {
  return `---
event: ${event}
priority: ${index}
when: payload["name"] != "nothing"
script: |
  def handle(event, payload):
      for pattern in ["rm -rf /", "mkfs", "dd if=", "shutdown"]:
          if pattern in payload["args"].get("command", ""):
              return block("dangerous")
      metrics.incr("audit.hook_${index}")
      return allow()
---
`;
}

if (import.meta.main) {
  const figures = await benchProject();
  printFigures("project", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
