/** `harness cost`: what sessions have used and cost, summed from the CostIncremented events of the log. */
import { readEvents } from "#program";
import { type EventPayload, ReasonError, SessionId } from "#protocol";
import { harnessPaths, machineKey, openSqliteStore, type SessionMeta, type SessionStore } from "#stores";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

export interface CostFlags {
  readonly session?: string;
  readonly limit: number;
  readonly json?: boolean;
}

interface CostRow {
  readonly group: string;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  cost_usd: number;
  /** Calls whose price is not known; the cost leaves them out. */
  unpriced_calls: number;
}

export async function costCommand(ports: CliPorts, flags: CostFlags): Promise<ExitCode> {
  const { terminal, env, clock } = ports;
  if (!Number.isInteger(flags.limit) || flags.limit < 1) {
    throw new ReasonError("UsageInvalid", "--limit must be a positive whole number");
  }
  const store = await openSqliteStore({ path: harnessPaths(env).sessionsDb, clock, key: machineKey(env) });
  try {
    const sessions = await chosenSessions(store, flags);
    const bySession = new Map<string, CostRow>();
    const byModel = new Map<string, CostRow>();
    const byProvider = new Map<string, CostRow>();
    for (const meta of sessions) {
      for await (const event of readEvents(store, meta.id)) {
        if (event.kind !== "CostIncremented") continue;
        add(bySession, flags.session === undefined ? meta.id : event.payload.turn, event.payload);
        add(byModel, event.payload.model, event.payload);
        add(byProvider, event.payload.provider, event.payload);
      }
    }
    const groups = [...bySession.values()];
    const models = [...byModel.values()];
    const providers = [...byProvider.values()];
    if (flags.json) terminal.out(`${JSON.stringify({ by: groups, models, providers })}\n`);
    else {
      const first = flags.session === undefined ? "SESSION" : "TURN";
      terminal.out(render(first, groups, terminal.columns));
      terminal.out(`\n${render("MODEL", models, terminal.columns)}`);
      terminal.out(`\n${render("PROVIDER", providers, terminal.columns)}`);
    }
    return 0;
  } finally {
    await store.close();
  }
}

async function chosenSessions(store: SessionStore, { session, limit }: CostFlags): Promise<readonly SessionMeta[]> {
  if (session === undefined) return store.list({ limit });
  const meta = SessionId.is(session) ? await store.get(session) : undefined;
  if (meta === undefined) throw new ReasonError("SessionNotFound", { session });
  return [meta];
}

function add(rows: Map<string, CostRow>, group: string, { usage, cost_usd }: EventPayload<"CostIncremented">): void {
  const row = rows.get(group) ?? {
    group,
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    cost_usd: 0,
    unpriced_calls: 0,
  };
  row.input_tokens += usage.input_tokens + usage.cache_write_tokens;
  row.output_tokens += usage.output_tokens;
  row.cached_tokens += usage.cache_read_tokens;
  row.cost_usd += cost_usd ?? 0;
  row.unpriced_calls += cost_usd === undefined ? 1 : 0;
  rows.set(group, row);
}

function render(first: string, rows: readonly CostRow[], columns: number): string {
  const cells = rows.map((row) => {
    const cost = `$${row.cost_usd.toFixed(4)}`;
    return [
      row.group,
      String(row.input_tokens),
      String(row.output_tokens),
      String(row.cached_tokens),
      row.unpriced_calls === 0 ? cost : `${cost} + ${row.unpriced_calls} without a known price`,
    ];
  });
  return formatTable([first, "INPUT", "OUTPUT", "CACHED", "COST"], cells, columns);
}
