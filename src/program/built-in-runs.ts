/** What the engine runs of the built-in slash commands, for every client alike. Those that need the session itself are in `#session`. */
import { type Clock, visibleLine } from "#base";
import type { BuiltInRuns, SlashCaller } from "#engine";
import { ReasonError, SessionId, sessionInfoOf } from "#protocol";
import { type Price, priceOf } from "#providers";
import type { ScheduleRow } from "#schedules";
import { branchOf } from "./branch.ts";
import type { Harness, HarnessOptions } from "./options.ts";
import { readEvents } from "./session-texts.ts";
import { subsystemLines, subsystemsOf } from "./subsystems.ts";

const LISTED = 50;
/** Among so many an id is looked for by its beginning. */
const SEARCHED = 1000;
const TITLE_CHARS = 60;
/** Among so many events of a session is the one that says how it began. */
const BEGINNING_EVENTS = 10;

/** `harness`: asked when something is run, not before. */
export function builtInRuns(
  harness: () => Harness,
  { settings, clock, daemonSeen }: Pick<HarnessOptions, "settings" | "daemonSeen"> & { readonly clock: Clock },
): BuiltInRuns {
  const resume: BuiltInRuns["resume"] = async ({ session = "" }, caller) => {
    return { session: await findSession(harness(), session, caller) };
  };
  return {
    async health() {
      return { text: subsystemLines(await subsystemsOf(harness(), settings, daemonSeen?.())).join("\n") };
    },
    async schedule(_args, { identityClass }) {
      if (identityClass !== "human") throw new ReasonError("NotAllowed", "Only a human may list schedules.");
      return { text: scheduleTable(await harness().schedules()) };
    },
    cost: async (_args, { session }) => ({ text: await costTable(harness(), session, settings) }),
    "sessions:list": async (_args, caller) => ({ text: await sessionTable(harness(), caller, clock.now()) }),
    resume,
    "sessions:resume": resume,
    async "sessions:pin"({ session = "" }, caller) {
      if (caller.identityClass !== "human") throw new ReasonError("NotAllowed", "Only a human may pin a session.");
      const id = await findSession(harness(), session, caller);
      await harness().store.update(id, { pinned: true });
      return { text: `${id} stays open, and its content does not expire. To undo this: harness sessions unpin ${id}` };
    },
    async "sessions:branch"({ session = "", at }, caller) {
      const id = await findSession(harness(), session, caller);
      // A branch is none of the sessions that a token names.
      caller.allow("CreateSession");
      const end = at === undefined ? undefined : await endOfTurn(harness(), id, at);
      const branch = await branchOf(harness().archive, id, clock, end);
      return {
        text: `${branch.session} is a branch of ${id}. To return: /sessions:resume ${id}`,
        session: branch.session,
      };
    },
  };
}

/** `3` or `at 3`, counted from 1. Rejects with InvalidCommand. */
async function endOfTurn({ archive }: Harness, id: SessionId, text: string): Promise<number> {
  const wanted = Number(/^(?:at\s+)?([1-9]\d{0,8})$/.exec(text)?.[1] ?? 0);
  let ended = 0;
  for await (const event of readEvents(archive, id)) {
    if (event.kind === "TurnEnded") ended += 1;
    if (ended === wanted && wanted > 0) return event.id;
  }
  const detail = wanted === 0 ? `'at' is followed by the number of a turn` : `only ${ended} turns of ${id} have ended`;
  throw new ReasonError("InvalidCommand", detail);
}

/** From the events of the log; a call whose price is not known is counted apart. */
async function costTable(
  { archive }: Harness,
  session: SessionId,
  { prices }: Pick<HarnessOptions["settings"], "prices">,
): Promise<string> {
  const models = new Map<
    string,
    { rate: string; calls: number; input: number; output: number; cached: number; usd: number; unpriced: number }
  >();
  for await (const { kind, payload } of readEvents(archive, session)) {
    if (kind !== "CostIncremented") continue;
    const { usage, cost_usd, provider, model } = payload;
    const name = model.startsWith(`${provider}:`) ? model.slice(provider.length + 1) : model;
    const rate = rateText(priceOf(provider, name, prices));
    const row = models.get(model) ?? { rate, calls: 0, input: 0, output: 0, cached: 0, usd: 0, unpriced: 0 };
    row.calls += 1;
    row.input += usage.input_tokens + usage.cache_write_tokens;
    row.output += usage.output_tokens;
    row.cached += usage.cache_read_tokens;
    row.usd += cost_usd ?? 0;
    row.unpriced += cost_usd === undefined ? 1 : 0;
    models.set(model, row);
  }
  if (models.size === 0) return "This session has not called a model yet.";
  const rows = [...models].map(([model, { rate, calls, input, output, cached, usd, unpriced }]) => {
    const price = `$${usd.toFixed(4)}${unpriced === 0 ? "" : ` and ${unpriced} calls without a known price`}`;
    return [model, ...[calls, input, output, cached].map(String), rate, price];
  });
  return columns([
    ["model", "calls", "input tokens", "output tokens", "cached tokens", "USD per million in/out", "cost"],
    ...rows,
  ]);
}

