/** Opens one session: finds it and its folder, gives it ports, a log and a place in its tree, then its engine. */
import { isAbsolute } from "node:path";
import { contextInForce, loadFieldParser, optionalFiles } from "#artifacts";
import { defined } from "#base";
import { basePrompt, lastTurns } from "#context";
import type { Beginning, ImportedTurns, LiveSession, SessionLimits } from "#control";
import { createDelegationTree } from "#delegation";
import {
  type Approver,
  createRunContext,
  createSessionCore,
  type Reopened,
  type RunContext,
  refuseDelegate,
  reopenSession,
  type SessionCore,
  type SessionMeta,
  sumOf,
  type Tool,
} from "#engine";
import { createSessionLabels, createToolRates, deniedPrograms, newTreeUse, type SessionLabels } from "#governance";
import { type CommandOf, ReasonError, type SessionId } from "#protocol";
import { foldersApart } from "#stores";
import { refusedWorkspace } from "#world";
import { liveSession, ruleCommands } from "./commands.ts";
import { otherProfile } from "./continued-session.ts";
import { type OpenedProject, type SessionDependencies, withLimits, withSettings } from "./dependencies.ts";
import { createSessionEngine, type SessionEngine } from "./engine.ts";
import { sessionFacts } from "./facts.ts";
import { createInputCompletion, type InputCompletionParts } from "./input-completion.ts";
import { lifeOf, type TakenLog } from "./life.ts";
import { createSessionMemory, type SessionMemory } from "./memory.ts";
import { workspacePaths } from "./path-completion.ts";
import type { ProjectRuntime, ProjectRuntimeOptions } from "./project.ts";
import type { SessionServers } from "./servers.ts";
import { type HookedSession, openShellHooks, type ShellHooks } from "./shell-hooks.ts";
import { sessionSlash } from "./slash.ts";
import type { AgentTree, Birth } from "./tree.ts";
import { workOf, workWords } from "./work-words.ts";
import { openWorld, type SessionWorld } from "./world.ts";

export async function openSession(
  program: SessionDependencies,
  command: CommandOf<"CreateSession">,
  approver: Approver,
  birth?: Birth,
  onTaken?: () => void,
  { imported, limits }: Beginning = {},
): Promise<LiveSession> {
  const depth = birth?.spec.depth ?? program.depth;
  const redaction = await program.redaction;
  const found = await findSession(program, command, birth, limits);
  const { id, workspace, folder, opened } = found;
  const { settings, models } = found.dependencies;
  let runtime = birth?.place.runtime;
  const project = () => runtime?.live.current() ?? opened?.project;
  let session: HookedSession | undefined;
  let labels: SessionLabels | undefined = birth?.place.labels;
  const denied = () => {
    const held = labels?.held() ?? [];
    const rules = [...found.dependencies.rules, ...(runtime?.live.rules() ?? [])];
    return deniedPrograms(rules.filter((rule) => (rule.labels ?? []).every((label) => held.includes(label))));
  };
  // Commands begin in the folder of what starts them.
  const running = birth?.spec.folder === undefined ? birth?.place.processes : undefined;
  const shared = { running, servers: birth?.place.servers, agent: birth?.spec.agent };
  const memory =
    birth?.place.memory ??
    createSessionMemory({
      session: id,
      settings: settings.memory,
      store: program.tape.session(id).memory(program.memoryOf(folder)),
      repository: () => optionalFiles(project() ?? { optional: [] }, "memory").map(({ content }) => content),
      labels: () => labels?.held() ?? [],
      visible: (history) => lastTurns(history, contextInForce(settings.context, project()?.config).maxHistory),
    });
  const parts = { id, folder, dependencies: found.dependencies, project, deniedPrograms: denied, memory: memory.port };
  const world = await openWorld({ ...parts, ...shared });
  // A delegate has those of its root.
  const dependencies = birth === undefined ? withTools(found.dependencies, world.servers, memory) : found.dependencies;
  const taken = await takeLog(found, command, birth, onTaken);
  if (birth === undefined) dependencies.programServers.open.add(world.servers);
  try {
    // Prompts of servers can be typed before the first turn.
    if (birth === undefined) await world.servers.load();
    return await assemble();
  } catch (error) {
    dependencies.programServers.open.delete(world.servers);
    // Whoever tries again is not told that it is open here.
    await taken.log.release();
    throw error;
  }

  async function assemble(): Promise<LiveSession> {
    const context = birth?.place.context ?? createRunContext({ ...dependencies.context, ...command.context });
    const standing = basePrompt(settings);
    const isResumed = found.previous !== undefined;
    const shellHooks =
      birth?.place.shellHooks ??
      (await openShellHooks({ dependencies, world, isResumed, session: () => session, project }));
    if (opened !== undefined) {
      const { env, args, clock, ids, extensions } = dependencies;
      const { ports, machine } = world;
      const otherTools = (): readonly Tool[] => toolsOf(dependencies);
      const shared = { session: id, context, ports, env, args, machine, clock, ids, standing, otherTools, shellHooks };
      runtime = await createRuntime({ ...opened, ...shared, pluginHooks: extensions.hooks });
    }
    const { log, model, earlier, profile } = taken;
    const { clock, tape } = dependencies;
    const core = createSessionCore({ id, clock, log, redaction, model, ...defined({ schedule: tape.schedule }) });
    const shared = { found: { ...found, dependencies }, profile };
    const place =
      placeOf(birth, world) ??
      rootPlace({ ...shared, world, memory, earlier, imported, context, runtime, core, shellHooks });
    session = { core, mode: place.mode };
    labels = place.labels;
    const made = createSessionEngine({
      ...{ core, depth, dependencies, approver, birth, world, place, earlier, standing },
      openChild: (child, childModel, asked) =>
        openSession(
          dependencies,
          { kind: "CreateSession", profile, working_dir: child.spec.folder ?? workspace, model: childModel },
          asked,
          child,
        ),
    });
    const { engine, permission, rules, agreements, jobs } = made;
    const ruled = ruleCommands(engine.bus, permission, rules, dependencies.keepRule);
    const { servers } = place;
    const { isService } = dependencies;
    const work = workWords({ agreements, jobs, lasting: engine.lasting, mode: place.mode, clock, isService });
    const said = { model: () => engine.model, tools: engine.offered, redaction: core.redaction };
    const slash = sessionSlash({ ...place, ...said, dependencies, rules: ruled.rules, work });
    return {
      ...liveSession({ engine, models, context }),
      ...ruled,
      agreements,
      work: () => workOf({ agent: made, mode: place.mode, autoApprove: dependencies.autoApprove }),
      slash,
      describe: sessionFacts({ dependencies, core, engine, mode: place.mode, folder, servers, project, jobs }),
      describeAck: made.describeAck,
      completeInput: completionOf({ slash, servers, core, made, world, dependencies }),
      ...lifeOf({ depth, dependencies, birth, imported, world, place, session: made, ...taken }),
    };
  }
}

