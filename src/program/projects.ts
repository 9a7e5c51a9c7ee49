/**
 * The project that a command works on: the one place of the command line where files, scripts and built-in tools come together.
 * Reads files and runs nothing.
 */

import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type {
  ContextSource,
  LoadedProject,
  ModelConfig,
  OptionalPlaces,
  Problem,
  Project,
  ProjectLoader,
  ScriptChecker,
  ScriptSource,
  TrustPort,
} from "#artifacts";
import { mayHaveOptional } from "#artifacts/optional-look";
import { defined, ifThere, messageOf, nearestName } from "#base";
import type { checkRules as CheckRules } from "#governance";
import { ReasonError } from "#protocol";
import { harnessCache } from "#stores";
import { createSystemRandom } from "#world";
import type { BuildInfo } from "./build-info.ts";
import type { ProjectPorts } from "./ports.ts";
import { namesProject } from "./project-names.ts";
import type { ContextValues, RunFlags } from "./run-flags.ts";
import { loadConfig } from "./user-config-file.ts";
import { hasUserSkills, loadOwnSkills } from "./user-skills.ts";

/** The policy of whoever runs the machine. */
const ADMIN_POLICY = "/etc/harness/policy.md";
export const PROJECT_FILES = ["harness.md", "harness.yaml", "harness.yml"];

/** Whether a `condition:` holds for the values of the run context; `failed` says why it cannot be told. */
export type ConditionResult = { readonly holds: boolean; readonly failed?: string };
export type ConditionCheck = (condition: ScriptSource) => ConditionResult;

export interface ProjectPlace {
  /** `-c`: a project file. */
  readonly config?: string;
  /** Default: the current folder. */
  readonly dir?: string;
  /** `--no-project`: the policy of the machine alone. */
  readonly adminOnly?: boolean;
  /** Instead of the policy of the machine; only for looking at it. */
  readonly adminPolicy?: string;
  /** The shell hooks of the project may run once they were acked; without it nobody is asked about them. */
  readonly projectHooks?: boolean;
  /** A configuration file instead of the user's usual one. */
  readonly userConfig?: string;
  /** Instead of `context_sources` of the configuration file. */
  readonly contextSources?: readonly ContextSource[];
  /** Packs of skills from outside the project. Default: those that ship with the program. */
  readonly skillPacks?: readonly string[];
  /** False: skills of the project alone. */
  readonly ownSkills?: boolean;
  /** `--allowed-domain`: hosts beside those that the project names. */
  readonly allowedDomains?: readonly string[];
}

export interface OpenedProject {
  readonly loader: ProjectLoader;
  readonly loaded: LoadedProject;
  readonly root: string;
  /** What people call it: its project file, or `.harness` where there is none. */
  readonly name: string;
  /** How long reading and checking took. */
  readonly tookMs: number;
}

/** The flags without a `-c` that names the project. */
export function userFlags<Flags extends Pick<RunFlags, "config">>({
  config,
  ...flags
}: Flags): Omit<Flags, "config"> & Pick<RunFlags, "config"> {
  return config === undefined || namesProject(config) ? flags : { ...flags, config };
}

/** Whether there is anything to load: a cheap look, so that a plain folder costs nothing. */
export function mayHaveProject(ports: ProjectPorts, place: ProjectPlace): boolean {
  if (place.config !== undefined || place.allowedDomains !== undefined) return true;
  if (place.adminOnly === true) return existsSync(adminPolicy(ports.env));
  const root = resolve(ports.cwd, place.dir ?? ".");
  const names = ["harness.md", "harness.yaml", "harness.yml", ".harness"];
  if (hasUserSkills(ports, place.skillPacks)) return true;
  if (names.some((name) => existsSync(join(root, name))) || existsSync(adminPolicy(ports.env))) return true;
  return mayHaveOptional(ifThere(() => realpathSync.native(root)) ?? root);
}

