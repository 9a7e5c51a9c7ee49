/** From flags to a running program: configuration, model and store, with the messages a person needs when one is wrong. */

import { dirname, isAbsolute, join, resolve } from "node:path";
import { applyProject, type LoadedConfig, type PermissionRule, type Project, type Settings } from "#artifacts";
import { defined, messageOf, paint, visibleLines } from "#base";
import { PERMISSION_TIMEOUT_MS } from "#control";
import { ReasonError } from "#protocol";
import { createSigner, foldersApart, harnessPaths, machineKeySource, ownFolders, scratchBase } from "#stores";
import { storeChoice, storeKinds, UPGRADING_TEXT } from "#stores/kinds";
import { refusedWorkspace } from "#world";
import { assembleHarness } from "./assemble.ts";
import { type EventWatch, watchEvents } from "./event-watch.ts";
import { keepRule } from "./keep-rule.ts";
import { keptHeads } from "./kept-heads.ts";
import { createKeptProfiles } from "./kept-profiles.ts";
import type { Harness, HarnessOptions } from "./options.ts";
import type { ProgramPorts } from "./ports.ts";
import { knownProfiles, profilesOf } from "./profile-files.ts";
import { loadUserSettings, profileChange, withProfile, withSecretsOfProfiles } from "./profiles.ts";
import { namesProject } from "./project-names.ts";
import type { ReviewServers } from "./project-servers.ts";
import { mayHaveProject, type ProjectPlace, problemText, soundProject, userFlags } from "./projects.ts";
import { createRawDump } from "./raw-dump.ts";
import { loadRedaction } from "./redaction.ts";
import { ruleWarnings } from "./rule-warnings.ts";
import type { RunFlags } from "./run-flags.ts";
import { type LogFlags, openProgramLog } from "./service-log.ts";
import type { ReviewFiles, TrustedProject } from "./trusted-project.ts";
import { undoPlace } from "./undo-place.ts";
import { configFile } from "./user-config-file.ts";
import { loadPlugins } from "./user-plugins.ts";
import { loadUserWords } from "./user-words.ts";

/** A person at the terminal may take their time; Ctrl-C is always there. */
const TERMINAL_ANSWER_MS = 24 * 60 * 60 * 1000;

const AUTO_APPROVE_TEXT =
  "every permission request is approved without asking. Deny rules, plan mode and the sandbox still apply, and changes to steering files still ask.";

export interface OpenOptions {
  readonly flags: RunFlags & LogFlags;
  readonly offlineAllowed: boolean;
  /** Absolute paths. */
  readonly cassette?: NonNullable<HarnessOptions["cassette"]>;
  /** Puts files of the project to somebody who reads them. Absent where nobody can be asked. */
  readonly review?: ReviewFiles;
  /** The same for its MCP servers. */
  readonly reviewServers?: ReviewServers;
  /** Of a log that is open already; default: one that is opened with the program. */
  readonly watch?: EventWatch;
  /** For `/health`. Default: this is no daemon. */
  readonly daemonSeen?: NonNullable<HarnessOptions["daemonSeen"]>;
  /** The project of the default folder is looked at when a session is opened there, not before: its files may not be acked. */
  readonly projectLater?: boolean;
  /** Clients come and go over a wire: questions wait for a person, but not for ever. */
  readonly isService?: boolean;
  /** Clients name the folders of their sessions, so that the default one need not be usable. */
  readonly foldersNamed?: boolean;
  /** Files of the program that commands must not see, besides the usual ones. */
  readonly ownPaths?: readonly string[];
  /** Questions go over a wire and wait for `permission_timeout`; default: as long as a person at the terminal may want. */
  readonly isOverWire?: boolean;
  /** For clients that change schedules. Default: they cannot. */
  readonly startDaemon?: NonNullable<HarnessOptions["startDaemon"]>;
  /** Values that conditions see as `ctx`, in every session. */
  readonly context?: NonNullable<HarnessOptions["context"]>;
}

export interface OpenedProgram {
  readonly harness: Harness;
  readonly settings: Settings;
  readonly workspace: string;
  /** Absent where the folder has none. */
  readonly project?: Project;
}

