/** Holds assertions against what a run has left behind: its log, its response and its workspace. */
import { isDeepStrictEqual } from "node:util";
import type { Assertion, AssertionType } from "#artifacts";
import { EffectError, type FilePort, isRecord, messageOf } from "#base";
import type { Event } from "#protocol";
import type { Judged, LogPlace } from "./result.ts";
import type { RunLog } from "./run-log.ts";

/** Of a file that is looked into. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_SCHEMA_PROBLEMS = 3;
const SHOWN_CHARS = 160;

export interface GradedRun {
  readonly log: RunLog;
  readonly files: FilePort;
  /** What the log holds in place of a text: one that is looked for may be a secret. */
  readonly redact: (text: string) => string;
}

type Grader<Type extends AssertionType> = (
  assertion: Extract<Assertion, { readonly type: Type }>,
  run: GradedRun,
) => Judged | Promise<Judged>;

/** Never rejects: an assertion that cannot be checked does not hold. */
export async function grade(assertion: Assertion, run: GradedRun): Promise<Judged> {
  // Each grader stands under the type of the assertions that it takes.
  const grader = graders[assertion.type] as Grader<AssertionType>;
  try {
    return await grader(assertion, run);
  } catch (error) {
    return { passed: false, reason: `Harness could not check it: ${messageOf(error)}` };
  }
}

