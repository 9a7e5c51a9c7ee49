/** `harness audit network`: which hosts tools, scripts and sandboxed commands have reached or were refused, from the log. */
import { resolve } from "node:path";
import { defined } from "#base";
import { readEvents, type StoreFlags, withStore } from "#program";
import { type EventPayload, ReasonError } from "#protocol";
import type { ArchiveStore, SessionMeta } from "#stores";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { namedOrLatest } from "./latest-session.ts";
import { formatTable } from "./table.ts";

/** Sessions that `--all` reads, newest first. */
const MAX_SESSIONS = 1000;
/** Reasons kept for one host. */
const MAX_REASONS = 5;

export interface NetworkFlags extends StoreFlags {
  readonly session?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

interface HostRow {
  readonly host: string;
  readonly ports: number[];
  reached: number;
  refused: number;
  readonly reasons: string[];
  last: string;
}

export async function auditNetworkCommand(ports: CliPorts, flags: NetworkFlags): Promise<ExitCode> {
  const { terminal } = ports;
  if (flags.all === true && flags.session !== undefined) {
    throw new ReasonError("UsageInvalid", "--session and --all cannot be combined");
  }
  return withStore<ExitCode>(ports, flags, async (store) => {
    const { sessions, leftOut } = await chosen(ports, store, flags);
    const rows = new Map<string, HostRow>();
    for (const { id } of sessions) {
      for await (const { kind, ts, payload } of readEvents(store, id)) {
        if (kind === "NetworkJudged") add(rows, payload, ts);
        else if (kind === "NetworkConnection") addConnection(rows, payload, ts);
      }
    }
    const hosts = [...rows.values()].toSorted(
      (a, b) => b.reached + b.refused - a.reached - a.refused || (a.host < b.host ? -1 : 1),
    );
    if (flags.json) {
      terminal.out(
        `${JSON.stringify({ sessions: sessions.map(({ id }) => id), sessions_left_out: leftOut, hosts })}\n`,
      );
      return 0;
    }
    if (leftOut) terminal.err(`Only the latest ${MAX_SESSIONS} sessions were read.\n`);
    const what = sessions.length === 1 ? sessions[0]?.id : `${sessions.length} sessions`;
    if (hosts.length === 0) {
      terminal.out(`${what} contacted no host.\n`);
      return 0;
    }
    const cells = hosts.map(({ host, ports: numbers, reached, refused, last, reasons }) => [
      numbers.length === 0 ? host : `${host}:${numbers.join(",")}`,
      String(reached),
      String(refused),
      last.slice(0, 19).replace("T", " "),
      reasons.join("; "),
    ]);
    terminal.out(formatTable(["HOST", "REACHED", "REFUSED", "LAST (UTC)", "WHY REFUSED"], cells, terminal.columns));
    return 0;
  });
}

async function chosen(
  { cwd }: CliPorts,
  store: ArchiveStore,
  { session, all }: NetworkFlags,
): Promise<{ readonly sessions: readonly SessionMeta[]; readonly leftOut: boolean }> {
  if (all !== true) return { sessions: [await namedOrLatest(store, session, resolve(cwd))], leftOut: false };
  const found = await store.list({ limit: MAX_SESSIONS + 1 });
  return { sessions: found.slice(0, MAX_SESSIONS), leftOut: found.length > MAX_SESSIONS };
}

/** What the egress proxy told of a command in a sandbox. The end of a connection says nothing new. */
function addConnection(
  rows: Map<string, HostRow>,
  { host, port, state, why }: EventPayload<"NetworkConnection">,
  ts: string,
): void {
  if (state === "opened") add(rows, { host, port, policy: "allowed" }, ts);
  else if (state === "refused") add(rows, { host, port, policy: "denied", ...defined({ reason: why }) }, ts);
}

function add(
  rows: Map<string, HostRow>,
  { host, port, policy, reason }: EventPayload<"NetworkJudged">,
  ts: string,
): void {
  const row = rows.get(host) ?? { host, ports: [], reached: 0, refused: 0, reasons: [], last: ts };
  rows.set(host, row);
  if (policy === "allowed") row.reached += 1;
  else row.refused += 1;
  if (port !== undefined && !row.ports.includes(port)) row.ports.push(port);
  if (reason !== undefined && !row.reasons.includes(reason) && row.reasons.length < MAX_REASONS)
    row.reasons.push(reason);
  if (ts > row.last) row.last = ts;
}
