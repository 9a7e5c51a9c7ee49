/**
 * One session that works through hundreds of tasks in a real daemon: with compactions, memories, plans, todos, background commands and
 * two schedules, while the wall clock steps and the daemon ends three times, once by SIGKILL. Then the logs have to explain every step.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Event, EventKind } from "#protocol";
import { createSteppedHome, readLog, type SteppedHome, type Stream } from "../../bench/stepped-daemon.ts";
import { createLongWorkAgent, type LongWorkAgent, SCHEDULED } from "./long-work-agent.ts";
import { countsOf, problemsOfLog } from "./long-work-checks.ts";
import { CYCLE, isPlanned, type LongWorkTask, planOf, READ_FILE, taskOf } from "./long-work-tasks.ts";
import { isSettled, problemsOfTicks, type ScheduleView } from "./long-work-ticks.ts";
import { startMockProvider } from "./mock-provider-server.ts";

export interface LongWorkPlan {
  readonly tasks: number;
  readonly vendor: "anthropic" | "openai";
}

export interface LongWorkReport {
  readonly counts: Readonly<Record<string, number>>;
  /** Everything that is not as it should be, one line each. */
  readonly problems: readonly string[];
  readonly log: readonly Event[];
}

const WINDOW_TOKENS = 24_000;
const FILE = "a line of an ordinary file in the workspace\n".repeat(110);
const LOOK_EVERY_MS = 10;
const MINUTE_MS = 60_000;
/** Tasks between two steps of the clock, of a minute each. */
const TASKS_OF_MINUTE = 20;
/** Longer than the daemon accepts for a tick that comes late. */
const LONG_STEP_MS = 10 * MINUTE_MS;
const FLAGS = ["--allow", "Write(data-*)", "--allow", "Remember(project/*)", "--allow", "Bash(echo *)"] as const;
const MORE_FLAGS = ["--allow", "Bash(sleep *)", "--allow", "JobStop", "--deny", "Bash(rm *)"] as const;

interface Work {
  readonly home: SteppedHome;
  readonly agent: LongWorkAgent;
  readonly session: string;
  stream: Stream;
  /** By how much the daemon's clock is ahead. */
  stepMs: number;
  /** How often a daemon began while a plan was agreed. */
  plannedStarts: number;
  readonly problems: string[];
}

export async function runLongWork({ tasks, vendor }: LongWorkPlan): Promise<LongWorkReport> {
  const agent = createLongWorkAgent();
  const server = await startMockProvider({ forgets: true, answer: (body) => agent.answer(body) });
  const home = createSteppedHome({
    flags: ["-m", `${vendor}:mock-model`, ...FLAGS, ...MORE_FLAGS],
    env: {
      OPENAI_API_KEY: "test-key",
      ANTHROPIC_API_KEY: "test-key",
      OPENAI_BASE_URL: `${server.url}/v1`,
      ANTHROPIC_BASE_URL: server.url,
    },
    config: `[[models]]\nprovider = "${vendor}"\nname = "mock-model"\ncontext_tokens = ${WINDOW_TOKENS}\n\n[memory]\nwrite = true\n`,
  });
  try {
    writeFileSync(join(home.workspace, READ_FILE), FILE);
    await home.start();
    await addSchedules(home);
    await home.ask(home.token(), "GET", "/v1/handshake");
    const { body } = await home.ask(home.token(), "POST", "/v1/sessions", { working_dir: home.workspace });
    if (typeof body.id !== "string") throw new Error(`no session: ${JSON.stringify(body)}`);
    const stream = await home.sse(home.token(), body.id);
    const work: Work = { home, agent, session: body.id, stream, stepMs: 0, plannedStarts: 0, problems: [] };
    await workThrough(work, tasks);
    return await reportOf(work, server.refused);
  } finally {
    await home.stop();
    await server.close();
    home.remove();
  }
}

