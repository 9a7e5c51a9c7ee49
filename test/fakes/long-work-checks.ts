/** Whether the log of a session explains every step: each line that comes back is one that it leaves open. */
import type { CallId, Event, EventKind, EventOf } from "#protocol";
import { explain } from "../../src/cli/explain.ts";

type Of = <Kind extends EventKind>(kind: Kind) => readonly EventOf<Kind>[];

export function problemsOfLog(log: readonly Event[]): readonly string[] {
  const of = ofLog(log);
  return [
    ...log.filter(({ id }, index) => id !== index + 1).map(({ id }) => `the log has a gap before ${id}`),
    ...log
      .filter(({ ts }, index) => ts < (log[index - 1]?.ts ?? ""))
      .map(({ id }) => `${id} is older than the event before it`),
    ...turnProblems(of),
    ...of("ToolCallStarted").flatMap((started) => callProblems(started, log)),
    ...of("CompactionTriggered").flatMap((compaction) => compactionProblems(compaction, log)),
    ...of("ContextAdded")
      .filter(({ payload }) => payload.origin === "memory" && (payload.why ?? "") === "")
      .map(({ id }) => `memory ${id}: no reason`),
    ...agreementProblems(of),
    ...jobProblems(of),
    ...errorProblems(of),
    ...memoryProblems(of),
  ];
}

const COUNTED: readonly EventKind[] = [
  "TurnStarted",
  "ToolCallStarted",
  "CompactionTriggered",
  "PlanChanged",
  "TodosChanged",
  "JobStarted",
  "OrphanedCall",
];

export function countsOf(log: readonly Event[]): Readonly<Record<string, number>> {
  const counts = COUNTED.map((kind) => [kind, log.filter((event) => event.kind === kind).length] as const);
  const joined = log.filter((event) => event.kind === "ContextAdded" && event.payload.origin === "memory");
  return { ...Object.fromEntries(counts), "memories that joined": joined.length };
}

/** A turn that the kill cut off says so. */
function errorProblems(of: Of): readonly string[] {
  const cutOff = new Set(of("OrphanedCall").map(({ payload }) => payload.turn));
  return of("Error").flatMap(({ id, payload: { reason, message, turn } }) =>
    reason === "Interrupted" && turn !== undefined && cutOff.has(turn) ? [] : [`error ${id}: ${reason}: ${message}`],
  );
}

function turnProblems(of: Of): readonly string[] {
  const ended = of("TurnEnded").map(({ payload }) => payload.turn);
  return of("TurnStarted").flatMap(({ payload: { turn } }) => {
    const count = ended.filter((one) => one === turn).length;
    return count === 1 ? [] : [`${turn} ended ${count} times`];
  });
}

function callProblems(started: EventOf<"ToolCallStarted">, log: readonly Event[]): readonly string[] {
  const { call_id, name } = started.payload;
  const own = eventsOfCall(log).get(call_id) ?? [];
  const has = (kind: EventKind): number => own.filter((event) => event.kind === kind).length;
  const { decided, ran, outcome, consulted } = explain({ id: started.session }, started, own);
  const problems: string[] = [];
  if (decided === undefined) problems.push("nothing says who decided");
  else if (decided.by === "" || (decided.why ?? "") === "")
    problems.push(`decided by '${decided.by}', without a reason`);
  if (decided?.effect === "allow" && consulted.length === 0) problems.push("nothing was consulted");
  if (has("ToolResult") !== 1) problems.push(`it has ${has("ToolResult")} results`);
  if (ran && has("ToolIntent") !== 1) problems.push("it ran without an intent");
  if (has("ToolIntent") !== has("ToolOutcome")) problems.push("it has no receipt");
  if (!ran && outcome === "ok") problems.push("it has a result and did not run");
  return problems.map((problem) => `${call_id} (${name}): ${problem}`);
}

const byCall = new WeakMap<readonly Event[], Map<CallId, Event[]>>();

function eventsOfCall(log: readonly Event[]): ReadonlyMap<CallId, readonly Event[]> {
  const known = byCall.get(log);
  if (known !== undefined) return known;
  const made = new Map<CallId, Event[]>();
  for (const event of log) {
    if (!("call_id" in event.payload) || event.payload.call_id === undefined) continue;
    const { call_id } = event.payload;
    made.set(call_id, [...(made.get(call_id) ?? []), event]);
  }
  byCall.set(log, made);
  return made;
}

function compactionProblems({ id, payload }: EventOf<"CompactionTriggered">, log: readonly Event[]): readonly string[] {
  const { trigger, why, strategy, boundary, pruned = [], tokens_before = 0, tokens_after = 0, summary } = payload;
  const problems: string[] = [];
  if (trigger === undefined || strategy === undefined) problems.push("no trigger or no strategy");
  if ((why ?? "") === "") problems.push("no reason");
  if (boundary >= id) problems.push("its boundary is not before it");
  if (tokens_after >= tokens_before) problems.push(`it made ${tokens_before} tokens ${tokens_after}`);
  if (strategy === "excerpt" || (strategy === "summarize" && summary === ""))
    problems.push(`strategy ${strategy}, summary '${summary}'`);
  for (const { result, call_id } of pruned) {
    const event = log[result - 1];
    if (event?.kind !== "ToolResult" || event.payload.call_id !== call_id)
      problems.push(`${result} is not the result of ${call_id}`);
  }
  return problems.map((problem) => `compaction ${id}: ${problem}`);
}

/** Behind an agreed plan and a mode stands a person, who has sent a command or answered the question of the plan. */
function agreementProblems(of: Of): readonly string[] {
  const answered = new Set(of("QuestionAnswered").map(({ payload }) => payload.call_id));
  const agreed = of("PlanChanged").filter(({ payload }) => payload.state === "agreed");
  const plans = agreed.filter(
    ({ payload: { by, call_id } }) => by === undefined && (call_id === undefined || !answered.has(call_id)),
  );
  // An agreed plan ends plan mode: the change of the mode and what it publishes come right behind it.
  const isOfPlan = (id: number): boolean => agreed.some((plan) => plan.id < id && id - plan.id <= 2);
  const modes = of("ModeChanged").filter(({ id, payload: { by } }) => by === undefined && !isOfPlan(id));
  return [...plans, ...modes].map(({ id, kind }) => `${kind} ${id}: nothing says who wanted it`);
}

/** One that goes on when the program is killed is reported as lost by the next. */
function jobProblems(of: Of): readonly string[] {
  const ended = of("JobEnded").map(({ payload }) => payload.job);
  return of("JobStarted").flatMap(({ payload: { job } }) => {
    const count = ended.filter((one) => one === job).length;
    return count === 1 ? [] : [`${job} ended ${count} times`];
  });
}

/** A memory joins again only when a compaction has taken it out of what the model reads. */
function memoryProblems(of: Of): readonly string[] {
  const boundaries = of("CompactionTriggered").map(({ id, payload }) => ({ id, boundary: payload.boundary }));
  const last = new Map<string, number>();
  return of("ContextAdded").flatMap(({ id, payload: { origin, what } }) => {
    if (origin !== "memory") return [];
    const before = last.get(what);
    last.set(what, id);
    const isGone = boundaries.some((one) => before !== undefined && one.id < id && one.boundary >= before);
    return before === undefined || isGone ? [] : [`memory ${what} joined at ${id} although ${before} has it`];
  });
}

function ofLog(log: readonly Event[]): Of {
  const of = (kind: EventKind): readonly Event[] => log.filter((event) => event.kind === kind);
  return of as Of; // chosen by its kind
}
