/** What the HTTP transport is put on: the program's control and store, and its catalogs as plain data. */
import type { Settings } from "#artifacts";
import { createSystemRandom, createUlidFactory } from "#base";
import type { SessionMeta, SessionStore } from "#engine";
import type { Harness } from "#harness";
import { type Event, LogId, ReasonError } from "#protocol";
import { type CredentialPort, staticModels, vendors } from "#providers";
import { type ArchiveStore, loadPortability } from "#sessions";
import type { HttpBackend } from "#transports/http";
import type { CliPorts } from "./cli-ports.ts";
import { keyState } from "./models.ts";
import { exportPieces } from "./sessions-port.ts";
import { cleanEvent } from "./sessions-read.ts";
import { slashCommands } from "./slash-commands.ts";

/** Rejects with RedactionFailed: nothing leaves that could not be looked at. */
export async function httpBackend(
  {
    clock,
    build,
    credentials,
    outward,
  }: Pick<CliPorts, "clock" | "build" | "outward"> & { readonly credentials: CredentialPort },
  harness: Harness,
  settings: Settings,
): Promise<HttpBackend> {
  const { control, store } = harness;
  const redactor = await outward.load();
  const titled = (meta: SessionMeta): SessionMeta => ({ ...meta, title: redactor.text(meta.title) });
  const replayed = (): ((event: Event) => Event) => {
    const redact = redactor.log();
    return (event) => cleanEvent(redact, event);
  };
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
    subsystems: () => ({ credential_helper: harness.health().credentialHelper }),
    version: build.version,
    tools: () => harness.tools(),
    slashCommands: () => slashCommands.map((command) => ({ ...command })),
    providers: () =>
      vendors.map(({ name, keyVariables, models }) => ({
        provider: name,
        default_model: models === undefined ? null : `${name}:${models.default}`,
        key: keyState(credentials, name, keyVariables),
        models: staticModels(name, settings.prices).map(({ id, contextTokens, priceUsdPerMillion }) => {
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
        ...(at === undefined ? {} : { at }),
      });
      return { session: branch.session, at: branch.at, created: branch.created };
    },
  };
}

/** The stores of this program keep evidence; one of a plugin may not. */
function archiveOf(store: SessionStore): ArchiveStore {
  if ("readEvidence" in store && "records" in store) return store as ArchiveStore;
  throw new ReasonError("NotAllowed", { detail: "The session store of this program cannot give sessions away whole." });
}
