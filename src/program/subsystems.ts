/** The state of each part of a program that can fail while it runs. */
import type { Settings } from "#artifacts";
import { counted, defined, programCaches, visibleLine } from "#base";
import type { OperationLog } from "#logs";
import { ReasonError } from "#protocol";
import type { EventWatch } from "./event-watch.ts";
import type { Harness } from "./options.ts";
import type { RunFlags } from "./run-flags.ts";

/** What a daemon knows of itself beside the harness. */
export interface DaemonSeen {
  readonly watch: Pick<EventWatch, "sandbox" | "providers">;
  readonly log: Pick<OperationLog, "counters">;
  readonly store: RunFlags["store"];
  readonly retention: () => { readonly state: string } | undefined;
  /** The addresses at which clients reach it. */
  readonly listeners: () => readonly string[];
}

/** One entry for each part that can fail, with its `state`. */
export async function subsystemsOf(harness: Harness, settings: Settings, seen?: DaemonSeen) {
  const { credentialHelper, credentialStore, redaction } = harness.health();
  const counters = seen?.log.counters();
  const retention = seen?.retention();
  const { mode, ...sandbox } = seen?.watch.sandbox() ?? { mode: settings.sandbox };
  return {
    engine: engineView(harness),
    control_plane: listenersView(seen?.listeners() ?? []),
    store: { ...(await storeState(harness)), ...(seen === undefined ? {} : { kind: seen.store }) },
    ...defined({ retention }),
    redaction: {
      state: redaction.state,
      ...redaction.totals,
    },
    caches: cachesView(),
    credential_helper: { ...credentialHelper },
    credential_store: { ...credentialStore },
    mcp_servers: serversView(harness.servers()),
    sandbox: { state: "active" in sandbox ? (sandbox.active ? "active" : "inactive") : "not tried", mode, ...sandbox },
    providers: { model: harness.model, offline: harness.offline, seen: seen?.watch.providers() ?? {} },
    ...(counters === undefined
      ? {}
      : { log: { state: counters.problem === undefined ? "ok" : "failing", ...counters } }),
  };
}

function engineView({ control }: Harness) {
  const open = control.sessions();
  const running = open.filter(({ activity }) => activity !== "idle").length;
  return { state: "ok", detail: `${counted(open.length, "session")} open, ${running} running` };
}

function listenersView(addresses: readonly string[]) {
  if (addresses.length === 0) return { state: "none", detail: "this process listens on no address" };
  return { state: "listening", detail: addresses.join(", ") };
}

/** Of the whole process: it has one memory. */
function cachesView() {
  const { bytes, maxBytes, caches } = programCaches.counters();
  const each = Object.entries(caches).map(([name, { maxBytes: max, ...counted }]) => [
    name,
    { ...counted, max_bytes: max },
  ]);
  return { state: "ok", bytes, max_bytes: maxBytes, each: Object.fromEntries(each) };
}

/** `failing` while one of them is down; one that nothing has needed yet is not. */
function serversView(servers: ReturnType<Harness["servers"]>) {
  if (servers.length === 0) return { state: "none" };
  return {
    state: servers.some(({ state }) => state === "down") ? "failing" : "ok",
    detail: servers.map(({ name, state }) => `${name} ${state}`).join(", "),
  };
}

interface StoreState {
  readonly state: "ok" | "failing";
  readonly reason?: string;
  readonly failed_writes: number;
  /** Why the last write failed, until the next one does not. */
  readonly problem?: string;
}

/** By how its last write went, and asked with the smallest question, whose answer is thrown away. */
async function storeState({ store, health }: Harness): Promise<StoreState> {
  const { failedWrites: failed_writes, problem } = health().writes;
  if (problem !== undefined) return { state: "failing", reason: "StoreFailed", failed_writes, problem };
  try {
    await store.list({ limit: 1 });
    return { state: "ok", failed_writes };
  } catch (error) {
    const reason = error instanceof ReasonError ? error.reason : "InternalError";
    return { state: "failing", reason, failed_writes };
  }
}

/** Those that have a state, with why where there is a reason. */
export function subsystemLines(
  subsystems: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): readonly string[] {
  return Object.entries(subsystems).flatMap(([name, { state, detail }]) => {
    if (typeof state !== "string") return [];
    const why = typeof detail === "string" ? `: ${visibleLine(detail)}` : "";
    return [`  ${name}: ${state}${why}`];
  });
}