function completionOf({
  core: { redaction },
  made: { engine, rules, lookUp },
  world: { ports },
  dependencies: { clock, settings, tape },
  servers,
  slash,
}: Pick<InputCompletionParts, "slash" | "servers"> & {
  readonly core: SessionCore;
  readonly made: Pick<SessionEngine, "engine" | "rules" | "lookUp">;
  readonly world: SessionWorld;
  readonly dependencies: SessionDependencies;
}): LiveSession["completeInput"] {
  return createInputCompletion({
    ...{ slash, redaction, lookUp },
    // A replay has none that are connected.
    servers: tape.isOn ? { prompts: () => [], states: () => [] } : servers,
    paths: workspacePaths({ root: ports.files.root, clock, rules, lookUp }),
    models: () => [...new Set([engine.model, ...settings.models.map(({ model }) => model)])],
  });
}

/** Which session is opened, in which folder, and with what the project there says. */
interface FoundSession {
  readonly id: SessionId;
  /** Absent for a new one. */
  readonly previous: SessionMeta | undefined;
  /** By the name that the session knows. */
  readonly workspace: string;
  /** Where that is here. */
  readonly folder: string;
  readonly opened: OpenedProject | undefined;
  readonly dependencies: SessionDependencies;
}

async function findSession(
  program: SessionDependencies,
  { resume, working_dir, profile }: CommandOf<"CreateSession">,
  birth: Birth | undefined,
  limits: SessionLimits | undefined,
): Promise<FoundSession> {
  const { store, tape, ids } = program;
  const previous = resume === undefined ? undefined : await store.get(resume);
  if (resume !== undefined && previous === undefined) throw new ReasonError("SessionNotFound", { session: resume });
  if (working_dir !== undefined && !isAbsolute(working_dir)) {
    throw new ReasonError("InvalidCommand", "working_dir must be an absolute path");
  }
  if (previous !== undefined) await refuseDelegate(store, previous);
  const other = birth === undefined ? otherProfile(program, profile, previous) : undefined;
  const id = previous?.id ?? ids.session();
  const workspace = working_dir ?? previous?.workingDir ?? defaultFolder(program, id);
  // A replay may have it in another place than the recording, by whose name the session knows it.
  const folder = tape.here(workspace);
  // A delegate works where its parent does.
  const refused = birth === undefined ? refusal(program, folder) : undefined;
  if (refused !== undefined) throw new ReasonError("ConfigInvalid", refused);
  program.scratch?.open(folder);
  // A branch has the profile of the session that it came from.
  const resumed = previous && [previous.id, ...(previous.parent === undefined ? [] : [previous.parent])];
  const opened = birth === undefined ? await program.projects?.(folder, other, resumed) : undefined;
  const own = opened?.settings;
  const settings = own ?? (other === undefined ? undefined : await program.profiles?.settings(other, resumed));
  const dependencies = withLimits(await withSettings(program, settings), limits);
  return { id, previous, workspace, folder, opened, dependencies };
}