export async function openProgram(ports: ProgramPorts, options: OpenOptions): Promise<OpenedProgram> {
  const { terminal, env, clock } = ports;
  const { flags, offlineAllowed, cassette } = options;
  // The session of a replay has the id that it had: it may be in the log already.
  const isReplay = cassette !== undefined && "replay" in cassette;
  const store = isReplay ? "memory" : flags.store;
  const place = await withProfile(ports, projectPlace(flags), userFlags(flags));
  if (options.foldersNamed !== true) refuseFolder(ports, place);
  // A folder without a project pays nothing for what projects need.
  // What the machine's policy says holds from the beginning, also where the project comes later.
  const first = options.projectLater === true ? { ...place, adminOnly: true } : place;
  const opened = mayHaveProject(ports, first) ? await openTrusted(ports, first, options) : undefined;
  const workspace = opened?.root ?? resolve(ports.cwd, flags.cwd ?? ".");
  const project = opened === undefined ? undefined : soundProject(opened.loaded);
  const { settings: merged, warnings } = await loadSettings(ports, userFlags(flags), project);
  const { settings, notices } = await withProjectServers(ports, merged, opened, options.reviewServers);
  const userWords = await loadUserWords(env);
  const unmatched = isReplay ? [] : ruleWarnings(settings, project, options.projectLater !== true);
  const problems = (opened?.loaded.problems ?? []).map(problemText);
  const told = [...problems, ...warnings, ...notices, ...unmatched, ...userWords.warnings];
  if (told.length > 0) {
    const { text } = await ports.outward.load();
    for (const warning of told) {
      terminal.err(text(`${paint(terminal, "yellow", `warning: ${visibleLines(warning)}`)}\n`));
    }
  }
  const { plugin, serverLog } = options.watch ?? watchEvents(await openProgramLog(ports, settings.log, flags));
  const plugins = await loadPlugins(settings, clock);
  const named = flags.model ?? env.HARNESS_MODEL;
  const scratch = scratchBase(env);
  const key = machineKeySource(env);
  const { isDurable } = storeKinds[store];
  const harness = await assembleHarness({
    settings,
    env,
    credentials: ports.credentials,
    clock,
    workspace,
    ...defined({ scratch }),
    offlineAllowed,
    scenarioFile: (name) => scenarioFile(ports, name),
    store: storeChoice(store, { workspace, env, key, onUpgrade: () => terminal.err(UPGRADING_TEXT) }),
    signer: createSigner(() => harnessPaths(env).configDir),
    ...(isDurable ? { heads: keptHeads(ports, key, settings.audit) } : {}),
    undo: !isDurable || flags.undo === "off" || cassette !== undefined ? "off" : undoPlace(ports),
    autoApprove: flags.autoApprove === true,
    ...(options.isService === true ? { waitsForHumans: true } : {}),
    permissionTimeoutMs:
      options.isOverWire === true ? (settings.permissionTimeoutMs ?? PERMISSION_TIMEOUT_MS) : TERMINAL_ANSWER_MS,
    projects: projectsOf(ports, workspace, options.projectLater === true ? undefined : opened, options),
    args: ["harness", ...ports.args],
    plugins: [plugin, ...plugins],
    userWords,
    outward: () => ports.outward.load(),
    redaction: async () => {
      const { credentials } = ports;
      return loadRedaction({ settings: await withSecretsOfProfiles(env, settings), env, clock, credentials });
    },
    profiles: {
      known: (here) => knownProfiles(ports, here && profilesOf(here)),
      settings: async (profile, resumed) => {
        const wanted = underProfile(userFlags(flags), profile);
        const { settings: own } = await loadUserSettings(ports, wanted, undefined, resumed);
        return mergedSettings(own, wanted, undefined);
      },
      change: profileChange,
      keep(session, profile) {
        if (!isDurable) return;
        try {
          createKeptProfiles(env).keep(session, profile);
        } catch (error) {
          serverLog(
            "warn",
            `the profile of ${session} was not kept, so it is not resumed without it: ${messageOf(error)}`,
          );
        }
      },
    },
    serverLog,
    ...defined({ ownPaths: options.ownPaths }),
    checkToken: async (token) => {
      // Only a daemon has clients with tokens; their inputs can wait in a session that is gone on with here.
      const [{ createTokenRecords, tokenValidity }, { stateDir }] = [await import("#auth"), harnessPaths(env)];
      return tokenValidity({ records: createTokenRecords(stateDir), clock }, token);
    },
    ...defined({ context: options.context, startDaemon: options.startDaemon, daemonSeen: options.daemonSeen }),
    traceCall: createRawDump(ports),
    howToAddRule: (rule) => `--allow '${rule}'`,
    keepRule: (rule) => keepRule(configFile(ports, userFlags(flags).config), clock, rule),
    ...defined({ model: named, cassette }),
  });
  // What is replayed was decided when it was recorded.
  if (flags.autoApprove === true && !isReplay)
    terminal.err(`${paint(terminal, "yellow", "--auto-approve:")} ${AUTO_APPROVE_TEXT}\n`);
  return { harness, settings, workspace, ...defined({ project }) };
}