/**
 * Loads the project with everything that is wrong in it. Throws when the named file or folder is not there. Without `trust` it is
 * loaded to be looked at: scripts are checked, with nothing in their reach, and nothing of it takes effect.
 */
export async function openProject(
  ports: ProjectPorts,
  place: ProjectPlace,
  trust?: (root: string) => TrustPort,
): Promise<OpenedProject> {
  const [{ createProjectLoader, withOwnSkills }, { createScriptChecker }, { checkRules }, common] = await Promise.all([
    import("#artifacts"),
    import("#script"),
    import("#governance"),
    loadOptions(ports, place, trust),
  ]);
  const startMs = ports.clock.monotonicMs();
  const checker = { ...createScriptChecker(), ...findingsVersion(ports.build) };
  const files = await createProjectLoader({ ...common.options, checker });
  const { allowedDomains = [] } = place;
  // A project that takes effect may name the provider of a plugin.
  const providers = trust === undefined ? await providerNames() : undefined;
  const skills =
    place.adminOnly === true || place.ownSkills === false ? undefined : await loadOwnSkills(ports, place.skillPacks);
  const loader = changed(files, (loaded) => {
    const checked = providers === undefined ? loaded : withProviders(loaded, providers);
    const ruled = withDomains(withRules(checked, checkRules), allowedDomains);
    return skills === undefined ? ruled : withOwnSkills(ruled, skills);
  });
  return { ...common, loader, loaded: loader.load(), tookMs: ports.clock.monotonicMs() - startMs };
}

/** As `openProject`, for one look: what was found before by the same build is not looked for again. */
export async function lookAtProject(ports: ProjectPorts, place: ProjectPlace): Promise<Omit<OpenedProject, "loader">> {
  const { version } = findingsVersion(ports.build);
  if (version === undefined) return openProject(ports, { ...place, ownSkills: false });
  const [{ loadProject }, common] = await Promise.all([import("#artifacts"), loadOptions(ports, place)]);
  const startMs = ports.clock.monotonicMs();
  const loaded = await loadProject({
    ...common.options,
    checkerVersion: version,
    checker: async () => (await import("#script")).createScriptChecker(),
  });
  const hasRules = (loaded.project?.config.permissions.length ?? 0) > 0;
  const ruled = hasRules ? withRules(loaded, (await import("#governance")).checkRules) : loaded;
  const namesModel = modelsOf(loaded.project).length > 0;
  const checked = namesModel ? withProviders(ruled, await providerNames()) : ruled;
  return { ...common, loaded: checked, tookMs: ports.clock.monotonicMs() - startMs };
}

async function loadOptions(ports: ProjectPorts, place: ProjectPlace, trust?: (root: string) => TrustPort) {
  const [{ builtinToolNames }, { cacheKey }] = await Promise.all([import("#tools"), import("./project-keys.ts")]);
  const { root, configFile } = locateProject(ports, place);
  const optional = await optionalPlaces(ports, place);
  const named = ports.env.HARNESS_ADMIN_POLICY;
  // Where something is to take effect, nothing sets the machine's own policy aside.
  const looked = trust === undefined ? place.adminPolicy : undefined;
  return {
    root,
    name: configFile === undefined ? defaultName(root) : basename(configFile),
    options: {
      root,
      ...defined({ configFile }),
      adminPolicy: looked ?? adminPolicy(ports.env),
      adminPolicyRequired: looked !== undefined || (named !== undefined && named !== ""),
      cache: {
        folder: join(harnessCache(ports.env), "projects"),
        key: cacheKey(ports.env),
        onProblem: (message: string) => ports.terminal.err(`warning: ${message}\n`),
      },
      // Whoever looks at a project sees what it would run.
      optional: trust === undefined ? { ...optional, projectHooks: true } : optional,
      ...(trust === undefined
        ? { trust: await lookingTrust(ports, realpathSync.native(root)), mayWait: true }
        : { trust: trust(realpathSync.native(root)) }),
      ...(place.adminOnly === true ? { adminOnly: true } : {}),
      knownTools: builtinToolNames,
    },
  };
}

