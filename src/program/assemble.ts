/** The composition root: the one file that knows every part and how they are put together. */

import { resolve } from "node:path";
import { canonicalHash, createUlidFactory, defined } from "#base";
import { type Control, createControl, type ScheduleDesk } from "#control";
import { aliasSource, createSlashRegistry, loadedRedaction, type Redaction, type SessionStore } from "#engine";
import { parseRule } from "#governance";
import { createIdMint, ReasonError } from "#protocol";
import type { ModelChoice } from "#providers";
import {
  createProgramServers,
  noTape,
  openSession,
  prepareSandbox,
  profileCommands,
  type SessionDependencies,
} from "#session";
import { logFiles, openStore, ownFolders } from "#stores";
import { createBuiltinTools } from "#tools";
import { createScratchFolders, createSystemRandom } from "#world";
import { builtInRuns } from "./built-in-runs.ts";
import { memoryStores } from "./memory.ts";
import { modelRows } from "./model-rows.ts";
import { modelChooser, sharedChoices } from "./models.ts";
import type { Harness, HarnessOptions, Health } from "./options.ts";
import { registerPlugins } from "./plugins.ts";
import { listProfiles, switchProfile } from "./profile-switch.ts";
import { loadRedaction } from "./redaction.ts";
import { previewSession } from "./session-preview.ts";
import { sessionRuns } from "./session-runs.ts";
import type { OpenedTape } from "./tape.ts";
import { prepareUndo } from "./undo.ts";
import { unwatched, watchWrites } from "./watched-store.ts";
import { createWorktrees } from "./worktrees.ts";

/** Throws a ReasonError when the model, the store or a rule cannot be used. Makes no network call. */
export async function assembleHarness(options: HarnessOptions): Promise<Harness> {
  const { settings, env, credentials } = options;
  const redaction = loadedRedaction(options.redaction ?? (() => loadRedaction(options)));
  let redactionHealth: Health["redaction"] = { state: "loading" };
  let loadedParts: Pick<Redaction, "totals"> = {};
  // Whoever opens a session is told of a failure.
  redaction.then(
    (loaded) => {
      redactionHealth = { state: "loaded" };
      loadedParts = loaded;
    },
    () => {
      redactionHealth = { state: "failed" };
    },
  );
  const extensions = registerPlugins(options.plugins ?? [], () => control, options.clock);
  const chooseFor = options.chooseModels ?? modelChooser(options, extensions.providers);
  const { tape, models } = await openTape(options, () => chooseFor(settings));
  const { clock, random } = tape;
  const ids = createIdMint(createUlidFactory({ clock, random }));
  const partsFor: SessionDependencies["partsFor"] = (one) => {
    const rules = [...one.permissions, ...extensions.rules].map(({ effect, rule, source }) =>
      parseRule(rule, effect, tape.asRecorded(source)),
    );
    return {
      rules,
      rulesVersion: canonicalHash(rules.map(({ effect, text, source }) => [effect, text, source])),
      toolSources: [...(options.toolSources ?? [createBuiltinTools(clock, one.toolPacks)]), ...extensions.toolSources],
    };
  };
  const { rules, rulesVersion, toolSources } = partsFor(settings);
  const watched =
    extensions.store === undefined ? watchWrites(await openStore(options.store, options)) : unwatched(extensions.store);
  const store = tape.store(watched.store);
  const ownPaths = [...ownFolders(env), ...(options.ownPaths ?? []).map((path) => resolve(path))];
  const undoFolder = options.undo === undefined || options.undo === "off" ? [] : [options.undo.directory];
  const serverLog = options.serverLog ?? (() => undefined);
  const programServers = createProgramServers(env, serverLog);
  const slash: SessionDependencies["slash"] = {
    sources: [extensions.slash, ...(options.userWords === undefined ? [] : [options.userWords.commands])],
    builtIns: {
      ...builtInRuns(() => harness, options),
      ...sessionRuns(
        () => harness,
        () => dependencies.undo,
        options,
      ),
    },
    aliases: options.userWords?.aliases ?? new Map(),
  };
  const anyAlias = aliasSource(
    () => slash.aliases,
    () => anySession,
  );
  const profiles: SessionDependencies["profiles"] = options.profiles && {
    ...options.profiles,
    switchTo: (profile, args, caller) => switchProfile(harness, dependencies, { profile, args, caller }),
  };
  const ofNoProject = profileCommands(profiles, () => undefined);
  const anySession = createSlashRegistry([...slash.sources, ofNoProject, anyAlias], slash.builtIns);
  const dependencies: SessionDependencies = {
    slash,
    settings,
    env,
    clock,
    ids,
    store,
    models,
    modelRows: () => modelRows(settings, options.credentials),
    modelsFor: tape.isOn ? async () => models : sharedChoices(settings, models, chooseFor),
    extensions,
    toolSources,
    rules,
    rulesVersion,
    partsFor,
    profiles,
    memoryOf: memoryStores(options, redaction),
    undo: tape.isOn ? undefined : prepareUndo(options, [...logFiles(options.store), ...ownPaths]),
    openWorktree: createWorktrees({ env, clock: options.clock, onFailure: (text) => serverLog("warn", text) }),
    workspace: tape.asRecorded(options.workspace),
    scratch: options.scratch === undefined ? undefined : createScratchFolders(options.scratch),
    namedModel: options.model,
    autoApprove: options.autoApprove,
    isService: options.waitsForHumans === true,
    context: options.context ?? {},
    howToAddRule: options.howToAddRule,
    keepRule: options.keepRule && tape.keepRule(options.keepRule),
    projects: options.projects,
    args: options.args ?? [],
    depth: options.depth ?? 0,
    observePorts: options.observePorts,
    traceCall: options.traceCall,
    adopt: (parent, open) => control.adopt(parent, open),
    redaction,
    secretsTold: () => credentials.told(),
    credentials,
    checkToken: options.checkToken,
    programServers,
    serverLog,
    tape,
    ownPaths,
    sandboxFor: prepareSandbox({
      env,
      clock: options.clock,
      ownPaths: [...logFiles(options.store), ...undoFolder, ...ownPaths],
    }),
  };
  const own = createControl({
    clock,
    ids,
    store,
    open: (command, approver, onTaken, beginning) =>
      openSession(dependencies, command, approver, undefined, onTaken, beginning),
    profile: settings.profile.name,
    customHandlers: extensions.customHandlers,
    schedules: tape.isOn ? undefined : schedulesOf(options, redaction),
    ...defined({ waitsForHumans: options.waitsForHumans, permissionTimeoutMs: options.permissionTimeoutMs }),
  });
  const control: Control = tape.control(own);
  const harness: Harness = {
    control,
    store: readableStore(store, redaction),
    archive: store,
    model: models.model,
    fallbacks: models.fallbacks,
    offline: models.offline,
    recordedCommands: tape.commands,
    slashCommands(session) {
      const registry = session === undefined ? anySession : control.slash(session);
      if (registry === undefined) throw new ReasonError("SessionNotFound", { session: session ?? "" });
      return registry.rows();
    },
    transports: extensions.transports,
    tools: () => toolSources.flatMap((source) => source.tools()),
    preview: (folder, context) => previewSession(dependencies, folder, context),
    schedules: async () => (await import("./schedules.ts")).scheduleRows({ env, clock: options.clock }),
    profiles: (session) => listProfiles(harness, options, session),
    servers() {
      const states = [...programServers.open].flatMap((servers) => servers.states());
      const idle = settings.mcpServers.filter(({ name }) => !states.some((state) => state.name === name));
      return [
        ...states,
        ...idle.map(({ name }) => ({ name, state: "stopped", tools: 0, waiting: 0, restarts: 0 }) as const),
      ];
    },
    health: () => ({
      credentialHelper: credentials.status(),
      credentialStore: credentials.storeStatus(),
      writes: watched.health(),
      redaction: {
        ...redactionHealth,
        ...(loadedParts.totals && { totals: loadedParts.totals() }),
      },
    }),
    async shutdown() {
      programServers.beginToEnd();
      try {
        await control.shutdown();
      } finally {
        await programServers.close();
        credentials.close();
      }
    },
  };
  return harness;
}

