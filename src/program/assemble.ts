/** The composition root: the one file that knows every part and how they are put together. */

import { resolve } from "node:path";
import { canonicalHash, createUlidFactory, defined } from "#base";
import { type Control, createControl } from "#control";
import { loadedRedaction, type Redaction, type SessionStore } from "#engine";
import { parseRule } from "#governance";
import { createIdMint, slashCommands } from "#protocol";
import type { ModelChoice } from "#providers";
import { noTape, openSession, prepareSandbox, type SessionDependencies } from "#session";
import { logFiles, openStore, ownFolders } from "#stores";
import { createBuiltinTools } from "#tools";
import { createScratchFolders, createSystemRandom } from "#world";
import { modelChooser, sharedChoices } from "./models.ts";
import type { Harness, HarnessOptions, Health } from "./options.ts";
import { registerPlugins } from "./plugins.ts";
import { loadRedaction } from "./redaction.ts";
import type { OpenedTape } from "./tape.ts";
import { prepareUndo } from "./undo.ts";
import { unwatched, watchWrites } from "./watched-store.ts";

/** Throws a ReasonError when the model, the store or a rule cannot be used. Makes no network call. */
export async function assembleHarness(options: HarnessOptions): Promise<Harness> {
  const { settings, env, credentials } = options;
  const redaction = loadedRedaction(options.redaction ?? (() => loadRedaction(options)));
  let redactionHealth: Health["redaction"] = { state: "loading" };
  let loadedParts: Pick<Redaction, "cache" | "totals"> = {};
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
  const chooseFor = modelChooser(options, extensions.providers);
  const { tape, models } = await openTape(options, () => chooseFor(settings));
  const { clock, random } = tape;
  const ids = createIdMint(createUlidFactory({ clock, random }));
  const rules = [...settings.permissions, ...extensions.rules].map(({ effect, rule, source }) =>
    parseRule(rule, effect, tape.asRecorded(source)),
  );
  const rulesVersion = canonicalHash(rules.map(({ effect, text, source }) => [effect, text, source]));
  const toolSources = [...(options.toolSources ?? [createBuiltinTools(clock)]), ...extensions.toolSources];
  const watched =
    extensions.store === undefined ? watchWrites(await openStore(options.store, options)) : unwatched(extensions.store);
  const store = tape.store(watched.store);
  const ownPaths = [...ownFolders(env), ...(options.ownPaths ?? []).map((path) => resolve(path))];
  const undoFolder = options.undo === undefined || options.undo === "off" ? [] : [options.undo.directory];
  const openServers: SessionDependencies["openServers"] = new Set();
  const dependencies: SessionDependencies = {
    settings,
    env,
    clock,
    ids,
    store,
    models,
    modelsFor: tape.isOn ? async () => models : sharedChoices(settings, models, chooseFor),
    extensions,
    toolSources,
    rules,
    rulesVersion,
    undo: tape.isOn ? undefined : prepareUndo(options, [...logFiles(options.store), ...ownPaths]),
    workspace: tape.asRecorded(options.workspace),
    scratch: options.scratch === undefined ? undefined : createScratchFolders(options.scratch),
    namedModel: options.model,
    autoApprove: options.autoApprove,
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
    checkToken: options.checkToken,
    openServers,
    serverLog: options.serverLog ?? (() => undefined),
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
    open: (command, approver, onTaken) => openSession(dependencies, command, approver, undefined, onTaken),
    customHandlers: extensions.customHandlers,
    ...defined({ waitsForHumans: options.waitsForHumans, permissionTimeoutMs: options.permissionTimeoutMs }),
  });
  const control: Control = tape.control(own);
  return {
    control,
    store: readableStore(store, redaction),
    archive: store,
    model: models.model,
    fallbacks: models.fallbacks,
    offline: models.offline,
    recordedCommands: tape.commands,
    slashCommands: () => [...slashCommands, ...extensions.slashCommands],
    transports: extensions.transports,
    tools: () => toolSources.flatMap((source) => source.tools()),
    servers() {
      const states = [...openServers].flatMap((servers) => servers.states());
      const idle = settings.mcpServers.filter(({ name }) => !states.some((state) => state.name === name));
      return [...states, ...idle.map(({ name }) => ({ name, state: "stopped", tools: 0, restarts: 0 }) as const)];
    },
    health: () => ({
      credentialHelper: credentials.status(),
      writes: watched.health(),
      redaction: {
        ...redactionHealth,
        ...(loadedParts.cache && { cache: loadedParts.cache() }),
        ...(loadedParts.totals && { totals: loadedParts.totals() }),
      },
    }),
    async shutdown() {
      try {
        await control.shutdown();
      } finally {
        credentials.close();
      }
    },
  };
}

/** A title is stored as it is shown, so that it passes redaction like everything else that is stored. */
function readableStore(store: SessionStore, redaction: Promise<Redaction>): Harness["store"] {
  return {
    get: (id) => store.get(id),
    list: (options) => store.list(options),
    read: (id, options) => store.read(id, options),
    async update(id, change) {
      if (change.title === undefined) return store.update(id, change);
      const [title] = (await redaction).output([{ type: "text", text: change.title }]);
      return store.update(id, { ...change, title: title?.type === "text" ? title.text : "" });
    },
  };
}

async function openTape(options: HarnessOptions, choose: () => Promise<ModelChoice>): Promise<OpenedTape> {
  if (options.cassette !== undefined) return (await import("./tape.ts")).openTape(options.cassette, options, choose);
  return { tape: noTape({ clock: options.clock, random: createSystemRandom() }), models: await choose() };
}