const graders: { readonly [Type in AssertionType]: Grader<Type> } = {
  response_contains({ value }, { log, redact }) {
    const response = log.response();
    const at = responsePlace(log);
    return response.includes(redact(value))
      ? { passed: true, reason: "the response contains it", ...at }
      : { passed: false, reason: `the response does not contain it: ${shown(response)}`, ...at };
  },
  response_not_contains({ value }, { log, redact }) {
    const response = log.response();
    const at = responsePlace(log);
    const sought = redact(value);
    return response.includes(sought)
      ? { passed: false, reason: `the response contains it: ${shown(around(response, sought))}`, ...at }
      : { passed: true, reason: "the response does not contain it", ...at };
  },
  tool_called({ tool }, { log }) {
    const calls = callsOf(log, tool);
    const [first] = calls;
    if (first !== undefined) return { passed: true, reason: times("called", calls.length), ...place(first) };
    const called = [...new Set(log.of("ToolCallStarted").map(({ payload }) => payload.name))];
    return { passed: false, reason: `was not called; the agent called: ${called.join(", ") || "no tool"}` };
  },
  tool_not_called({ tool }, { log }) {
    const calls = callsOf(log, tool);
    const [first] = calls;
    return first === undefined
      ? { passed: true, reason: "never called" }
      : { passed: false, reason: times("called", calls.length), ...place(first) };
  },
  hook_blocked({ hook }, { log }) {
    const { blocked, asked, failed } = decisionsOf(log, hook);
    if (blocked !== undefined) return { passed: true, reason: blocked.why, at: blocked.at };
    if (failed !== undefined) return { passed: false, reason: `the hook failed: ${failed.why}`, at: failed.at };
    return { passed: false, reason: asked === 0 ? "it never ran" : `${times("it ran", asked)} and never blocked` };
  },
  hook_not_blocked({ hook }, { log }) {
    const { blocked, asked, failed } = decisionsOf(log, hook);
    const against = blocked ?? failed;
    if (against !== undefined) return { passed: false, reason: against.why, at: against.at };
    return { passed: true, reason: asked === 0 ? "it never ran" : `${times("it ran", asked)} and never blocked` };
  },
  no_errors(_, { log }) {
    for (const event of log.events) {
      const error = errorOf(event);
      if (error !== undefined) return { passed: false, reason: error, ...place(event) };
    }
    return { passed: true, reason: "no error" };
  },
  completed_within({ withinMs }, { log }) {
    const tookMs = log.durationMs();
    const last = log.of("TurnEnded").at(-1);
    return {
      passed: tookMs <= withinMs,
      reason: `it took ${seconds(tookMs)}; the limit is ${seconds(withinMs)}`,
      ...(last === undefined ? {} : place(last)),
    };
  },
  tokens_under({ tokens }, { log }) {
    const used = log.tokens();
    const crossing = firstCrossing(log, tokens);
    return {
      passed: used < tokens,
      reason: `${used} tokens; the limit is ${tokens}`,
      ...(crossing === undefined ? {} : place(crossing)),
    };
  },
  delegation_depth({ depth }, { log }) {
    const started = log.of("DelegationStarted");
    const deepest = started.reduce((max, { payload }) => Math.max(max, payload.depth), 0);
    const first = started.find(({ payload }) => payload.depth > depth);
    const reason = started.length === 0 ? "no task was delegated" : `the deepest delegate was at depth ${deepest}`;
    return { passed: deepest <= depth, reason, ...(first === undefined ? {} : place(first)) };
  },
  event_emitted({ event: name, payload }, { log }) {
    const emitted = log.events.filter((event) => namesOf(event).includes(name));
    const found = emitted.find((event) => hasFields(payloadOf(event), payload));
    if (found !== undefined) return { passed: true, reason: times("emitted", emitted.length), ...place(found) };
    const [first] = emitted;
    if (first === undefined) return { passed: false, reason: "not in the log" };
    const why = `${times("emitted", emitted.length)}, never with these fields; the first was ${shown(JSON.stringify(payloadOf(first)))}`;
    return { passed: false, reason: why, ...place(first) };
  },
  async file_exists({ path }, { files }) {
    const info = await files.stat(path);
    return info === undefined
      ? { passed: false, reason: "the workspace does not contain this file" }
      : { passed: true, reason: info.kind === "directory" ? "a folder" : `${info.sizeBytes} bytes` };
  },
  async file_contains({ path, value }, { files }) {
    const text = await readText(files, path);
    if (text === undefined) return { passed: false, reason: "the workspace does not contain this file" };
    return text.includes(value)
      ? { passed: true, reason: "the file contains it" }
      : { passed: false, reason: `the file does not contain it (${text.length} characters)` };
  },
  async json_schema({ schema }, { log }) {
    const at = responsePlace(log);
    const json = withoutFence(log.response());
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (error) {
      return { passed: false, reason: `the response is not JSON (${messageOf(error)}): ${shown(json)}`, ...at };
    }
    const { Validator } = await import("@cfworker/json-schema");
    const { valid, errors } = new Validator({ ...schema }, "2020-12", false).validate(value);
    const problems = errors.slice(-MAX_SCHEMA_PROBLEMS).map((one) => `${one.instanceLocation}: ${one.error}`);
    return { passed: valid, reason: valid ? "it matches" : problems.join(" "), ...at };
  },
  cost_under({ usd }, { log }) {
    const cost = log.costUsd();
    if (cost === undefined) {
      const unpriced = log.of("CostIncremented").find(({ payload }) => payload.cost_usd === undefined);
      const model = unpriced?.payload.model ?? "its model";
      return { passed: false, reason: `no price is known for ${model}`, ...(unpriced && place(unpriced)) };
    }
    return { passed: cost < usd, reason: `$${cost.toFixed(4)}; the limit is $${usd}` };
  },
  verified({ agent }, { log }) {
    const started = log.of("DelegationStarted").filter(({ payload }) => agent === undefined || payload.agent === agent);
    if (started.length === 0) {
      return { passed: false, reason: `no task was delegated${agent === undefined ? "" : ` to ${agent}`}` };
    }
    for (const event of started) {
      const { agent: name, session } = event.payload;
      const who = name === "" ? "a delegate" : name;
      const last = log.of("DelegationVerified").findLast(({ payload }) => payload.session === session);
      if (last === undefined)
        return { passed: false, reason: `no verifier checked the work of ${who}`, ...place(event) };
      if (last.payload.verified) continue;
      const why = last.payload.reason ?? "no reason given";
      return { passed: false, reason: `the verifiers did not accept the work of ${who}: ${why}`, ...place(last) };
    }
    return { passed: true, reason: times("verified", started.length) };
  },
};

