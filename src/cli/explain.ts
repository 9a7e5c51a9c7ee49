/** `harness explain`: for one recorded call, every rule and hook that was consulted, in order, and which of them decided. */
import { defined, visibleLine } from "#base";
import { findSession, readEvents, type StoreFlags, withStore } from "#program";
import {
  type CallId,
  type Event,
  type EventOf,
  type EventPayload,
  howItEnded,
  type JobId,
  ReasonError,
} from "#protocol";
import type { ArchiveStore, SessionMeta } from "#stores";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

/** Sessions in which a call is looked for, newest first, when none is named. */
const SEARCHED_SESSIONS = 100;
const SHOWN_CANDIDATES = 5;
const ARGS_CHARS = 400;

export interface ExplainFlags extends StoreFlags {
  readonly session?: string;
  readonly json?: boolean;
}

export interface Consulted {
  /** `hook`, `rule`, `tool policy`, `answer`, `network`, …: where in the chain it stands. */
  readonly stage: string;
  readonly name: string;
  readonly source: string;
  readonly effect: string;
  readonly reason?: string;
  readonly duration_ms?: number;
  readonly event: number;
}

export interface Explanation {
  readonly call_id: CallId;
  readonly session: string;
  readonly turn: string;
  readonly step: number;
  readonly name: string;
  readonly args: unknown;
  readonly asked_at: string;
  readonly consulted: readonly Consulted[];
  /** What the call came down to; absent for a call that was cut off before anything judged it. */
  readonly decided?: { readonly effect: string; readonly by: string; readonly source?: string; readonly why?: string };
  readonly ran: boolean;
  /** Absent when the call was cut off. */
  readonly outcome?: string;
  readonly reason?: string;
  readonly duration_ms?: number;
  /** The command that it started in the background; without an `end` while that runs. */
  readonly background?: { readonly job: JobId; readonly end?: EventPayload<"JobEnded"> };
}

export async function explainCommand(ports: CliPorts, call: string, flags: ExplainFlags): Promise<ExitCode> {
  const { terminal } = ports;
  return withStore<ExitCode>(ports, flags, async (store) => {
    const { meta, started } = await findCall(store, call, flags.session);
    const events: Event[] = [];
    for await (const event of readEvents(store, meta.id)) {
      if ("call_id" in event.payload && event.payload.call_id === started.payload.call_id) events.push(event);
    }
    const explanation = explain(meta, started, events);
    terminal.out(flags.json ? `${JSON.stringify(explanation)}\n` : render(explanation, terminal.columns));
    return 0;
  });
}

/** A fold over the events of one call, oldest first. */
export function explain(
  { id }: Pick<SessionMeta, "id">,
  started: EventOf<"ToolCallStarted">,
  events: readonly Event[],
): Explanation {
  const { call_id, turn, step, name, args } = started.payload;
  const consulted: Consulted[] = [];
  let decided: Explanation["decided"];
  let ran = false;
  let result: EventOf<"ToolResult">["payload"] | undefined;
  for (const event of events) {
    const at = { event: event.id };
    switch (event.kind) {
      case "HooksAsked": {
        const { event: point, decisions, blocked } = event.payload;
        for (const { hook, source, action, reason, duration_ms } of decisions) {
          const why = reason === undefined ? {} : { reason };
          consulted.push({ stage: point, name: hook, source, effect: action, ...why, duration_ms, ...at });
        }
        // Whoever blocks ends the list; after the call there is nothing left to decide.
        const last = decisions.at(-1);
        if (blocked && last !== undefined && !point.endsWith(".post")) {
          const why = last.reason === undefined ? {} : { why: last.reason };
          decided = { effect: "deny", by: `hook ${last.hook}`, source: last.source, ...why };
        }
        break;
      }
      case "CallJudged":
        for (const entry of event.payload.judged.trail) consulted.push({ ...entry, ...at });
        decided = decisionOf(event.payload.judged);
        break;
      case "PermissionRequested":
        consulted.push({
          stage: "question",
          name: event.payload.summary,
          source: "",
          effect: "ask",
          reason: event.payload.reason,
          ...at,
        });
        break;
      case "PermissionAnswered": {
        const { decision, by, reason, rule } = event.payload;
        const effect = decision === "deny" ? "deny" : "allow";
        const why = reason ?? (rule === undefined ? decision : `${decision}, which added the rule ${rule}`);
        consulted.push({ stage: "answer", name: by, source: "", effect, reason: why, ...at });
        decided = { effect, by: `the answer of ${by}`, why };
        break;
      }
      case "NetworkJudged": {
        const { host, port, policy, reason } = event.payload;
        const why = reason === undefined ? {} : { reason };
        const target = port === undefined ? host : `${host}:${port}`;
        consulted.push({ stage: "network", name: target, source: "", effect: policy, ...why, ...at });
        break;
      }
      case "ToolIntent": {
        ran = true;
        const { allowed_by: judged } = event.payload;
        if (judged === undefined) break;
        // After a question the trail is there already, and the answer as an event of its own.
        const isKnown = consulted.some(({ stage }) => stage === "answer");
        for (const entry of isKnown ? [] : judged.trail) consulted.push({ ...entry, ...at });
        decided = decisionOf(judged);
        break;
      }
      case "ToolResult":
        result = event.payload;
        break;
      default:
    }
  }
  if (decided?.effect === "ask" && result?.outcome === "denied") {
    decided = { ...decided, effect: "deny", why: `${decided.why ?? ""}, and nobody was there to answer` };
  }
  // A call that ended before anything judged it: its name or its arguments were wrong, or an earlier call failed.
  if (decided === undefined && result?.reason !== undefined) {
    decided = { effect: "deny", by: result.reason, why: textOf(result) };
  }
  return {
    call_id,
    session: id,
    turn,
    step,
    name,
    args,
    asked_at: started.ts,
    consulted,
    ...defined({ decided }),
    ran: ran || result?.outcome === "ok",
    ...defined({ outcome: result?.outcome, duration_ms: result?.duration_ms, reason: result?.reason }),
    ...defined({ background: backgroundOf(events) }),
  };
}

