/**
 * Delegation under pressure: a delegate that lies, budgets that are shared, a stop, the cost of one delegation, a hundred at once.
 * Agents are played by a model in this process. Usage: node bench/delegation.ts [runs]
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Settings } from "#artifacts";
import type { Event, EventKind, EventOf } from "#protocol";
import { delegationToolNames } from "#tools";
import type { FakeResponse } from "../test/fakes/fake-provider.ts";
import { processesWith } from "../test/fakes/marked-processes.ts";
import { openMemoryHarness } from "../test/fakes/memory-harness.ts";
import { openProjects } from "../test/fakes/open-projects.ts";
import {
  agentFile,
  answers,
  delegates,
  HARNESS,
  hangs,
  makes,
  type Role,
  type Roles,
  rolesPlugin,
  textsOf,
} from "../test/fakes/roles.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const MB = 1024 * 1024;

interface Run {
  readonly events: readonly Event[];
  of<Kind extends EventKind>(kind: Kind): EventOf<Kind>["payload"][];
  send(): Promise<unknown>;
  /** Cancels the turn that runs. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

async function open(
  files: Readonly<Record<string, string>>,
  roles: Roles,
  settings: Partial<Settings> = {},
): Promise<Run> {
  const root = mkdtempSync(join(tmpdir(), "harness-bench-"));
  for (const [file, text] of Object.entries({ "harness.md": HARNESS, ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const opened = await openProjects(root);
  const events: Event[] = [];
  const harness = await openMemoryHarness({
    workspace: root,
    model: "roles:one",
    autoApprove: true,
    plugins: [rolesPlugin(roles, (event) => events.push(event))],
    projects: async () => opened,
    settings,
  });
  const client = harness.control.connect({ identityClass: "human", interactive: false, onEvent: () => undefined });
  const { session } = await client.submit({ kind: "CreateSession" });
  if (session === undefined) throw new Error("no session");
  return {
    events,
    of: (kind) => events.filter((event) => event.kind === kind).map(({ payload }) => payload) as never, // chosen by its kind
    async send() {
      const { done } = await client.submit({
        kind: "SendInput",
        session,
        content: [{ type: "text", text: "depth 0" }],
      });
      return done;
    },
    stop: async () => void (await client.submit({ kind: "CancelTurn", session })),
    async close() {
      await harness.shutdown();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const agents = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`.harness/agents/${name}.md`, text]));
const limits = (text: string) => ({ "harness.md": HARNESS.replace("---\n", `---\ndelegation: ${text}\n`) });

/** Results that say `ok` although the file that was to be written is not there. */
async function unverified(runs: number): Promise<number> {
  const verify = 'verify: |\n  def run(result):\n      return fs.exists("out.txt")\n';
  const run = await open(agents({ liar: agentFile("liar", `tools: [fs.write]\n${verify}`) }), {
    root: (_, step) => (step % 2 === 0 ? delegates({ agent: "liar", task: `Write out.txt, ${step}.` }) : answers("ok")),
    liar: [answers("Done, out.txt is written."), answers("Now it is really done."), answers("I checked: done.")],
  });
  for (let index = 0; index < runs; index++) await run.send();
  const results = run.of("ToolResult").filter(({ name }) => name === "delegate");
  if (results.length !== runs) throw new Error(`${results.length} of ${runs} delegations`);
  await run.close();
  return results.filter(({ is_error, content }) => !is_error || JSON.stringify(content).includes("Done, out")).length;
}

/** A tree of depth 3 in which every agent has two delegates beside it and uses a different number of tokens each time. */
async function overshoot(seed: number): Promise<number> {
  let state = seed * 7919 + 1;
  const random = (below: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % below;
  };
  const spends =
    (response: FakeResponse): FakeResponse =>
    async (call) => {
      const outcome = await response(call);
      await new Promise((resolve) => setTimeout(resolve, random(3)));
      if (outcome.type !== "done") return outcome;
      const usage = { ...outcome.usage, input_tokens: 20 + random(30), output_tokens: 0 };
      return { ...outcome, usage, costUsd: usage.input_tokens / 1000 };
    };
  const agent: Role = (call, step) => {
    const [input] = call.request.messages;
    const depth = Number(/\d+/.exec(input === undefined ? "" : textsOf(input))?.[0] ?? 0);
    const below = { agent: "boss", task: `depth ${depth + 1}` };
    if (step === 0 && depth < 3) return spends(makes(["delegate_async", below], ["delegate_async", below]));
    return spends(makes(["fs.list", { path: `./${"./".repeat(step)}` }], ["fs.glob", { pattern: `*${step}` }]));
  };
  const kinds = [{ maxSteps: 20 }, { maxCalls: 20 }, { maxTokens: 700 }, { maxCostUsd: 0.7 }] as const;
  const tree = kinds[seed % kinds.length] ?? kinds[0];
  const boss = agentFile("boss", `tools: [${delegationToolNames.join(", ")}, fs.list, fs.glob]\n`);
  const files = { ...limits("{ max_concurrent: 50, iterations_per_depth: [50, 50] }"), ...agents({ boss }) };
  const run = await open(files, { root: agent, boss: agent }, { budgets: { tree } });
  await run.send();
  await run.close();
  const isReached = run.of("Error").some(({ reason }) => reason === "BudgetExceeded");
  if (!isReached || !run.of("SessionStarted").some(({ depth }) => depth === 3))
    throw new Error(`run ${seed} shows nothing`);
  return callsTooMany(run, tree);
}