/** Absent where no daemon would run them. What keeps them is loaded with the first command about them. */
function schedulesOf(
  { env, clock, startDaemon }: HarnessOptions,
  redaction: Promise<Redaction>,
): ScheduleDesk | undefined {
  if (startDaemon === undefined) return undefined;
  const clean = async (text: string): Promise<string> => cleanText(await redaction, text);
  const desk = async (): Promise<ScheduleDesk> =>
    (await import("./schedules.ts")).scheduleDesk({ env, clock }, clean, startDaemon);
  return {
    list: async () => (await desk()).list(),
    add: async (schedule, folder) => (await desk()).add(schedule, folder),
    remove: async (name) => (await desk()).remove(name),
    run: async (name) => (await desk()).run(name),
  };
}

function cleanText({ output }: Redaction, text: string): string {
  const [block] = output([{ type: "text", text }]);
  return block?.type === "text" ? block.text : "";
}

/** A title is stored as it is shown, so that it passes redaction like everything else that is stored. */
function readableStore(store: SessionStore, redaction: Promise<Redaction>): Harness["store"] {
  return {
    get: (id) => store.get(id),
    list: (options) => store.list(options),
    read: (id, options) => store.read(id, options),
    async update(id, change) {
      if (change.title === undefined) return store.update(id, change);
      return store.update(id, { ...change, title: cleanText(await redaction, change.title) });
    },
  };
}

async function openTape(options: HarnessOptions, choose: () => Promise<ModelChoice>): Promise<OpenedTape> {
  if (options.cassette !== undefined) return (await import("./tape.ts")).openTape(options.cassette, options, choose);
  return { tape: noTape({ clock: options.clock, random: createSystemRandom() }), models: await choose() };
}
