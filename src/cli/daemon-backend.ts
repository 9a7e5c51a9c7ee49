/** What the HTTP transport is put on: the program's control and store, and its catalogs as plain data. */
import type { Settings } from "#artifacts";
import { createSystemRandom, createUlidFactory } from "#base";
import type { SessionStore } from "#engine";
import type { Harness } from "#harness";
import { LogId, ReasonError } from "#protocol";
import { PROTOCOL_VERSION } from "#protocol/schemas";
import { staticModels, vendors } from "#providers";
import { type ArchiveStore, loadPortability } from "#sessions";
import type { HttpBackend } from "#transports/http";
import type { CliPorts } from "./cli-ports.ts";
import { readEvents } from "./sessions-read.ts";
import { slashCommands } from "./slash-commands.ts";

export function httpBackend(
  { env, clock, build }: Pick<CliPorts, "env" | "clock" | "build">,
  harness: Harness,
  settings: Settings,
): HttpBackend {
  const { control, store } = harness;
  return {
    control,
    store,
    version: build.version,
    tools: () => harness.tools(),
    slashCommands: () => slashCommands.map((command) => ({ ...command })),
    providers: () =>
      vendors.map(({ name, keyVariables, models }) => ({
        provider: name,
        default_model: models === undefined ? null : `${name}:${models.default}`,
        key: keyVariables.length === 0 || keyVariables.some((variable) => env[variable]) ? "set" : "not set",
        models: staticModels(name, settings.prices).map(({ id, contextTokens, priceUsdPerMillion }) => {
          return { id, context_tokens: contextTokens ?? null, usd_per_million: priceUsdPerMillion ?? null };
        }),
      })),
    async *exportSession(meta, format) {
      const archive = archiveOf(store);
      const { exportLines, transcript } = await loadPortability();
      if (format === "jsonl") {
        for await (const line of exportLines(meta, archive.readEvidence(meta.id), PROTOCOL_VERSION)) yield `${line}\n`;
        return;
      }
      let between = "";
      for await (const { text } of transcript(meta, readEvents(archive, meta.id))) {
        yield between + text;
        between = "\n\n";
      }
      yield "\n";
    },
    async branch(session, at) {
      const { branchSession } = await loadPortability();
      const now = new Date(clock.now()).toISOString();
      const log = LogId.from(createUlidFactory({ clock, random: createSystemRandom() })());
      const branch = await branchSession(archiveOf(store), session, { now, log, ...(at === undefined ? {} : { at }) });
      return { session: branch.session, at: branch.at, created: branch.created };
    },
  };
}

/** The stores of this program keep evidence; one of a plugin may not. */
function archiveOf(store: SessionStore): ArchiveStore {
  if ("readEvidence" in store && "records" in store) return store as ArchiveStore;
  throw new ReasonError("NotAllowed", { detail: "The session store of this program cannot give sessions away whole." });
}