async function reportOf(work: Work, illegal: number): Promise<LongWorkReport> {
  const { home, agent, session, problems } = work;
  const schedules = await ticksDecided(work);
  const log = await readLog(home, session);
  problems.push(...agent.unpinned, ...problemsOfLog(log), ...problemsOfTicks(schedules));
  if (illegal > 0) problems.push(`${illegal} requests would have been refused for their form`);
  const runs = schedules.flatMap(({ ticks }) => ticks.flatMap((tick) => (tick.session === undefined ? [] : [tick])));
  for (const { session: run = "", state } of runs) {
    const runLog = await readLog(home, run);
    // Nobody resumes a run that the kill cut off: the schedule reports it as lost, and its log stays as it was.
    if (state !== "lost") problems.push(...problemsOfLog(runLog));
    const turns = runLog.filter(({ kind }) => kind === "TurnStarted").length;
    if (state === "done" && turns !== 1) problems.push(`${run} ran ${turns} times`);
  }
  const explainFirst = async (name: string): Promise<void> => {
    const call = log.find((event) => event.kind === "ToolCallStarted" && event.payload.name === name);
    const id = call?.kind === "ToolCallStarted" ? call.payload.call_id : "none";
    const { code, out, err } = await home.cli("explain", id, "--session", session);
    if (code !== 0 || !/^decided: (allow|deny) by /m.test(out)) problems.push(`explain ${name}: ${out}${err}`);
  };
  const verify = async (id: string): Promise<void> => {
    const { code, out, err } = await home.cli("audit", "verify", id);
    if (code !== 0) problems.push(`${id} does not verify: ${out}${err}`);
  };
  await Promise.all([
    ...["fs.write", "exec", "memory.write", "plan", "reread"].map(explainFirst),
    ...[session, ...runs.slice(-1).map((run) => run.session ?? "")].map(verify),
  ]);
  const { requests, summaries, scheduled } = agent;
  const sum = (key: "claimed" | "missed"): number => schedules.reduce((all, { totals }) => all + totals[key], 0);
  const ticks = { "ticks that ran": sum("claimed"), "ticks reported as missed": sum("missed") };
  return {
    counts: {
      ...countsOf(log),
      "restarts with an agreed plan": work.plannedStarts,
      requests,
      summaries,
      "scheduled requests": scheduled,
      ...ticks,
    },
    problems,
    log,
  };
}

async function addSchedules(home: SteppedHome): Promise<void> {
  const add = async (name: string, ...times: readonly string[]): Promise<void> => {
    const { code, err } = await home.cli("schedule", "add", name, ...times, "--max-steps", "3", `${SCHEDULED}: look`);
    if (code !== 0) throw new Error(`the schedule ${name} was not added: ${err}`);
  };
  await Promise.all([
    add("each-minute", "--cron", "* * * * *", "--timezone", "Europe/Berlin"),
    add("each-other", "--every", "2m"),
  ]);
}

async function workThrough(work: Work, tasks: number): Promise<void> {
  const { home } = work;
  const [orderly, killed, inTurn] = [1, 2, 3].map((part) => whilePlanned(Math.floor((tasks * part) / 4)));
  const step = (ms: number): Promise<void> => {
    work.stepMs += ms;
    return home.step(work.stepMs);
  };
  for (let n = 0; n < tasks; n++) {
    if (n % TASKS_OF_MINUTE === TASKS_OF_MINUTE - 1) {
      await ticksDecided(work);
      await step(MINUTE_MS);
    }
    if (n === orderly) {
      await leaveJobRunning(work);
      await home.stop();
      await step(LONG_STEP_MS);
      await goOn(work);
    }
    if (n === killed) {
      await leaveJobRunning(work);
      await leaveCallRunning(work);
      await home.stop("SIGKILL");
      await goOn(work);
      await resolveOrphans(work);
    }
    if (n === inTurn) {
      await step(-3 * MINUTE_MS);
      await leaveCallRunning(work);
      await home.stop();
      await goOn(work);
      await resolveOrphans(work);
      await step(LONG_STEP_MS);
    }
    await carryOut(work, taskOf(n), Math.floor(n / CYCLE));
  }
  await ticksDecided(work);
}

/** The first task from this one on at whose beginning a plan is agreed. */
function whilePlanned(n: number): number {
  return isPlanned(n) ? n : whilePlanned(n + 1);
}

