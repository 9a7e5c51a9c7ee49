/** What the HTTP transport is put on: the program's control and store, and its catalogs as plain data. */

import type { Settings } from "#artifacts";
import { defined } from "#base";
import type { CredentialPort, SessionMeta } from "#engine";
import {
  archiveOf,
  branchOf,
  cleanEvent,
  type DaemonSeen,
  exportPieces,
  type Harness,
  keyState,
  type ProgramPorts,
  subsystemsOf,
} from "#program";
import type { Event } from "#protocol";
import { knownModels, vendors } from "#providers";
import type { HttpBackend } from "#transports/http";

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
    schedules: async () => (await harness.schedules()).map((row) => redactor.value(row)),
    profiles: (session) => harness.profiles(session),
    slashCommands: (session) => harness.slashCommands(session).map((command) => ({ ...command })),
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
      const branch = await branchOf(harness.archive, session, clock, at);
      return { session: branch.session, at: branch.at, created: branch.created };
    },
  };
}