/** What the user chose about optional files. */
export async function optionalPlaces(ports: ProjectPorts, place: ProjectPlace): Promise<OptionalPlaces> {
  const { contextSources, projectHooks } = place;
  if (contextSources !== undefined && projectHooks !== undefined) return { contextSources, projectHooks };
  const { settings } = await loadConfig(ports, place.userConfig);
  return {
    contextSources: contextSources ?? settings.contextSources,
    projectHooks: projectHooks ?? settings.allowProjectHooks,
  };
}

/** For whoever only looks at a project: its artifacts as they are, of optional files those that the user allowed. */
async function lookingTrust(ports: ProjectPorts, root: string): Promise<TrustPort> {
  if (!mayHaveOptional(root)) return (await import("#artifacts")).trustsAll;
  const [{ isOptionalKind }, { userTrust }] = await Promise.all([import("#artifacts"), import("./user-trust.ts")]);
  const own = userTrust(ports, root);
  return {
    judge(files) {
      const { awaiting, denied } = own.judge(files);
      // Hooks are shown as they are, like all others of the project: nothing of them runs.
      const isHook = (kind: string): boolean => kind === "hooks" || kind === "hookScript";
      return { awaiting: awaiting.filter(({ kind }) => isOptionalKind(kind) && !isHook(kind)), denied };
    },
  };
}

function changed(loader: ProjectLoader, change: (loaded: LoadedProject) => LoadedProject): ProjectLoader {
  return {
    load: () => change(loader.load()),
    touch: loader.touch,
    refresh() {
      const loaded = loader.refresh();
      return loaded === undefined ? undefined : change(loaded);
    },
  };
}

/** A project whose permission rules are wrong, or break their examples, has an error like any other. */
function withRules(loaded: LoadedProject, checkRules: typeof CheckRules): LoadedProject {
  const { project, problems } = loaded;
  if (project === undefined) return loaded;
  const found = checkRules(project.config.permissions, project.config.permissionExamples);
  return found.length === 0 ? loaded : { problems: [...problems, ...found] };
}

async function providerNames(): Promise<readonly string[]> {
  const { vendors } = await import("#providers");
  return [...vendors.map(({ name }) => name), "scripted"];
}

function modelsOf(project: LoadedProject["project"]): readonly ModelConfig[] {
  if (project === undefined) return [];
  const { model, models } = project.config;
  return model === undefined ? models : [model, ...models];
}

function withProviders(loaded: LoadedProject, known: readonly string[]): LoadedProject {
  const wrong = modelsOf(loaded.project).flatMap(({ model, place }): Problem[] => {
    const provider = model.slice(0, model.indexOf(":"));
    if (known.includes(provider)) return [];
    const message = `model.provider: there is no provider "${provider}".`;
    const [expected, nearest] = [known.join(", "), nearestName(provider, known)];
    return [{ severity: "error", code: "unknown-provider", place, message, expected, ...defined({ nearest }) }];
  });
  return wrong.length === 0 ? loaded : { problems: [...loaded.problems, ...wrong] };
}

function withDomains(loaded: LoadedProject, domains: readonly string[]): LoadedProject {
  if (domains.length === 0 || loaded.project === undefined) return loaded;
  return { ...loaded, project: allowDomains(loaded.project, domains) };
}

/** Tells whether a `condition:` holds for these values; one that cannot be told does not hold. */
export async function conditionCheck(ports: ProjectPorts, values?: ContextValues): Promise<ConditionCheck> {
  const { condition, set } = await expressions(ports, values);
  return (source) => {
    try {
      return { holds: condition(source)(set) };
    } catch (error) {
      return { holds: false, failed: messageOf(error) };
    }
  };
}

/** The text of an expression for these values. Throws. */
export async function expressionTexts(
  ports: ProjectPorts,
  values?: ContextValues,
): Promise<(source: ScriptSource) => string> {
  const { text, set } = await expressions(ports, values);
  return (source) => text(source)(set);
}