async function carryOut(work: Work, task: LongWorkTask, cycle: number): Promise<void> {
  const { agent } = work;
  const after = lastEvent(work);
  if (task.person === "compact") {
    await submit(work, "compact", { focus: "the todos" });
    await nextEvent(work, "TurnEnded", after);
  }
  if (task.person === "plan") await command(work, { kind: "EnterPlanMode" });
  agent.begin(task.name, task.steps);
  const from = lastEvent(work);
  await submit(work, "input", { content: [{ type: "text", text: task.input }] });
  if (task.person === "allow") {
    const asked = await nextEvent(work, "PermissionRequested", from);
    await submit(work, "permission", { call_id: Reflect.get(asked.payload, "call_id"), decision: "allow_once" });
  }
  if (task.person === "plan") {
    await nextEvent(work, "QuestionAsked", from);
    agent.expectPinned(planOf(cycle));
    await command(work, { kind: "ExitPlanMode", approve: true, plan: planOf(cycle) });
  }
  if (task.closesPlan) agent.expectPinned(undefined);
  const ended = await nextEvent(work, "TurnEnded", from);
  const { outcome, reason = "" } = ended.payload as { outcome: string; reason?: string };
  if (outcome !== "answered") work.problems.push(`${task.name} ended as ${outcome} ${reason}`);
}

async function leaveJobRunning(work: Work): Promise<void> {
  work.agent.begin("a long command", [() => ["exec", { command: "sleep 600", background: true }]]);
  const from = lastEvent(work);
  await submit(work, "input", { content: [{ type: "text", text: "Begin something long." }] });
  await nextEvent(work, "TurnEnded", from);
}

async function leaveCallRunning(work: Work): Promise<void> {
  work.agent.begin("a call that is cut off", [() => ["exec", { command: "sleep 600" }]]);
  const from = lastEvent(work);
  await submit(work, "input", { content: [{ type: "text", text: "Wait for something." }] });
  await nextEvent(work, "ToolIntent", from);
}

async function goOn(work: Work): Promise<void> {
  const { home, session } = work;
  work.stream.close();
  await home.start();
  await home.ask(home.token(), "GET", "/v1/handshake");
  const { status, body } = await home.ask(home.token(), "POST", "/v1/sessions", { resume: session });
  if (status !== 200) throw new Error(`the session does not open: ${JSON.stringify(body)}`);
  work.stream = await home.sse(home.token(), session);
  const stored = (await readLog(home, session)).at(-1)?.id ?? 0;
  while (lastEvent(work) < stored) await pause(LOOK_EVERY_MS);
  const { body: opened } = await home.ask(home.token(), "GET", `/v1/sessions/${session}`);
  if (opened.plan === "agreed") work.plannedStarts += 1;
}

async function resolveOrphans(work: Work): Promise<void> {
  const { events } = work.stream;
  const idsOf = (kind: EventKind): string[] =>
    events.filter((event) => event.kind === kind).map(({ payload }) => String(Reflect.get(payload, "call_id")));
  const resolved = idsOf("OrphanResolved");
  const from = lastEvent(work);
  for (const call_id of idsOf("OrphanedCall").filter((id) => !resolved.includes(id))) {
    await command(work, { kind: "ResolveOrphan", call_id, resolution: "failed" });
    await nextEvent(work, "TurnEnded", from);
  }
}

async function submit({ home, session }: Work, route: string, body: object): Promise<void> {
  const answer = await home.ask(home.token(), "POST", `/v1/sessions/${session}/${route}`, body);
  if (answer.status !== 202) throw new Error(`${route} was refused: ${JSON.stringify(answer.body)}`);
}

const command = (work: Work, body: object): Promise<void> => submit(work, "commands", body);

const lastEvent = ({ stream }: Work): number => stream.events.at(-1)?.id ?? 0;

const nextEvent = ({ stream }: Work, kind: EventKind, after: number): Promise<Event> => stream.next(kind, after);

/** Every tick before now is on the record, and no run is at work. */
async function ticksDecided({ home, stepMs }: Work): Promise<readonly ScheduleView[]> {
  for (;;) {
    const { body } = await home.ask(home.token(), "GET", "/v1/schedules");
    const schedules = body.schedules as readonly ScheduleView[];
    if (schedules.every((schedule) => isSettled(schedule, Date.now() + stepMs))) return schedules;
    await pause(LOOK_EVERY_MS);
  }
}
