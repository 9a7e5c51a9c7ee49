/**
 * One long session of a hostile model and a hostile person that is compacted at random points. A strict mock vendor judges each request;
 * what compactions must keep is looked for in each request as well. The same seed gives the same plan of the session. Free of any test library.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ControlClient } from "#control";
import type { Plugin } from "#engine";
import type { Harness } from "#program";
import type { Event, InputBlock, SessionId } from "#protocol";
import { createSeededRandom } from "../../bench/seeded-random.ts";
import {
  type Chance,
  createChance,
  FILES,
  hostileInput,
  hostileReply,
  hostileSummary,
} from "./hostile-conversation.ts";
import { openMemoryHarness } from "./memory-harness.ts";
import { startMockProvider } from "./mock-provider-server.ts";
import type { MockReply } from "./mock-reply.ts";
import { openProjects } from "./open-projects.ts";
import { createRequestCheck } from "./request-check.ts";

export interface CompactionFuzzOptions {
  readonly seed: number;
  readonly vendor: "anthropic" | "openai";
  /** What the person does, one after another: inputs, compactions, plans, undo, restarts. */
  readonly actions: number;
}

export interface CompactionFuzzReport {
  readonly requests: number;
  /** How often each way of a compaction was met, as `trigger strategy`. */
  readonly compactions: Readonly<Record<string, number>>;
  /** How turns ended, by reason or outcome. */
  readonly endings: Readonly<Record<string, number>>;
  /** What should not have happened, with the number of the request. */
  readonly problems: readonly string[];
}

const IDENTITY = "FACT-identity";
const HOOK = `---
event: context.compact
priority: 1
script: |
  def handle(event, payload):
      if payload["focus"] == "refuse":
          return block("not now")
      if payload["focus"] == "other":
          return modify({"focus": "another focus"})
      return allow()
---
`;
const PROJECT = {
  "harness.md": `---\ntype: harness\n---\n\n${IDENTITY}: you read files.\n`,
  ".harness/agents/helper.md": "---\ndescription: Helps.\n---\n\nYou are the helper.\n",
  ".harness/hooks/compact.md": HOOK,
};
/** A turn may end so, whatever the model and the person do. */
const EXPECTED_ENDINGS: ReadonlySet<string> = new Set([
  ...["answered", "yielded", "cancelled", "Cancelled", "StepLimit"],
  ...["HookBlocked", "NothingToCompact", "CompactionIneffective", "ContextOverflow"],
]);

export async function fuzzCompaction(options: CompactionFuzzOptions): Promise<CompactionFuzzReport> {
  const session = await openFuzzedSession(options);
  try {
    for (let action = 0; action < options.actions; action++) await session.act();
    return session.report();
  } finally {
    await session.close();
  }
}

