/** A session of many steps against a mock vendor with a small window: what was sent, what was wrong with it, and what it still said. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event, EventKind, EventOf } from "#protocol";
import { computingTime } from "./computing-time.ts";
import { openMemoryHarness } from "./memory-harness.ts";
import { startMockProvider } from "./mock-provider-server.ts";
import type { MockBlock, MockReply } from "./mock-reply.ts";

export interface LongSessionPlan {
  readonly vendor: "anthropic" | "openai";
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
  /** Processor time from each answer to the next request of the turn: the vendor's own and other work of the machine do not count. */
  readonly stepsMs: readonly number[];
}

export interface LongSession {
  readonly steps: number;
  turn(): Promise<void>;
  report(): LongSessionReport;
  close(): Promise<void>;
}

/** Of each kind: who the agent is, what people said, files that calls changed, what the last steps said. */
const FACTS = 10;
/** About 700 tokens, so that a hundred steps fill a window of 64k. */
const FILE = "a line of an ordinary file in the workspace\n".repeat(60);

export async function runLongSession(plan: LongSessionPlan & { readonly steps: number }): Promise<LongSessionReport> {
  const session = await openLongSession(plan);
  try {
    while (session.steps < plan.steps) await session.turn();
    return session.report();
  } finally {
    await session.close();
  }
}

export async function openLongSession({
  vendor,
  stepsOfTurn,
  windowTokens,
  lastSteps,
}: LongSessionPlan): Promise<LongSession> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness-long-")));
  writeFileSync(join(root, "data.txt"), FILE);
  let step = 0;
  let last: unknown;
  const own = createOwnTime();
  const server = await startMockProvider({
    forgets: true,
    onArrival: own.arrived,
    answer(body) {
      const reply = answerTo(body);
      own.answered(isSummary(body));
      return reply;
    },
  });
  function answerTo(body: unknown): MockReply {
    if (isSummary(body)) return message([{ type: "text", text: "The agent reads data.txt and goes on." }]);
    step += 1;
    last = body;
    return stepReply(vendor, step, stepsOfTurn);
  }

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
  const { session } = await client.submit({ kind: "CreateSession" });
  const of = <Kind extends EventKind>(kind: Kind): EventOf<Kind>["payload"][] =>
    events.filter((event) => event.kind === kind).map(({ payload }) => payload) as never; // chosen by its kind
  let turn = 0;
  return {
    get steps() {
      return step;
    },
    async turn() {
      turn += 1;
      own.turnBegins();
      const said = `Go on with part ${turn}. ${turn <= FACTS ? `FACT-said-${turn}.` : ""}`;
      const content = [{ type: "text" as const, text: said }];
      const { done } = await client.submit({ kind: "SendInput", session, content });
      const { outcome, message: why } = await done;
      if (outcome !== "answered") throw new Error(`turn ${turn} ended as ${outcome}: ${why ?? ""}`);
    },
    report() {
      const text = JSON.stringify(last);
      const planted = [...facts("identity"), ...facts("said"), ...facts("file"), ...stepFacts(step, lastSteps)];
      return {
        steps: step,
        compactions: of("CompactionTriggered"),
        illegal: server.refused,
        errors: of("Error"),
        missing: planted.filter((fact) => !new RegExp(`${fact}(?!\\d)`).test(text)),
        planted: planted.length,
        stepsMs: own.steps,
      };
    },
    async close() {
      await harness.shutdown();
      await server.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function createOwnTime() {
  const steps: number[] = [];
  let sinceAnswer: (() => number) | undefined;
  let ownMs = 0;
  return {
    steps,
    arrived() {
      ownMs += sinceAnswer?.() ?? 0;
    },
    answered(isSummary: boolean) {
      if (sinceAnswer !== undefined && !isSummary) steps.push(ownMs);
      if (!isSummary) ownMs = 0;
      sinceAnswer = computingTime();
    },
    turnBegins() {
      [sinceAnswer, ownMs] = [undefined, 0];
    },
  };
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
