/** Calls that should have no effect, many in one session of the whole program, and what they had. Free of any test library. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PermissionRule, Settings } from "#artifacts";
import type { Confinement } from "#base";
import type { ControlClient } from "#control";
import { isSecretFile } from "#governance";
import type { Event, EventOf, SessionId } from "#protocol";
import { createSandboxes } from "#sandbox";
import { createProcesses, createSystemClock } from "#world";
import { calls, says } from "./harness-rig.ts";
import { type HoleArena, type HoleFolder, KEY, runPlainly, SECRET } from "./hole-arena.ts";
import type { CommandCase, EncodedCase, FileCase, HoleCase } from "./hole-cases.ts";
import { openMemoryHarness } from "./memory-harness.ts";
import { startMockProvider } from "./mock-provider-server.ts";

export interface HoleOutcome {
  readonly attempt: HoleCase;
  /** `reader` and `workspace`: run there as if nobody had judged it. */
  readonly ended: "denied" | "ran" | "reader" | "workspace" | "held" | "not run";
  /** What it should not have been able to do. */
  readonly effects: readonly string[];
}

const CALLS_A_STEP = 20;
/** Longer than any of the commands takes where it works. */
const COMMAND_MS = 5_000;

/** Opens a session of its own for each set of rules, domains and planted files. An effect is looked for again in a session of the case alone. */
export async function runCalls(
  arena: HoleArena,
  attempts: readonly (CommandCase | FileCase)[],
): Promise<HoleOutcome[]> {
  const groups = Map.groupBy(attempts, (attempt) => {
    const { kind, rules, name } = attempt;
    if (attempt.kind === "file") return JSON.stringify([kind, rules, attempt.by]);
    const { domains, autoApprove, plant } = attempt;
    return JSON.stringify([kind, rules, domains, autoApprove, plant === undefined ? "" : name]);
  });
  const outcomes: HoleOutcome[] = [];
  for (const group of groups.values()) {
    const together = await runGroup(arena, group);
    const isClean = together.every(({ effects }) => effects.length === 0);
    if (isClean || group.length === 1) outcomes.push(...together);
    else for (const attempt of group) outcomes.push(...(await runGroup(arena, [attempt])));
  }
  return outcomes;
}

async function runGroup(arena: HoleArena, group: readonly (CommandCase | FileCase)[]): Promise<HoleOutcome[]> {
  const [first] = group;
  if (first === undefined) return [];
  const folder = arena.folder(first.kind === "command" ? first.plant : {}, "mark-0");
  arena.connections();
  const requested = group.map((attempt, index) =>
    attempt.kind === "file"
      ? ([attempt.tool, attempt.args] as const)
      : (["exec", { command: folder.fill(attempt.command, `mark-${index}`), timeout_ms: COMMAND_MS }] as const),
  );
  const isSessionRule = first.kind === "file" && first.by === "session rule";
  const run = await runSession(
    folder,
    isSessionRule ? [...PRIMING, ...requested] : requested,
    {
      ...(first.rules === undefined ? {} : { permissions: rulesOf(first.rules) }),
      ...(first.kind === "command" && first.domains ? { network: { allowedDomains: first.domains } } : {}),
    },
    {
      autoApprove: first.kind === "file" ? first.by === "auto-approve" : first.autoApprove === true,
      primed: isSessionRule ? PRIMING.length : 0,
    },
  );
  // Files of the workspace are anybody's who may run commands there.
  const ordinary = !(first.kind === "command" && isAllowed(first));
  const changes = folder.changes({ ordinary }).filter((name) => !isSessionRule || !name.includes("primed"));
  const connections = arena.connections();
  folder.remove();
  const ofAll = [
    ...(run.leaked ? ["a secret file reached the model"] : []),
    ...connections.map((name) => `connected to ${name}`),
  ];
  return group.map((attempt, index) => {
    const own = changes.filter((name) => /mark-\d+/.exec(name)?.[0] === `mark-${index}`);
    const others = changes.filter((name) => !name.includes("mark-"));
    const denied = run.outcomes[index] === "denied";
    return {
      attempt,
      ended: run.outcomes[index] === undefined ? "not run" : denied ? "denied" : "ran",
      // What cannot be told apart counts for the first of them, until each runs alone.
      effects: [
        ...own.map((name) => `changed ${name}`),
        ...(index === 0 ? [...others.map((name) => `changed ${name}`), ...ofAll] : []),
      ],
    };
  });
}

