/**
 * Long sessions: 2,000 steps against a mock vendor with a window of 64k on both wires, the time of late steps against early ones, and
 * what a compaction of 200k tokens takes without the model. Usage: node bench/compaction.ts [steps]
 */
import { createCompactor } from "#context";
import { createConversation } from "#engine";
import { CallId, ClientId, type Event, SessionId, TurnId } from "#protocol";
import { computingTime } from "../test/fakes/computing-time.ts";
import { type LongSessionReport, openLongSession, runLongSession } from "../test/fakes/long-session.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const STEPS = Number(process.argv[2] ?? 2_000);
const LATE_STEPS = 1_000;
const PAIRS = 5;
const SPAN = 100;
const plan = { stepsOfTurn: 100, windowTokens: 64_000, lastSteps: 10 } as const;
const TOKENS = 200_000;
const REPEATS = 7;

async function benchSessions(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const vendor of ["anthropic", "openai"] as const) {
    const report = await runLongSession({ ...plan, vendor, steps: STEPS });
    figures.push(...figuresOf(vendor, report), await benchLateSteps(vendor));
  }
  return figures;
}

function figuresOf(vendor: string, { compactions, illegal, errors, missing, planted }: LongSessionReport): Figure[] {
  const overflows = errors.filter(({ reason }) => reason === "ContextOverflow").length;
  return [
    { name: `${vendor}: compactions in ${STEPS} steps`, unit: "", ours: compactions.length },
    { name: `${vendor}: ContextOverflow`, unit: "", ours: overflows, limit: 0 },
    { name: `${vendor}: illegal requests`, unit: "", ours: illegal, limit: 0 },
    { name: `${vendor}: facts of ${planted} that the last request lacks`, unit: "", ours: missing.length, limit: 0 },
  ];
}

/**
 * Turns of an old session and of a new one by turns, so that both meet the same machine: other work changes what a step takes more than
 * anything else here. Of several such pairs the one with the median ratio. The window is small, so that it is full soon and the first steps
 * send about as much as the last ones: what a step takes follows the size of its request.
 */
async function benchLateSteps(vendor: "anthropic" | "openai"): Promise<Figure> {
  const pairs: { readonly first: number; readonly last: number }[] = [];
  const short = { ...plan, vendor, stepsOfTurn: 20, windowTokens: 24_000 };
  for (let pair = 0; pair < PAIRS; pair++) {
    const old = await openLongSession(short);
    while (old.steps < LATE_STEPS - SPAN) await old.turn();
    const young = await openLongSession(short);
    while (old.steps < LATE_STEPS) {
      await young.turn();
      await old.turn();
    }
    const [first, last] = [young, old].map((session) => median(session.report().stepsMs.slice(-late(short))));
    pairs.push({ first: first ?? Number.NaN, last: last ?? Number.NaN });
    await Promise.all([old.close(), young.close()]);
  }
  const typical = pairs.toSorted((x, y) => x.last / x.first - y.last / y.first)[Math.floor(PAIRS / 2)];
  return {
    name: `${vendor}: processor time of a step of the last ${SPAN} of ${LATE_STEPS} against the first`,
    unit: "ms",
    ours: typical?.last ?? Number.NaN,
    floor: typical?.first ?? Number.NaN,
    maxRatio: 1.15,
  };
}

/** So many times between two steps of one turn are in the last steps. */
const late = ({ stepsOfTurn }: { readonly stepsOfTurn: number }): number => SPAN - SPAN / stepsOfTurn;

/** The compactor's own work on a conversation of 200k tokens; the model answers at once. */
async function benchOwnCost(): Promise<Figure> {
  const took: number[] = [];
  for (let run = 0; run < REPEATS; run++) {
    const conversation = createConversation();
    const events = longLog();
    for (const event of events) conversation.apply(event);
    const compactor = createCompactor({
      settings: () => ({ mode: "summarize" }),
      minTokens: 0,
      window: () => TOKENS,
      resolveModel: async (model) => model,
      depth: 0,
      files: { touched: () => ({ paths: [], changed: false }), hash: async () => undefined },
    });
    const ms = computingTime();
    await compactor.now(
      {
        ...{ session, turn: turnOf(1), step: 1, originator: ClientId.from("0".repeat(26)), model: "a:b", conversation },
        signal: new AbortController().signal,
        bus: {
          lastId: events.length,
          flush: async () => undefined,
          publish: async (kind, payload) =>
            conversation.apply({ id: events.length + 1, kind, session, ts: TS, payload } as unknown as Event),
        },
        ask: async () => ({
          outcome: { type: "done", model: "a:b", stop: "end", usage: NO_USAGE },
          text: "A summary.",
          calls: 0,
        }),
      },
      undefined,
    );
    conversation.messages();
    took.push(ms());
  }
  return { name: "own cost of a compaction of 200k tokens, processor time", unit: "ms", ours: median(took), limit: 50 };
}

const TS = "2026-01-01T00:00:00.000Z";
const NO_USAGE = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
const session = SessionId.from("0".repeat(26));
const turnOf = (n: number): TurnId => TurnId.from(String(n).padStart(26, "0"));

/** 200 turns of one call with a result of about 900 tokens each, and the turn in which somebody asks. */
function longLog(): Event[] {
  const events: unknown[] = [];
  const add = (kind: string, payload: object): void => {
    events.push({ id: events.length + 1, kind, session, ts: TS, payload });
  };
  const result = [{ type: "text", text: "a line of a file that a call has read\n".repeat(90) }];
  for (let n = 1; n <= 200; n++) {
    const [turn, call_id] = [turnOf(n), CallId.from(String(n).padStart(26, "0"))];
    add("TurnStarted", {
      turn,
      model: "a:b",
      content: [{ type: "text", text: `Look at file ${n}. ${"please ".repeat(20)}` }],
    });
    const call = { turn, step: 1, call_id, name: "fs.read" };
    add("ToolCallStarted", { ...call, block: 0, label: "Read", args: { path: `file-${n}.txt` } });
    add("ToolResult", { ...call, content: result, is_error: false, outcome: "ok", duration_ms: 1 });
    add("TextDelta", { turn, step: 2, block: 0, text: "It says what the others say. ".repeat(6) });
  }
  add("TurnStarted", { turn: turnOf(201), model: "a:b", content: [] });
  return events as Event[]; // payloads of their kinds, as they are written here
}

const figures = [await benchOwnCost(), ...(await benchSessions())];
printFigures("compaction", figures);
process.exitCode = figures.every(holds) ? 0 : 1;