/** The plain tier; empty where the price is not known. */
function rateText(price: Price | undefined): string {
  return price === undefined ? "" : `${price.input}/${price.output}`;
}

/** By its id or the beginning of it. Rejects with InvalidCommand for none or several, or with TokenScope. */
export async function findSession({ store }: Harness, name: string, caller: SlashCaller): Promise<SessionId> {
  const wanted = SessionId.is(name) ? [name] : (await store.list({ limit: SEARCHED })).map(({ id }) => id);
  const beginning = name.startsWith("sess_") ? name : `sess_${name.toUpperCase()}`;
  const [found, another] = wanted.filter((id) => id.startsWith(beginning));
  if (found !== undefined && another !== undefined) {
    throw new ReasonError("InvalidCommand", `several sessions begin with ${visibleLine(name)}: ${found}, ${another}`);
  }
  if (found !== undefined) caller.allow("AttachSession", found);
  if (found === undefined || (await store.get(found)) === undefined) {
    // Not SessionNotFound: the session that the command is for is there.
    const detail = `there is no session ${visibleLine(name).slice(0, 100)}; /sessions:list shows those of the log`;
    throw new ReasonError("InvalidCommand", detail);
  }
  return found;
}

/** Newest first, without those that other agents work in and those that the caller may not see. */
async function sessionTable({ store, archive, control }: Harness, caller: SlashCaller, nowMs: number): Promise<string> {
  const open = new Map(control.sessions().map((state) => [state.id, state]));
  const rows = [
    ["", "state", "session", "age", "profile", "model", "turns", "branch of", "attached", "folder", "title"],
  ];
  for (const meta of await store.list({ limit: LISTED })) {
    if (!mayRead(caller, meta.id) || (meta.parent !== undefined && (await isDelegate(archive, meta.id)))) continue;
    const info = sessionInfoOf(meta, open.get(meta.id));
    rows.push([
      meta.id === caller.session ? "*" : "",
      info.activity ?? (info.state === "ended" ? "ended" : "paused"),
      info.id,
      age(nowMs - Date.parse(info.updated_at)),
      info.profile,
      info.model,
      String((await archive.turnCount?.(meta.id)) ?? ""),
      info.parent ?? "",
      String(info.attached),
      info.working_dir,
      info.title.slice(0, TITLE_CHARS),
    ]);
  }
  return columns(rows);
}

function scheduleTable(rows: readonly ScheduleRow[]): string {
  if (rows.length === 0) return "There are no schedules. To add one: harness schedule add --help";
  const table = rows.map(({ name, times, next_at, ticks: [last], folder }) => {
    return [name, times, next_at ?? "", last === undefined ? "" : `${last.state} ${last.at}`, folder];
  });
  return columns([["name", "times", "next", "last", "folder"], ...table]);
}

/** A branch has a parent as well; only a delegate was opened by a call. */
async function isDelegate(archive: Harness["archive"], id: SessionId): Promise<boolean> {
  const start = await archive.read(id, { after: 0, limit: BEGINNING_EVENTS });
  return start.some(({ kind, payload }) => kind === "SessionStarted" && payload.call_id !== undefined);
}

function mayRead(caller: SlashCaller, session: SessionId): boolean {
  try {
    caller.allow("AttachSession", session);
    return true;
  } catch (error) {
    if (error instanceof ReasonError && error.reason === "TokenScope") return false;
    throw error;
  }
}

function columns(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(visibleLine));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...shown.map((row) => row[column]?.length ?? 0)));
  return shown
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function age(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}