/** For whoever does not say it in another way. */
export function tellOffline({ terminal }: Pick<ProgramPorts, "terminal">, { offline }: Pick<Harness, "offline">): void {
  if (!offline) return;
  const how =
    "Store a key with harness creds add, set ANTHROPIC_API_KEY or another provider's variable, or name a model with --model.";
  terminal.err(`${paint(terminal, "yellow", "No model is configured: this is the offline scripted model.")} ${how}\n`);
}

/** The same with another profile; undefined: that of the program. */
function underProfile<Flags extends Pick<RunFlags, "profile" | "framework">>(
  flags: Flags,
  profile: string | undefined,
): Flags {
  return profile === undefined ? flags : { ...flags, profile, framework: false };
}

/** Before anything of the folder is read. A session that is opened there would be refused anyway. */
function refuseFolder({ cwd, env }: ProgramPorts, { dir, config }: ProjectPlace): void {
  const folder = resolve(cwd, dir ?? (config === undefined ? "." : dirname(config)));
  const detail = refusedWorkspace(folder, { env, own: ownFolders(env), apart: foldersApart(env) });
  if (detail !== undefined) throw new ReasonError("ConfigInvalid", `${detail} with --cwd`);
}

/** Ends all sessions; then, once a day, what has expired goes from the log. */
export async function closeProgram(
  ports: ProgramPorts,
  { harness, settings }: Pick<OpenedProgram, "harness" | "settings">,
  { store }: Pick<RunFlags, "store">,
): Promise<void> {
  await harness.shutdown();
  if (store !== "sqlite") return;
  const { applyDailyRetention } = await import("./daily-retention.ts");
  await applyDailyRetention(ports, settings);
}

/** Each session has a loader of its own, for each has to notice changes itself; the one that is there is for the first. */
function projectsOf(
  ports: ProgramPorts,
  workspace: string,
  opened: TrustedProject | undefined,
  options: OpenOptions,
): NonNullable<HarnessOptions["projects"]> {
  let unused = opened;
  return async (folder, profile, resumed) => {
    const flags = underProfile(userFlags(options.flags), profile);
    const place = projectPlace(options.flags);
    const { config, ...elsewhere } = folder === workspace ? place : { ...place, config: undefined, dir: folder };
    const asked = await withProfile(ports, config === undefined ? elsewhere : { ...elsewhere, config }, flags, resumed);
    const isSame = folder === workspace && profile === undefined;
    const found = isSame ? unused : undefined;
    if (found !== undefined) unused = undefined;
    else if (!mayHaveProject(ports, asked)) return undefined;
    const trusted = found ?? (await openTrusted(ports, asked, { ...options, flags: { ...options.flags, ...flags } }));
    const { loader, loaded, askForAck } = trusted;
    const project = soundProject(loaded);
    // Those of the program were made with the project that it was opened with.
    const isOfProgram = isSame && opened !== undefined;
    if (isOfProgram) return { loader, project, ...defined({ askForAck }) };
    const own = await loadUserSettings(ports, flags, profilesOf(project), resumed);
    const merged = mergedSettings(own.settings, flags, project);
    const { settings, notices } = await withProjectServers(ports, merged, trusted, options.reviewServers);
    for (const notice of [...(profile === undefined ? [] : own.warnings), ...notices])
      options.watch?.serverLog("warn", notice);
    return { loader, project, settings, ...defined({ askForAck }) };
  };
}

async function openTrusted(
  ports: ProgramPorts,
  place: ProjectPlace,
  { flags, review }: OpenOptions,
): Promise<TrustedProject> {
  const { openTrustedProject, ackCommand } = await import("./trusted-project.ts");
  const { lockfile } = flags;
  return openTrustedProject(ports, place, {
    ...defined({ review, lockfile }),
    command: ackCommand(ports, place, flags),
  });
}