async function expressions({ clock }: ProjectPorts, values: ContextValues = {}) {
  const { createRunStates, createScripts } = await import("#script");
  const nothing = (): undefined => undefined;
  // As in a session: null takes a value away.
  const set = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  const scripts = createScripts({
    clock,
    random: createSystemRandom(),
    host: { args: [], hostname: "", platform: process.platform },
    states: createRunStates(),
    env: nothing,
    secret: nothing,
    log: nothing,
    emit: nothing,
    maxCallDepth: 0,
  });
  return { ...scripts, set };
}

/** The project, or a ackRefusal that names every problem. */
export function soundProject({ project, problems }: LoadedProject): Project {
  if (project !== undefined) return project;
  const errors = problems.filter(({ severity }) => severity === "error");
  throw new ReasonError("ConfigInvalid", errors.map(problemText).join("\n"));
}

/** On one line but for what is expected: `harness.md:3:5: unknown key … Did you mean "model"?` */
export function problemText({ place, message, expected, nearest }: Problem): string {
  const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
  const right = expected === undefined ? "" : ` Expected: ${expected}.`;
  return `${place.file}:${place.line}:${place.column}: ${message}${right}${hint}`;
}

/** Where the project is. Throws when what was named is not there. */
export function locateProject(
  { cwd }: ProjectPorts,
  { config, dir }: ProjectPlace,
): { root: string; configFile?: string } {
  if (config === undefined) {
    const root = resolve(cwd, dir ?? ".");
    if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
      throw new ReasonError("ConfigInvalid", `there is no folder ${root}`);
    }
    return { root };
  }
  if (!namesProject(config)) {
    throw new ReasonError("UsageInvalid", `'${config}' is not a project file: name a harness.md or harness.yaml`);
  }
  const configFile = resolve(cwd, config);
  if (!statSync(configFile, { throwIfNoEntry: false })?.isFile()) {
    throw new ReasonError("ConfigInvalid", `cannot read ${configFile}: there is no such file`);
  }
  return { root: dir === undefined ? dirname(configFile) : resolve(cwd, dir), configFile };
}

function defaultName(root: string): string {
  return PROJECT_FILES.find((file) => existsSync(join(root, file))) ?? ".harness";
}

/** The one of the machine cannot be set aside: a variable names one only where the machine has none. */
function adminPolicy(env: ProjectPorts["env"]): string {
  const named = env.HARNESS_ADMIN_POLICY;
  if (named === undefined || named === "" || named === ADMIN_POLICY) return ADMIN_POLICY;
  if (existsSync(ADMIN_POLICY)) {
    const detail = `HARNESS_ADMIN_POLICY names ${named}, but this machine has ${ADMIN_POLICY}, which nothing can replace`;
    throw new ReasonError("ConfigInvalid", detail);
  }
  if (!isAbsolute(named) || !existsSync(named)) {
    throw new ReasonError("ConfigInvalid", `HARNESS_ADMIN_POLICY: there is no file ${named} (an absolute path)`);
  }
  return named;
}

/** What was found may be kept for the same build of the program; one that runs from its sources may change at any time. */
function findingsVersion({ version, commit, builtAt }: BuildInfo): Pick<ScriptChecker, "version"> {
  return commit === "source" ? {} : { version: `${version} ${commit} ${builtAt}` };
}

/** Adds to the project's own list, or makes one; what the machine's policy refuses stays refused. */
function allowDomains(project: Project, domains: readonly string[]): Project {
  const added = domains.map((pattern) => ({ pattern, place: { file: "--allowed-domain", line: 1, column: 1 } }));
  const { networks } = project.config;
  const own = networks.find(({ tier }) => tier === "project");
  const allowedDomains = [...(own?.network.allowedDomains ?? []), ...added];
  const others = networks.filter((entry) => entry !== own);
  return {
    ...project,
    config: { ...project.config, networks: [...others, { tier: "project", network: { allowedDomains } }] },
  };
}
