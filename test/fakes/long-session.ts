/** A session of many steps against a mock vendor with a small window: what was sent, what was wrong with it, and what it still said. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event, EventKind, EventOf } from "#protocol";
import { openMemoryHarness } from "./memory-harness.ts";
import { startMockProvider } from "./mock-provider-server.ts";
import type { MockBlock, MockReply } from "./mock-reply.ts";

export interface LongSessionPlan {
  readonly vendor: "anthropic" | "openai";
  readonly steps: number;
  readonly stepsOfTurn: number;
  readonly windowTokens: number;
  /** Steps whose words the last request must have; they fit into the part that always stays. */
  readonly lastSteps: number;
}

export interface LongSessionReport {
  readonly steps: number;
  readonly compactions: readonly EventOf<"CompactionTriggered">["payload"][];
  /** Requests that the vendor refused for their form. */
  readonly illegal: number;
  readonly errors: readonly EventOf<"Error">["payload"][];
  /** Of the planted facts, those that the last request does not have. */
  readonly missing: readonly string[];
  readonly planted: number;
  /** Between the requests of steps. */
  readonly gapsMs: readonly number[];
}

/** Of each kind: who the agent is, what people said, files that calls changed, what the last steps said. */
const FACTS = 10;
/** About 700 tokens, so that a hundred steps fill a window of 64k. */
const FILE = "a line of an ordinary file in the workspace\n".repeat(60);

export async function runLongSession({
  vendor,
  steps,
  stepsOfTurn,
  windowTokens,
  lastSteps,
}: LongSessionPlan): Promise<LongSessionReport> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness-long-")));
  writeFileSync(join(root, "data.txt"), FILE);
  let step = 0;
  let last: unknown;
  const arrivals: number[] = [];
  const server = await startMockProvider({
    forgets: true,
    answer(body) {
      if (isSummary(body)) return message([{ type: "text", text: "The agent reads data.txt and goes on." }]);
      step += 1;
      arrivals.push(performance.now());
      last = body;
      return stepReply(vendor, step, stepsOfTurn);
    },
  });
  const harness = await openMemoryHarness({
    env: {
      PATH: process.env.PATH,
      OPENAI_API_KEY: "test-key",
      ANTHROPIC_API_KEY: "test-key",
      OPENAI_BASE_URL: `${server.url}/v1`,
      ANTHROPIC_BASE_URL: server.url,
    },
    workspace: root,
    model: `${vendor}:mock-model`,
    autoApprove: true,
    settings: {
      maxSteps: stepsOfTurn,
      models: [{ model: `${vendor}:mock-model`, contextTokens: windowTokens }],
      systemPrompt: `You read files.\n${facts("identity").join("\n")}`,
    },
  });
  const events: Event[] = [];
  const client = harness.control.connect({
    identityClass: "human",
    interactive: false,
    onEvent: (event) => void (NEEDED.has(event.kind) && events.push(event)),
  });
  try {
    const { session } = await client.submit({ kind: "CreateSession" });
    for (let turn = 1; step < steps; turn++) {
      const said = `Go on with part ${turn}. ${turn <= FACTS ? `FACT-said-${turn}.` : ""}`;
      const content = [{ type: "text" as const, text: said }];
      const { done } = await client.submit({ kind: "SendInput", session, content });
      const { outcome, message: why } = await done;
      if (outcome !== "answered") throw new Error(`turn ${turn} ended as ${outcome}: ${why ?? ""}`);
    }
    const of = <Kind extends EventKind>(kind: Kind): EventOf<Kind>["payload"][] =>
      events.filter((event) => event.kind === kind).map(({ payload }) => payload) as never; // chosen by its kind
    const text = JSON.stringify(last);
    const planted = [...facts("identity"), ...facts("said"), ...facts("file"), ...stepFacts(step, lastSteps)];
    return {
      steps: step,
      compactions: of("CompactionTriggered"),
      illegal: server.refused,
      errors: of("Error"),
      missing: planted.filter((fact) => !new RegExp(`${fact}(?!\\d)`).test(text)),
      planted: planted.length,
      gapsMs: arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? at)),
    };
  } finally {
    await harness.shutdown();
    await server.close();
    rmSync(root, { recursive: true, force: true });
  }
}

const NEEDED: ReadonlySet<EventKind> = new Set(["CompactionTriggered", "Error"]);

/** The request for a summary is the one that offers no tools. */
function isSummary(body: unknown): boolean {
  return ((body as { tools?: readonly unknown[] }).tools ?? []).length === 0;
}

function facts(kind: string): string[] {
  return Array.from({ length: FACTS }, (_, index) => `FACT-${kind}-${index + 1}`);
}

/** What the last steps before the newest said. */
function stepFacts(step: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `FACT-step-${step - 1 - index}`);
}

/** The first steps write the files of the facts, the others read; the last one of a turn answers. */
function stepReply(vendor: LongSessionPlan["vendor"], step: number, stepsOfTurn: number): MockReply {
  const thinking: MockBlock[] =
    vendor === "anthropic" ? [{ type: "thinking", text: `step ${step}`, signature: `signed ${step}` }] : [];
  const text: MockBlock = { type: "text", text: `FACT-step-${step} is what this step says.` };
  if (step % stepsOfTurn === 0) return message([...thinking, text]);
  const call: readonly [string, object] =
    step <= FACTS
      ? ["fs_write", { path: `FACT-file-${step}`, content: `file ${step}\n` }]
      : ["fs_read", { path: "data.txt", limit: 1_000 + step }];
  return message([...thinking, text, { type: "tool_call", name: call[0], arguments: JSON.stringify(call[1]) }]);
}

function message(blocks: readonly MockBlock[]): MockReply {
  return { type: "message", blocks };
}