/** With the servers of the project that somebody approved. Whoever can be asked is asked about the others first. */
async function withProjectServers(
  ports: ProgramPorts,
  settings: Settings,
  opened: TrustedProject | undefined,
  review: ReviewServers | undefined,
): Promise<{ readonly settings: Settings; readonly notices: readonly string[] }> {
  const project = opened?.loaded.project;
  if (opened === undefined || project === undefined || !declaresServers(project)) return { settings, notices: [] };
  const { usedServers } = await import("./project-servers.ts");
  if (opened.servers !== undefined) await review?.(project, settings, opened.servers);
  const { notices, mcpServers, agentServers } = usedServers(project, settings, ports.env, opened.answers);
  return { settings: { ...settings, mcpServers, agentServers }, notices };
}

function declaresServers({ config, agents, optional }: Project): boolean {
  if (config.mcpServers.length > 0 || optional.some(({ kind }) => kind === "mcp")) return true;
  return agents.some(({ mcpServers = [] }) => mcpServers.length > 0);
}

/** Where the flags say that the project is. */
export function projectPlace(flags: Partial<RunFlags>): ProjectPlace {
  const { config, cwd, allowedDomain, project, allowProjectHooks: projectHooks } = flags;
  if (project === false && config !== undefined && namesProject(config)) {
    throw new ReasonError("UsageInvalid", `--no-project cannot be combined with --config ${config}`);
  }
  return {
    ...(project === false ? { adminOnly: true } : {}),
    ...(config === undefined ? {} : namesProject(config) ? { config } : { userConfig: config }),
    ...defined({ dir: cwd, allowedDomains: allowedDomain, projectHooks }),
  };
}

/** Profile and configuration file, then the project, then flags; later wins, deny rules add up. */
export async function loadSettings(
  ports: ProgramPorts,
  flags: Pick<
    RunFlags,
    | "config"
    | "profile"
    | "framework"
    | "allow"
    | "deny"
    | "strictPermissions"
    | "maxSteps"
    | "sandbox"
    | "allowProjectHooks"
  >,
  project?: Project,
): Promise<LoadedConfig> {
  const { settings: own, warnings } = await loadUserSettings(ports, flags, project && profilesOf(project));
  ports.outward.use(await withSecretsOfProfiles(ports.env, own));
  return { warnings, settings: mergedSettings(own, flags, project) };
}

/** The file of the user, then the project, then flags. */
function mergedSettings(
  own: Settings,
  flags: Pick<RunFlags, "allow" | "deny" | "strictPermissions" | "maxSteps" | "sandbox" | "allowProjectHooks">,
  project: Project | undefined,
): Settings {
  const settings = project === undefined ? own : applyProject(own, project);
  const fromFlags: readonly PermissionRule[] = [
    ...(flags.allow ?? []).map((rule) => ({ effect: "allow" as const, rule, source: "--allow" })),
    ...(flags.deny ?? []).map((rule) => ({ effect: "deny" as const, rule, source: "--deny" })),
  ];
  return {
    ...settings,
    permissions: [...settings.permissions, ...fromFlags],
    strictPermissions: flags.strictPermissions ?? settings.strictPermissions,
    maxSteps: Math.min(flags.maxSteps ?? settings.maxSteps, project?.config.maxStepsCap ?? Number.POSITIVE_INFINITY),
    allowProjectHooks: flags.allowProjectHooks ?? own.allowProjectHooks,
    ...(flags.allowProjectHooks === true && {
      origins: { ...settings.origins, allow_project_hooks: "--allow-project-hooks" },
    }),
    sandbox: sandboxMode(flags.sandbox, project?.config.sandbox, settings.sandbox),
  };
}

/** What a project or the machine's policy requires stays required; only the user switches the sandbox off. */
function sandboxMode(
  flag: Settings["sandbox"] | undefined,
  project: Settings["sandbox"] | undefined,
  user: Settings["sandbox"],
): Settings["sandbox"] {
  return project === "required" ? "required" : (flag ?? user);
}

/** A plain word is a scenario that ships with the program, anything else a path. */
export function scenarioFile({ scenariosDir, cwd }: ProgramPorts, name: string): string {
  if (/^[a-z0-9-]+$/.test(name)) return join(scenariosDir, `${name}.yaml`);
  return isAbsolute(name) ? name : join(cwd, name);
}