function backgroundOf(events: readonly Event[]): Explanation["background"] {
  const started = events.find((event) => event.kind === "JobStarted");
  if (started === undefined) return undefined;
  const ended = events.find((event) => event.kind === "JobEnded");
  return { job: started.payload.job, ...defined({ end: ended?.payload }) };
}

function decisionOf({
  effect,
  by,
  source,
  why,
}: EventPayload<"CallJudged">["judged"]): NonNullable<Explanation["decided"]> {
  return { effect, by, ...defined({ source }), why };
}

function textOf({ content }: EventOf<"ToolResult">["payload"]): string {
  return content
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("\n")
    .trim();
}

async function findCall(
  store: ArchiveStore,
  text: string,
  session: string | undefined,
): Promise<{ meta: SessionMeta; started: EventOf<"ToolCallStarted"> }> {
  const start = `call_${text.replace(/^call_/, "").toUpperCase()}`;
  const sessions =
    session === undefined ? await store.list({ limit: SEARCHED_SESSIONS }) : [await findSession(store, session)];
  const found: { meta: SessionMeta; started: EventOf<"ToolCallStarted"> }[] = [];
  for (const meta of start === "call_" ? [] : sessions) {
    for await (const event of readEvents(store, meta.id)) {
      if (event.kind !== "ToolCallStarted" || !event.payload.call_id.startsWith(start)) continue;
      if (event.payload.call_id === start) return { meta, started: event };
      found.push({ meta, started: event });
    }
  }
  const [first, ...others] = found;
  if (first === undefined) {
    const where = session === undefined ? `the latest ${sessions.length} sessions` : session;
    throw new ReasonError(
      "UsageInvalid",
      `no call id begins with '${text}' in ${where}. To list calls, run: harness inspect --events`,
    );
  }
  if (others.length === 0) return first;
  const shown = found.slice(0, SHOWN_CANDIDATES).map(({ started }) => started.payload.call_id);
  const more = found.length > shown.length ? ` and ${found.length - shown.length} more` : "";
  throw new ReasonError(
    "UsageInvalid",
    `${found.length} call ids begin with '${text}': ${shown.join(", ")}${more}. Type more of the id.`,
  );
}

function render(explanation: Explanation, columns: number): string {
  const { call_id, name, session, turn, step, asked_at, args, consulted, decided, ran, outcome, reason, duration_ms } =
    explanation;
  const given = JSON.stringify(args) ?? "";
  const lines = [
    `${call_id}  ${name}`,
    `  ${session}, ${turn}, step ${step}, ${asked_at}`,
    `  arguments: ${given.length > ARGS_CHARS ? `${given.slice(0, ARGS_CHARS)}…` : given}`,
    "",
  ];
  const rows = consulted.map(({ stage, name: who, source, effect, reason: why, duration_ms: took }, index) => [
    String(index + 1),
    stage,
    who,
    source,
    effect,
    took === undefined ? "" : `${took.toFixed(1)} ms`,
    why ?? "",
  ]);
  const table =
    rows.length === 0
      ? "Nothing was consulted.\n"
      : formatTable(["", "STAGE", "WHAT", "WRITTEN IN", "SAID", "TOOK", "WHY"], rows, columns);
  const by = decided === undefined ? "" : `${decided.by}${decided.source === undefined ? "" : ` (${decided.source})`}`;
  const verdict =
    decided === undefined
      ? "decided: the log does not say"
      : `decided: ${decided.effect} by ${by}${decided.why === undefined ? "" : `: ${decided.why}`}`;
  const ended =
    outcome === undefined
      ? `outcome: ${ran ? "it started and was interrupted" : "none recorded"}`
      : `outcome: ${outcome}${reason === undefined ? "" : ` (${reason})`}, ${(duration_ms ?? 0).toFixed(1)} ms`;
  const last = [verdict, ended, ...backgroundLines(explanation)].map(visibleLine).join("\n");
  return `${lines.map(visibleLine).join("\n")}${table}\n${last}\n`;
}

function backgroundLines({ background }: Explanation): readonly string[] {
  if (background === undefined) return [];
  const { job, end } = background;
  if (end === undefined) return [`background: ${job} has not ended`];
  const seconds = `after ${(end.duration_ms / 1000).toFixed(1)} s`;
  const detail = end.detail === undefined ? "" : ` (${end.detail})`;
  return [`background: ${job} ${end.status === "lost" ? "was" : `ended ${seconds}:`} ${howItEnded(end)}${detail}`];
}