function place({ session, id }: Pick<Event, "session" | "id">): { readonly at: LogPlace } {
  return { at: { session, event: id } };
}

/** Where the last response ended. */
function responsePlace(log: RunLog): { readonly at?: LogPlace } {
  const last = log.of("TurnEnded").findLast(({ session }) => session === log.session);
  return last === undefined ? {} : place(last);
}

function callsOf(log: RunLog, tool: string) {
  return log.of("ToolCallStarted").filter(({ payload }) => payload.name === tool || payload.label === tool);
}

interface Decision {
  readonly why: string;
  readonly at: LogPlace;
}

/** The first time that the hook blocked, and the first time that it blocked because it failed. */
function decisionsOf(log: RunLog, hook: string) {
  let asked = 0;
  let blocked: Decision | undefined;
  let failed: Decision | undefined;
  for (const event of log.of("HooksAsked")) {
    for (const decision of event.payload.decisions.filter((one) => one.hook === hook)) {
      asked += 1;
      const why = `${decision.action} at ${event.payload.event}: ${decision.reason ?? "no reason given"}`;
      if (decision.action === "block") blocked ??= { why, ...place(event) };
      else if (decision.action === "failed" && event.payload.blocked) failed ??= { why, ...place(event) };
    }
  }
  return { asked, blocked, failed };
}

function errorOf(event: Event): string | undefined {
  if (event.kind === "ToolResult" && event.payload.is_error) {
    const { name, outcome, reason } = event.payload;
    return `${name} ended with ${reason ?? outcome}`;
  }
  if (event.kind === "Error" && event.payload.terminal)
    return `${event.payload.reason}: ${shown(event.payload.message)}`;
  if (event.kind === "TurnEnded" && event.payload.outcome !== "answered" && event.payload.outcome !== "yielded") {
    return `a turn ended with ${event.payload.reason ?? event.payload.outcome}`;
  }
  return undefined;
}

/** The model call with which the limit was reached. */
function firstCrossing(log: RunLog, limit: number) {
  let sum = 0;
  return log.of("CostIncremented").find(({ payload: { usage } }) => {
    sum += usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
    return sum >= limit;
  });
}

/** An event of a script or a plugin is known by its own name too, with and without what it belongs to. */
function namesOf(event: Event): readonly string[] {
  if (event.kind !== "CustomEvent") return [event.kind];
  const { namespace, kind } = event.payload;
  return [event.kind, kind, `${namespace}.${kind}`];
}

function payloadOf(event: Event): unknown {
  return event.kind === "CustomEvent" ? event.payload.payload : event.payload;
}

function hasFields(payload: unknown, fields: Readonly<Record<string, unknown>>): boolean {
  const has = isRecord(payload) ? payload : {};
  return Object.entries(fields).every(([key, value]) => isDeepStrictEqual(has[key], value));
}

async function readText(files: FilePort, path: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await files.read(path, MAX_FILE_BYTES));
  } catch (error) {
    if (error instanceof EffectError && error.reason === "NotFound") return undefined;
    throw error;
  }
}

/** Models like to wrap JSON in a code fence. */
function withoutFence(response: string): string {
  const text = response.trim();
  return /^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(text)?.[1]?.trim() ?? text;
}

function around(text: string, part: string): string {
  const at = text.indexOf(part);
  const from = Math.max(0, at - 40);
  return `${from > 0 ? "…" : ""}${text.slice(from, at + part.length + 40)}`;
}

function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line === "") return "it is empty";
  return JSON.stringify(line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line);
}

function times(what: string, count: number): string {
  return count === 1 ? `${what} once` : `${what} ${count} times`;
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