/** Calls beyond a limit in calls; of one in tokens or money, the call that reaches it and all after it. */
function callsTooMany(
  run: Run,
  limit: { maxSteps?: number; maxCalls?: number; maxTokens?: number; maxCostUsd?: number },
): number {
  if (limit.maxCalls !== undefined) return Math.max(0, run.of("ToolIntent").length - limit.maxCalls);
  const costs = run.of("CostIncremented");
  if (limit.maxSteps !== undefined) return Math.max(0, costs.length - limit.maxSteps);
  let used = 0;
  let beyond = 0;
  for (const { usage, cost_usd = 0 } of costs) {
    used += limit.maxTokens === undefined ? cost_usd : usage.input_tokens;
    if (used >= (limit.maxTokens ?? limit.maxCostUsd ?? 0)) beyond += 1;
  }
  return Math.max(0, beyond);
}

/** Delegates without an end, and processes of them, one second after a stop. */
async function liveAfterStop(): Promise<number> {
  const marker = `harness-bench-${process.pid}-${Date.now()}`;
  const boss = agentFile("boss", "tools: [delegate, delegate_async]\n");
  const worker = agentFile("worker", "tools: [exec]\n");
  const work = { agent: "worker", task: "Work." };
  const run = await open(
    { ...limits("{ max_concurrent: 20 }"), ...agents({ boss, worker, idle: agentFile("idle") }) },
    {
      root: [delegates({ agent: "boss", task: "Lead." }), answers("never")],
      boss: [
        makes(["delegate_async", work], ["delegate_async", work], ["delegate_async", { agent: "idle", task: "Wait." }]),
        delegates(work),
        answers("never"),
      ],
      worker: [makes(["exec", { command: `sleep 61 & sleep 62; : ${marker}` }]), answers("never")],
      idle: [hangs],
    },
  );
  const sent = run.send();
  while (processesWith(marker).length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  const stopped = performance.now();
  await run.stop();
  await new Promise((resolve) => setTimeout(resolve, 1000 - (performance.now() - stopped)));
  const open_ = run.of("DelegationStarted").length - run.of("DelegationEnded").length;
  const live = open_ + processesWith(marker).length;
  await sent;
  await run.close();
  return live;
}

async function ownTimeMs(runs: number): Promise<number> {
  const scout = agentFile("scout", "tools: [fs.list]\n");
  const run = await open(agents({ scout }), {
    root: (_, step) => (step % 2 === 0 ? delegates({ agent: "scout", task: `Look ${step}.` }) : answers("ok")),
    scout: [answers("seen")],
  });
  for (let index = 0; index < runs; index++) await run.send();
  const times = run.of("ToolResult").map(({ duration_ms }) => duration_ms);
  await run.close();
  return median(times.slice(Math.floor(times.length / 5)));
}

/** Resident memory of this process, in MB, while a hundred delegates wait for their model. */
async function hundredAtOnceMb(): Promise<number> {
  const tasks = Array.from(
    { length: 100 },
    (_, index) => ["delegate_async", { agent: "scout", task: `Look ${index}.` }] as const,
  );
  let waiting = 0;
  const all = Promise.withResolvers<void>();
  const scout: Role = (_, step) =>
    step === 0
      ? makes(["fs.list", { path: "." }])
      : async (call) => {
          waiting += 1;
          if (waiting === 100) all.resolve();
          return hangs(call);
        };
  const run = await open(
    { ...limits("{ max_concurrent: 100 }"), ...agents({ scout: agentFile("scout", "tools: [fs.list]\n") }) },
    {
      root: [makes(...tasks), makes(["task.await", {}])],
      scout,
    },
  );
  const sent = run.send();
  await all.promise;
  const { rss } = process.memoryUsage();
  await run.stop();
  await sent;
  await run.close();
  return rss / MB;
}

export async function benchDelegation(runs = 200): Promise<readonly Figure[]> {
  // In a process of its own, so that nothing else counts.
  const memory = Number(execFileSync(process.execPath, [import.meta.filename, "--memory"], { encoding: "utf8" }));
  let worst = 0;
  for (let seed = 0; seed < Math.ceil(runs / 2); seed++) worst = Math.max(worst, await overshoot(seed));
  return [
    { name: `unverified "done" of a lying delegate, ${runs} runs`, unit: "", ours: await unverified(runs), limit: 0 },
    { name: `calls too many at depth 3, worst of ${Math.ceil(runs / 2)} runs`, unit: "", ours: worst, limit: 1 },
    { name: "live delegates and processes 1 s after a stop", unit: "", ours: await liveAfterStop(), limit: 0 },
    { name: "own time of a delegation, median", unit: "ms", ours: await ownTimeMs(runs), limit: 5 },
    { name: "resident memory with 100 delegates at once", unit: "MB", ours: memory, limit: 300 },
  ];
}

if (process.argv.includes("--memory")) process.stdout.write(String(await hundredAtOnceMb()));
else if (import.meta.main) {
  const figures = await benchDelegation(Number(process.argv[2] ?? 200));
  printFigures("delegation", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
