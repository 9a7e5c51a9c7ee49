/** `harness sessions list` and `show`: what is in the log. */

import { resolve } from "node:path";
import { counted, visibleLines } from "#base";
import { cleanTranscript, findSession, readEvents, type StoreFlags, withStore } from "#program";
import { type Event, ReasonError, type SessionId } from "#protocol";
import { type ArchiveStore, loadPortability, type SessionMeta, sessionFields } from "#stores";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

/** The first input of a session is among its first events. */
const TITLE_EVENTS = 8;
const TITLE_CHARS = 80;

export interface ListFlags extends StoreFlags {
  readonly limit: number;
  readonly here?: boolean;
  readonly json?: boolean;
}

export async function listSessions(ports: CliPorts, flags: ListFlags): Promise<ExitCode> {
  const { terminal, cwd } = ports;
  return withStore<ExitCode>(ports, flags, async (store) => {
    const here = await store.list({ limit: flags.limit, workingDir: resolve(cwd) });
    const all = flags.here === true ? [] : await store.list({ limit: flags.limit });
    const known = new Set(here.map(({ id }) => id));
    const found = [...here, ...all.filter(({ id }) => !known.has(id))].slice(0, flags.limit);
    const sessions = await Promise.all(
      found.map(async (meta) => ({
        ...meta,
        ...(await beginningOf(store, meta)),
        paused: await isPaused(store, meta),
      })),
    );
    if (flags.json) {
      const rows = sessions.map((meta) => ({ ...toJson(meta), paused: meta.paused, ...meta.delegate }));
      terminal.out(`${JSON.stringify(rows)}\n`);
      return 0;
    }
    if (sessions.length === 0) {
      terminal.err("There are no sessions in this log.\n");
      return 0;
    }
    const rows = asTree(sessions).map(
      ({ id, updatedAt, lastEventId, pinned, paused, parent, model, title, delegate, level }) => {
        const kind = delegate === undefined ? (parent === undefined ? [] : ["branch"]) : ["delegate"];
        const agent = delegate === undefined || delegate.agent === "" ? "" : `${delegate.agent}: `;
        return [
          id,
          updatedAt.slice(0, 16).replace("T", " "),
          String(lastEventId),
          [...(pinned ? ["pinned"] : []), ...(paused ? ["paused"] : []), ...kind].join(", "),
          model,
          `${"  ".repeat(Math.max(0, level - 1))}${level > 0 ? "└ " : ""}${agent}${title}`,
        ];
      },
    );
    terminal.out(formatTable(["SESSION", "CHANGED (UTC)", "EVENTS", "", "MODEL", "TITLE"], rows, terminal.columns));
    return 0;
  });
}

export interface ShowFlags extends StoreFlags {
  readonly turn?: number;
  readonly json?: boolean;
}

export async function showSession(ports: CliPorts, name: string, flags: ShowFlags): Promise<ExitCode> {
  const { terminal } = ports;
  return withStore<ExitCode>(ports, flags, async (store) => {
    const meta = await findSession(store, name);
    if (flags.json) {
      const turns = await summarise(readEvents(store, meta.id));
      terminal.out(`${JSON.stringify({ session: toJson(meta), turns: pick(turns, flags.turn, meta.id) })}\n`);
      return 0;
    }
    const turns = await (await loadPortability()).createReplay(store, meta.id).turns();
    pick(turns, flags.turn, meta.id);
    for await (const part of cleanTranscript(await ports.outward.load(), store, meta)) {
      if (flags.turn !== undefined && part.turn > flags.turn) break;
      if (flags.turn === undefined || part.turn === flags.turn) terminal.out(`${visibleLines(part.text)}\n\n`);
    }
    return 0;
  });
}

/** As on the wire. */
export function toJson(meta: SessionMeta): Record<string, unknown> {
  return { ...sessionFields(meta), parent: meta.parent ?? null, last_event_id: meta.lastEventId };
}

/** A person went on elsewhere; whoever resumes it continues it. */
async function isPaused(store: ArchiveStore, { id, lastEventId }: SessionMeta): Promise<boolean> {
  const [last] = await store.read(id, { after: Math.max(0, lastEventId - 1), limit: 1 });
  return last?.kind === "SessionEnded" && last.payload.reason === "paused";
}

interface Beginning {
  /** Its title, or what was asked first. */
  readonly title: string;
  /** Set for the session of a delegate. */
  readonly delegate?: { readonly agent: string; readonly call_id: string; readonly depth: number };
}

async function beginningOf(store: ArchiveStore, { id, title }: SessionMeta): Promise<Beginning> {
  const start = await store.read(id, { after: 0, limit: TITLE_EVENTS });
  const born = start.find((event) => event.kind === "SessionStarted")?.payload;
  const delegate =
    born?.call_id === undefined
      ? {}
      : { delegate: { agent: born.agent ?? "", call_id: born.call_id, depth: born.depth ?? 1 } };
  if (title !== "") return { title, ...delegate };
  const first = start
    .find((event) => event.kind === "TurnStarted")
    ?.payload.content.find(({ type }) => type === "text");
  const line = first?.type === "text" ? first.text.trim().split("\n")[0] : undefined;
  return { title: (line ?? "").slice(0, TITLE_CHARS), ...delegate };
}

/** Delegates below the session that they worked for, in the order in which they began; those whose parent is not listed stay where they are. */
function asTree<Row extends SessionMeta & Beginning>(
  rows: readonly Row[],
): readonly (Row & { readonly level: number })[] {
  const listed = new Set(rows.map(({ id }) => id));
  const isBelow = ({ delegate, parent }: Row): boolean =>
    delegate !== undefined && parent !== undefined && listed.has(parent);
  const withChildren = (row: Row, level: number): (Row & { level: number })[] => [
    { ...row, level },
    ...rows
      .filter((other) => isBelow(other) && other.parent === row.id)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap((child) => withChildren(child, level + 1)),
  ];
  return rows.filter((row) => !isBelow(row)).flatMap((row) => withChildren(row, 0));
}

async function summarise(events: AsyncIterable<Event>): Promise<Record<string, unknown>[]> {
  const turns: Record<string, unknown>[] = [];
  for await (const { id, kind, ts, payload } of events) {
    if (kind === "TurnStarted") {
      turns.push({
        number: turns.length + 1,
        turn: payload.turn,
        model: payload.model,
        started_at: ts,
        first_event: id,
      });
    } else if (kind === "TurnEnded") {
      const { turn: _, ...ended } = payload;
      Object.assign(turns.at(-1) ?? {}, { last_event: id, ...ended });
    }
  }
  return turns;
}

function pick<Turn>(turns: readonly Turn[], number: number | undefined, session: SessionId): readonly Turn[] {
  if (number === undefined) return turns;
  const turn = turns[number - 1];
  if (turn !== undefined) return [turn];
  throw new ReasonError("UsageInvalid", `${session} has ${counted(turns.length, "turn")}; there is no turn ${number}.`);
}