async function openFuzzedSession({ seed, vendor }: CompactionFuzzOptions) {
  const chance = createChance(createSeededRandom(seed));
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "harness-fuzz-")));
  const root = join(folder, "workspace");
  for (const [path, content] of Object.entries({ ...FILES, ...PROJECT })) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const problems: string[] = [];
  const events: Event[] = [];
  const check = createRequestCheck({ identity: IDENTITY, events });
  const windowTokens = chance.one([14_000, 24_000, 48_000]);
  const context = chance.one([{}, {}, { compaction: "prune" }, { maxHistory: 6 }, { maxTokens: 12_000 }] as const);
  let [requests, overflows] = [0, 0];
  let meanwhile: (() => Promise<unknown>) | undefined;

  const server = await startMockProvider({
    forgets: true,
    onRefused: (refusal, body) => void problems.push(`request ${requests}: ${JSON.stringify(refusal)} ${near(body)}`),
    answer(body) {
      requests += 1;
      const text = JSON.stringify(body);
      if (text.includes("You are the helper.")) return { type: "message", blocks: [{ type: "text", text: "helped" }] };
      if (isSummary(body)) return hostileSummary(chance);
      problems.push(...check.problemsOf(body).map((problem) => `request ${requests}: ${problem}`));
      if (text.length / 4 > windowTokens / 2 && chance.percent(10)) {
        overflows += 1;
        return overflow(body);
      }
      return interrupted(hostileReply(chance, requests, check.signed), text.length);
    },
  });
  /** What a person does while the model writes. */
  function interrupted(reply: MockReply, chars: number): MockReply {
    if (reply.type !== "message") return reply;
    // More than bytes say, or less: what a vendor counts decides when the next compaction comes.
    const input = Math.floor((chars / 4) * chance.one([0.5, 1, 1.2]));
    const counted = { ...reply, usage: { input, output: 20 } };
    if (meanwhile === undefined) return counted;
    const [act, at] = [meanwhile, chance.below(6)];
    meanwhile = undefined;
    return { ...counted, pace: async (written) => void (written === at && (await act())) };
  }

  const env = {
    PATH: process.env.PATH,
    OPENAI_API_KEY: "test-key",
    ANTHROPIC_API_KEY: "test-key",
    OPENAI_BASE_URL: `${server.url}/v1`,
    ANTHROPIC_BASE_URL: server.url,
  };
  const models = ["anthropic", "openai"].map((name) => ({ model: `${name}:mock-model`, contextTokens: windowTokens }));
  let harness: Harness;
  let client: ControlClient;
  async function open(): Promise<void> {
    harness = await openMemoryHarness({
      env,
      workspace: root,
      model: `${vendor}:mock-model`,
      autoApprove: true,
      projects: openProjects,
      plugins: [brokenPicture],
      store: { kind: "jsonl", root: join(folder, "log") },
      undo: { directory: join(folder, "undo"), key: Buffer.alloc(32, 1) },
      settings: { maxSteps: 6, models, context },
    });
    client = harness.control.connect({
      identityClass: "human",
      interactive: false,
      onEvent: (event) => void (event.session === session && events.push(event)),
    });
  }
  let session: SessionId | undefined;
  await open();
  session = (await client!.submit({ kind: "CreateSession" })).session;
  const id = session;
  let said = 0;
  const content = (): InputBlock[] => [...hostileInput(chance, `SAID-${++said}-`)];

  /** Waits for the turn that a command has begun, and for those that were queued meanwhile. */
  async function ended(
    reply: Promise<{ readonly done: Promise<{ outcome: string; reason?: string }> }>,
  ): Promise<void> {
    const summary = await (await reply).done;
    count(endings, summary.reason ?? summary.outcome);
    while (isWaiting(events)) await new Promise((resolve) => setImmediate(resolve));
  }

  const actions: Readonly<Record<string, (chance: Chance) => Promise<unknown>>> = {
    input: () => ended(client.submit({ kind: "SendInput", session: id, content: content() })),
    steer: () => {
      meanwhile = () => client.submit({ kind: "SteerTurn", session: id, content: content() }).catch(noTurn);
      return actions.input!(chance);
    },
    queue: () => {
      meanwhile = () => client.submit({ kind: "QueueInput", session: id, content: content() });
      return actions.input!(chance);
    },
    cancel: () => {
      meanwhile = () => client.submit({ kind: "CancelTurn", session: id });
      return actions.input!(chance);
    },
    compact: () => {
      const focus = chance.one([undefined, "FACT-focus", "refuse", "other"]);
      return ended(client.submit({ kind: "CompactSession", session: id, ...(focus !== undefined && { focus }) }));
    },
    async plan() {
      await client.submit({ kind: "EnterPlanMode", session: id });
      await actions.input!(chance);
      const plan = `1. FACT-plan-${said} 😀`;
      await client.submit({ kind: "ExitPlanMode", session: id, approve: true, plan });
    },
    closePlan: () => client.submit({ kind: "ClosePlan", session: id, as: "done" }).catch(() => undefined),
    undo: () => client.submit({ kind: "UndoTurn", session: id }).catch(() => undefined),
    command: () => ended(client.submit({ kind: "RunShellCommand", session: id, command: "echo own" })),
    model: () => {
      const model = `${chance.one(["anthropic", "openai"])}:mock-model`;
      return client.submit({ kind: "SetModel", session: id, model });
    },
    async restart() {
      await harness.shutdown();
      await open();
      await client.submit({ kind: "CreateSession", resume: id });
    },
  };
  const often = ["input", "input", "input", "input", "input", "steer", "queue", "cancel", "compact"];
  const endings: Record<string, number> = {};

  return {
    async act() {
      const name = chance.percent(75) ? chance.one(often) : chance.one(Object.keys(actions));
      try {
        await actions[name]?.(chance);
      } catch (error) {
        problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
    report(): CompactionFuzzReport {
      const compactions: Record<string, number> = {};
      for (const event of events) {
        if (event.kind === "CompactionTriggered")
          count(compactions, `${event.payload.trigger} ${event.payload.strategy}`);
      }
      for (const ending of Object.keys(endings)) {
        if (!EXPECTED_ENDINGS.has(ending)) problems.push(`a turn ended as ${ending}`);
      }
      // Each refusal that the vendor made up may be met twice in a step.
      if ((endings.ContextOverflow ?? 0) > overflows / 2) problems.push("a request was too long that nobody refused");
      return { requests, compactions, endings, problems };
    },
    async close() {
      await harness.shutdown();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An error with an image: no vendor takes both in one result. */
const brokenPicture: Plugin = {
  name: "broken-picture",
  register(host) {
    const data = Buffer.from(FILES["picture.png"] ?? "").toString("base64");
    host.addToolSource({
      name: "broken-picture",
      tools: () => [
        {
          name: "broken_picture",
          label: "BrokenPicture",
          description: "Fails with a picture.",
          class: "read_only",
          parameters: { type: "object", properties: {} },
          run: async () => ({ content: [{ type: "image", media_type: "image/png", data }], isError: true }),
        },
      ],
    });
  },
};

function noTurn(error: unknown): void {
  if ((error as { reason?: string }).reason !== "NoTurnRunning") throw error;
}

/** A queued input starts its turn by itself. */
function isWaiting(events: readonly Event[]): boolean {
  const queued = events.filter(({ kind }) => kind === "InputQueued").map(({ id }) => id);
  const delivered = new Set(events.flatMap((event) => (event.kind === "TurnStarted" ? [event.payload.queued] : [])));
  const begun = events.filter(({ kind }) => kind === "TurnStarted").length;
  const over = events.filter(({ kind }) => kind === "TurnEnded").length;
  return begun !== over || queued.some((id) => !delivered.has(id));
}

function overflow(asked: unknown): MockReply {
  const message = "prompt is too long: 210000 tokens > 200000 maximum";
  // Only one of the two wires has the system prompt apart from the messages.
  const isAnthropic = (asked as { system?: unknown }).system !== undefined;
  const error = isAnthropic
    ? { type: "error", error: { type: "invalid_request_error", message } }
    : { error: { message, type: "invalid_request_error", code: "context_length_exceeded" } };
  return { type: "http", status: 400, headers: { "content-type": "application/json" }, body: JSON.stringify(error) };
}

/** The request for a summary is the one that offers no tools. */
function isSummary(body: unknown): boolean {
  return ((body as { tools?: readonly unknown[] }).tools ?? []).length === 0;
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function near(body: unknown): string {
  const { messages = [] } = body as { messages?: readonly unknown[] };
  return JSON.stringify(messages.slice(-3)).slice(0, 600);
}