/** The folder of the program, or one of its own for the session where that cannot be a workspace. */
function defaultFolder(program: SessionDependencies, id: SessionId): string {
  const { workspace, scratch, tape } = program;
  if (scratch === undefined || tape.isOn) return workspace;
  return refusal(program, workspace) === undefined ? workspace : scratch.of(id);
}

function refusal({ env, ownPaths }: SessionDependencies, folder: string): string | undefined {
  return refusedWorkspace(folder, { env, own: ownPaths, apart: foldersApart(env) });
}

/** The lease of its log, which is made for a new session and read for one that was there before. */
async function takeLog(
  { id, previous, workspace, dependencies }: FoundSession,
  command: CommandOf<"CreateSession">,
  birth: Birth | undefined,
  onTaken?: () => void,
): Promise<TakenLog> {
  const { store, clock, models, namedModel, tape } = dependencies;
  const asked = command.model ?? (namedModel === undefined ? previous?.model : undefined);
  const model = asked === undefined ? models.model : await models.resolve(asked);
  const profile = dependencies.settings.profile.name;
  if (previous === undefined) {
    const createdAt = new Date(clock.now()).toISOString();
    const born = birth === undefined ? {} : { parent: birth.parent };
    await store.create({ id, workingDir: workspace, profile, model, createdAt, ...born });
  }
  const log = await store.acquire(id);
  try {
    // Not before: another process may have it.
    if (previous !== undefined) await store.update(id, { state: "active", model });
    if (birth === undefined && !tape.isOn) dependencies.profiles?.keep(id, dependencies.settings.profile);
    onTaken?.();
    const earlier = previous === undefined ? undefined : await reopenSession(store, log, id);
    return { log, earlier, model, profile };
  } catch (error) {
    await log.release();
    throw error;
  }
}

/** A worktree goes away with what was changed in it, so there is nothing to undo there. */
function placeOf(birth: Birth | undefined, { processes }: SessionWorld): AgentTree | undefined {
  if (birth?.spec.folder === undefined) return birth?.place;
  return { ...birth.place, workspace: birth.spec.folder, processes, undo: undefined };
}

/** Of a session that a client opened; its delegates will share it. */
function rootPlace({
  found: { id, workspace, dependencies },
  profile,
  world: { ports, processes, servers },
  memory,
  earlier,
  imported,
  context,
  runtime,
  core,
  shellHooks,
}: {
  readonly found: FoundSession;
  readonly profile: string;
  readonly world: SessionWorld;
  readonly memory: SessionMemory;
  readonly earlier: Reopened | undefined;
  readonly imported: ImportedTurns | undefined;
  readonly context: RunContext;
  readonly runtime: ProjectRuntime | undefined;
  readonly core: SessionCore;
  readonly shellHooks: ShellHooks;
}): AgentTree {
  const { settings, clock } = dependencies;
  return {
    workspace,
    profile,
    runtime,
    context,
    mode: {
      plan: earlier?.remains.planMode ?? false,
      base: earlier?.remains.lasting.base ?? "ask",
      delegates: new Set(),
    },
    processes,
    shellHooks,
    servers,
    memory,
    budget: newTreeUse(earlier && sumOf(earlier.remains.spent, earlier.remains.delegated)),
    tree: createDelegationTree(),
    sessionRules: [],
    labels: createSessionLabels(earlier?.remains.labels ?? imported?.labels),
    rates: createToolRates(settings.rateLimits.tools, clock),
    undo: dependencies.undo?.recorder(ports.files),
    allTools() {
      const { project, meta } = runtime?.tools() ?? { project: [], meta: [] };
      return [...toolsOf(dependencies), ...project, ...meta];
    },
    root() {
      const { running } = core.state;
      return running && { session: id, turn: running.turn };
    },
  };
}

function withTools(
  dependencies: SessionDependencies,
  servers: SessionServers,
  memory: SessionMemory,
): SessionDependencies {
  const own = [
    { name: "memory", tools: memory.tools },
    { name: "mcp", tools: servers.tools },
  ];
  return { ...dependencies, toolSources: [...dependencies.toolSources, ...own] };
}

/** Those that come from no project. */
function toolsOf({ toolSources }: SessionDependencies): readonly Tool[] {
  return toolSources.flatMap((source) => source.tools());
}

/** Loaded with the first session that has a project: a folder without one pays nothing for it. */
async function createRuntime(options: Omit<ProjectRuntimeOptions, "parseFields">): Promise<ProjectRuntime> {
  const [{ createProjectRuntime }, parseFields] = await Promise.all([import("./project.ts"), loadFieldParser()]);
  return createProjectRuntime({ ...options, parseFields });
}