/** Whether somebody allowed it, so that it may change files of the workspace. */
export function isAllowed({ rules = [], autoApprove }: CommandCase): boolean {
  return autoApprove === true || rules.some((rule) => rule.startsWith("allow "));
}

/** Calls that a person allows for the session, with one tool each. */
const PRIMING = [
  ["fs_write", { path: "primed.txt", content: "x" }],
  ["fs_edit", { path: "primed.txt", old_text: "x", new_text: "y" }],
  ["fs_move", { from: "primed.txt", to: "primed-too.txt" }],
  ["fs_remove", { path: "primed-too.txt" }],
] as const;

interface SessionRun {
  /** Of each call, those of the priming left out. */
  readonly outcomes: readonly string[];
  readonly leaked: boolean;
  /** Everything that the model was sent. */
  readonly sent: string;
  readonly events: readonly Event[];
}

/** One turn. Where calls are primed, a person allows these for the session and denies everything after; otherwise nobody is there. */
export async function runSession(
  folder: HoleFolder,
  requested: readonly (readonly [string, unknown])[],
  settings: Partial<Settings>,
  how: {
    readonly autoApprove?: boolean | undefined;
    readonly primed?: number;
    readonly before?: readonly string[];
  } = {},
): Promise<SessionRun> {
  const { autoApprove = false, primed = 0, before = [] } = how;
  const vendor = await startMockProvider({ always: says("done") });
  const steps = Array.from({ length: Math.ceil(requested.length / CALLS_A_STEP) }, (_, step) =>
    calls(...requested.slice(step * CALLS_A_STEP, (step + 1) * CALLS_A_STEP)),
  );
  const harness = await openMemoryHarness({
    workspace: folder.workspace,
    model: "openai:mock-model",
    autoApprove,
    env: { ...folder.env, OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${vendor.url}/v1` },
    settings: {
      maxSteps: steps.length + 2,
      tools: { execution: "sequential", onError: "continue" },
      ...settings,
    },
  });
  const events: Event[] = [];
  let answered = 0;
  const client = harness.control.connect({
    identityClass: "human",
    interactive: primed > 0,
    onEvent(event) {
      events.push(event);
      if (event.kind !== "PermissionRequested") return;
      answered += 1;
      const decision = answered <= primed ? "allow_tool" : "deny";
      const { call_id } = event.payload;
      client.submit({ kind: "AnswerPermission", session: event.session, call_id, decision }).catch(() => undefined);
    },
  });
  try {
    for (const working_dir of before) {
      const opened = await client.submit({ kind: "CreateSession", working_dir }).catch(() => undefined);
      if (opened?.session === undefined) continue;
      vendor.reply(calls(["exec", { command: "ls" }]), says("done"));
      await runTurn(client, opened.session);
    }
    const { session } = await client.submit({ kind: "CreateSession", working_dir: folder.workspace });
    if (session === undefined) throw new Error("no session");
    vendor.reply(...steps);
    await runTurn(client, session);
    const results = events.filter(
      (event): event is EventOf<"ToolResult"> => event.kind === "ToolResult" && event.session === session,
    );
    const sent = JSON.stringify(vendor.requests.map(({ body }) => body));
    return {
      outcomes: results.slice(primed).map(({ payload }) => payload.outcome),
      leaked: leaks(sent),
      sent,
      events,
    };
  } finally {
    await harness.shutdown();
    await vendor.close();
  }
}

async function runTurn(client: ControlClient, session: SessionId): Promise<void> {
  const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text: "go" }] });
  await done;
}

/** Whether a text holds the content of a secret file, as it is or in base64. */
function leaks(text: string): boolean {
  return text.includes(SECRET) || text.includes(Buffer.from(SECRET).toString("base64").slice(0, 24));
}

/**
 * The same commands in a confinement, with no judge before it. In the reader they change and send nothing, whatever the text means; in the
 * workspace confinement the programs that their rules deny do not start.
 */
export async function runConfined(
  arena: HoleArena,
  attempts: readonly CommandCase[],
  confinement: Confinement & ("reader" | "workspace"),
): Promise<HoleOutcome[]> {
  const outcomes: HoleOutcome[] = [];
  for (const [denied, group] of Map.groupBy(attempts, ({ rules }) => deniedBy(rules))) {
    const folder = arena.folder();
    const { env, workspace: root } = folder;
    const sandboxes = createSandboxes({ env, ownPaths: [], clock: createSystemClock(), isSecret: isSecretFile });
    const processes = createProcesses({ root, env });
    const deniedPrograms = (): string[] => (denied === "" ? [] : [denied]);
    const sandbox = sandboxes.open({ mode: "required", root, processes, deniedPrograms });
    for (const [index, attempt] of group.entries()) {
      arena.connections();
      let output = "";
      const command = folder.fill(attempt.command, `mark-${index}`);
      const onOutput = (_stream: string, chunk: Buffer): void => {
        output += chunk.toString("utf8");
      };
      const spec = { file: "bash", args: ["-c", command], confinement, timeoutMs: COMMAND_MS, onOutput };
      await sandbox.processes.run(spec, new AbortController().signal);
      const changes = folder.changes({ ordinary: confinement === "reader" });
      const effects = [
        ...changes.map((name) => `changed ${name}`),
        ...arena.connections().map((name) => `connected to ${name}`),
        ...(leaks(output) ? ["read a secret"] : []),
      ];
      outcomes.push({ attempt, ended: confinement, effects });
    }
    await sandbox.close();
    folder.remove();
  }
  return outcomes;
}

/** The program that the rules deny as a whole. */
function deniedBy(rules: readonly string[] = []): string {
  return rules.map((rule) => /^deny Bash\((\w+)/.exec(rule)?.[1]).find((name) => name !== undefined) ?? "";
}

/** How many of the commands have an effect when bash runs them with nothing around it: that the detectors see them. */
export async function countWithoutConfinement(arena: HoleArena, attempts: readonly CommandCase[]): Promise<number> {
  let count = 0;
  for (const attempt of attempts) {
    const folder = arena.folder(attempt.plant, "mark-0");
    const output = await runPlainly(folder, folder.fill(attempt.command, "mark-0"));
    const isSeen = folder.changes({ ordinary: true }).length + arena.connections().length > 0 || leaks(output);
    folder.remove();
    if (isSeen) count += 1;
  }
  return count;
}

/** The known key in other forms: no more than a third of what the command prints may reach the model in one piece. */
export async function runEncoded(arena: HoleArena, attempts: readonly EncodedCase[]): Promise<HoleOutcome[]> {
  const outcomes: HoleOutcome[] = [];
  for (const [before, group] of Map.groupBy(attempts, (attempt) => attempt.before)) {
    const folder = arena.folder();
    writeFileSync(join(folder.workspace, "notes.txt"), `${before}${KEY}\n`);
    const requested = group.map(({ command }) => ["exec", { command, timeout_ms: COMMAND_MS }] as const);
    const { events, outcomes: ended } = await runSession(folder, requested, { permissions: rulesOf(["allow Bash"]) });
    const results = events.filter((event): event is EventOf<"ToolResult"> => event.kind === "ToolResult");
    for (const [index, attempt] of group.entries()) {
      const content = results[index]?.payload.content ?? [];
      const given = content.map((block) => (block.type === "text" ? block.text : "")).join("");
      const plain = (await runPlainly(folder, attempt.command)).trim();
      const left = longestShared(plain, given);
      const isLeft = left.length > Math.max(plain.length / 3, before.length * 5 + 8);
      outcomes.push({
        attempt,
        ended: ended[index] === "denied" ? "denied" : "ran",
        effects: isLeft ? [`left in one piece: ${JSON.stringify(left.slice(0, 80))}`] : [],
      });
    }
    folder.remove();
  }
  return outcomes;
}

function longestShared(text: string, other: string): string {
  let best = "";
  for (let from = 0; from < text.length; from++) {
    while (from + best.length < text.length && other.includes(text.slice(from, from + best.length + 1))) {
      best = text.slice(from, from + best.length + 1);
    }
  }
  return best;
}

export function rulesOf(rules: readonly string[]): PermissionRule[] {
  return rules.map((text) => {
    const [, effect = "", rule = ""] = /^(\w+) (.*)$/s.exec(text) ?? [];
    return { effect: effect as PermissionRule["effect"], rule, source: "test" };
  });
}
