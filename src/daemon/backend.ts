/** What the HTTP transport is put on: the program's control and store, and its catalogs as plain data. */

import type { Settings } from "#artifacts";
import { createUlidFactory, defined } from "#base";
import type { CacheCounters, CredentialPort, SessionMeta, SessionStore } from "#engine";
import type { OperationLog } from "#logs";
import {
  cleanEvent,
  type EventWatch,
  exportPieces,
  type Harness,
  keyState,
  type ProgramPorts,
  type RunFlags,
} from "#program";
import { type Event, LogId, ReasonError } from "#protocol";
import { knownModels, vendors } from "#providers";
import { type ArchiveStore, loadPortability } from "#stores";
import type { HttpBackend } from "#transports/http";
import { createSystemRandom } from "#world";

/** What a daemon knows of itself beside the harness. */
export interface DaemonSeen {
  readonly watch: Pick<EventWatch, "sandbox" | "providers">;
  readonly log: Pick<OperationLog, "counters">;
  readonly store: RunFlags["store"];
  readonly retention: () => { readonly state: string } | undefined;
}

/** Rejects with RedactionFailed: nothing leaves that could not be looked at. */
export async function httpBackend(
  {
    clock,
    build,
    credentials,
    outward,
  }: Pick<ProgramPorts, "clock" | "build" | "outward"> & { readonly credentials: CredentialPort },
  harness: Harness,
  settings: Settings,
  seen?: DaemonSeen,
): Promise<HttpBackend> {
  const { control, store } = harness;
  const redactor = await outward.load();
  const titled = (meta: SessionMeta): SessionMeta => ({ ...meta, title: redactor.text(meta.title) });
  const replayed = (): ((event: Event) => Event) => {
    const redact = redactor.log();
    return (event) => cleanEvent(redact, event);
  };
  const configured = settings.models.map(({ model }) => model);
  return {
    control,
    store: {
      async get(id) {
        const meta = await store.get(id);
        return meta === undefined ? undefined : titled(meta);
      },
      list: async (options) => (await store.list(options)).map(titled),
      read: async (id, options) => (await store.read(id, options)).map(replayed()),
    },
    replayed,
    clean: redactor.text,
    cleanValue: redactor.value,
    subsystems: () => subsystemsOf(harness, settings, seen),
    version: build.version,
    tools: () => harness.tools(),
    servers: () =>
      harness
        .servers()
        .map(({ lastError, protocolVersion, ...state }) =>
          redactor.value({ ...state, ...defined({ last_error: lastError, protocol_version: protocolVersion }) }),
        ),
    slashCommands: () => harness.slashCommands().map((command) => ({ ...command })),
    providers: () =>
      vendors.map((vendor) => ({
        provider: vendor.name,
        default_model: vendor.models === undefined ? null : `${vendor.name}:${vendor.models.default}`,
        key: keyState(credentials, vendor.name, vendor.keyVariables),
        models: knownModels(vendor, configured, settings.prices).map(({ id, contextTokens, priceUsdPerMillion }) => {
          return { id, context_tokens: contextTokens ?? null, usd_per_million: priceUsdPerMillion ?? null };
        }),
      })),
    exportSession: (meta, format) => exportPieces(archiveOf(harness.archive), meta, redactor, format, new Set()),
    async branch(session, at) {
      const { branchSession } = await loadPortability();
      const now = new Date(clock.now()).toISOString();
      const log = LogId.from(createUlidFactory({ clock, random: createSystemRandom() })());
      const branch = await branchSession(archiveOf(harness.archive), session, {
        now,
        log,
        ...defined({ at }),
      });
      return { session: branch.session, at: branch.at, created: branch.created };
    },
  };
}

/** One entry for each part that can fail, with its `state`. */
export async function subsystemsOf(harness: Harness, settings: Settings, seen?: DaemonSeen) {
  const { credentialHelper, redaction } = harness.health();
  const counters = seen?.log.counters();
  const retention = seen?.retention();
  const { mode, ...sandbox } = seen?.watch.sandbox() ?? { mode: settings.sandbox };
  return {
    store: { ...(await storeState(harness)), ...(seen === undefined ? {} : { kind: seen.store }) },
    ...defined({ retention }),
    redaction: {
      state: redaction.state,
      ...redaction.totals,
      ...(redaction.cache && { cache: cacheView(redaction.cache) }),
    },
    credential_helper: credentialHelper,
    sandbox: { state: "active" in sandbox ? (sandbox.active ? "active" : "inactive") : "not tried", mode, ...sandbox },
    providers: { model: harness.model, offline: harness.offline, seen: seen?.watch.providers() ?? {} },
    ...(counters === undefined
      ? {}
      : { log: { state: counters.problem === undefined ? "ok" : "failing", ...counters } }),
  };
}

function cacheView({ entries, maxEntries, chars, maxChars, evictions }: CacheCounters) {
  return { entries, max_entries: maxEntries, chars, max_chars: maxChars, evictions };
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

/** The stores of this program keep evidence; one of a plugin may not. */
function archiveOf(store: SessionStore): ArchiveStore {
  if ("readEvidence" in store && "records" in store) return store as ArchiveStore;
  throw new ReasonError("NotAllowed", { detail: "The session store of this program cannot give sessions away whole." });
}
