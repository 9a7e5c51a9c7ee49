/** What each case needs before it runs: its project, its model, the names it may use; and how its program is put together. */

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { applyProject, defaultSettings, type Project, type ProjectLoader, type Settings } from "#artifacts";
import { canonicalHash, defined } from "#base";
import {
  assembleHarness,
  type Harness,
  type LogFlags,
  loadSettings,
  openProject,
  openServiceLog,
  type ProgramPorts,
  type ReviewFiles,
  type RunFlags,
  scenarioFile,
  soundProject,
} from "#program";
import { ReasonError } from "#protocol";
import { chooseModel, parseScenario, staticModels, vendors } from "#providers";
import { toolFacts } from "#tools";
import { createSystemRandom } from "#world";
import { chooseMode, type ModeFacts } from "./case-mode.ts";
import type { LoadedCase } from "./load-suite.ts";
import type { KnownNames } from "./references.ts";
import type { CaseOpening } from "./run-case.ts";
import type { PlannedCase } from "./run-suite.ts";

export interface EvalFlags extends Pick<RunFlags, "model" | "config" | "lockfile" | "allow" | "deny">, LogFlags {
  readonly wanted?: NonNullable<ModeFacts["wanted"]>;
  /** Puts files of a project to somebody who reads them. Absent where nobody can be asked. */
  readonly review?: ReviewFiles;
}

export interface PreparedCase extends PlannedCase {
  readonly known: KnownNames;
  open(opening: CaseOpening): Promise<Harness>;
}

export interface EvalCases {
  /** Throws a ReasonError when the project, the scenario or the model of a case cannot be used. Asks no model. */
  prepare(loaded: LoadedCase): Promise<PreparedCase>;
}

export async function createEvalCases(ports: ProgramPorts, flags: EvalFlags): Promise<EvalCases> {
  const { env, clock } = ports;
  // All cases share it, and none of them ends it.
  const credentials = { ...ports.credentials, close: () => undefined };
  const { settings: users } = await loadSettings(ports, flags);
  const { watch } = await openServiceLog(ports, flags);
  const projects = new Map<string, Promise<Project>>();

  /** Once for all cases: they are about the same files, also when somebody edits them meanwhile. */
  function projectOf(file: string): Promise<Project> {
    const known = projects.get(file) ?? openAcked(ports, file, flags);
    projects.set(file, known);
    return known;
  }

  async function hasKey(settings: Settings, model: string | undefined): Promise<boolean> {
    try {
      await chooseModel({
        settings,
        ...defined({ named: model }),
        offlineAllowed: false,
        extraProviders: [],
        scenarioFile: (name) => scenarioFile(ports, name),
        ports: { env, credentials, clock, random: createSystemRandom() },
      });
      return true;
    } catch (error) {
      const isMissing =
        error instanceof ReasonError && ["MissingCredential", "ModelNotConfigured"].includes(error.reason);
      if (isMissing) return false;
      throw error;
    }
  }

  return {
    async prepare(loaded) {
      const { evalCase, path, cassette } = loaded;
      const { setup } = evalCase;
      const project = setup.config === undefined ? undefined : await projectOf(findConfig(path, setup.config.value));
      const inline = project === undefined ? await inlineProject(ports, loaded) : undefined;
      const whole = project ?? inline;
      const playsOwn = flags.model === undefined && loaded.scenario !== undefined;
      if (loaded.scenario !== undefined) await parseScenario(loaded.scenario.text, loaded.scenario.shown);
      const live = caseSettings(users, whole);
      // A replay reaches nothing, so nothing of this machine may matter.
      const recorded = caseSettings(defaultSettings, whole);
      const named = flags.model ?? (playsOwn ? undefined : (evalCase.model?.value ?? env.HARNESS_MODEL));
      const model = playsOwn ? `scripted:${evalCase.name}` : named && fullName(named, live, ports);
      // A scenario that cannot be played is refused here.
      const isScripted = playsOwn || (named?.startsWith("scripted:") === true && (await hasKey(live, model)));
      const choice = await chooseMode({
        ...defined({ wanted: flags.wanted }),
        isScripted,
        isCi: isSet(env.CI),
        hasCassette: existsSync(cassette),
        hasKey: () => hasKey(live, model),
      });
      return {
        loaded,
        choice,
        known: knownNames(whole),
        open: ({ mode, workspace, plugin, scenarioFile: own, cassette: file }) =>
          assembleHarness({
            settings: withCase(mode === "replay" ? recorded : live, loaded),
            env,
            credentials,
            clock,
            workspace,
            offlineAllowed: false,
            scenarioFile: (name) => (playsOwn && own !== undefined ? own : scenarioFile(ports, name)),
            store: { kind: "memory" },
            autoApprove: false,
            // Results would differ by machine.
            ownMemories: false,
            plugins: [plugin, watch.plugin],
            context: setup.context,
            args: ["harness", "eval"],
            ...(mode === "record" ? { cassette: { record: file } } : {}),
            ...(mode === "replay" ? { cassette: { replay: file } } : {}),
            ...defined({ model }),
            ...(whole === undefined ? {} : { projects: async () => ({ project: whole, loader: fixed(whole) }) }),
          }),
      };
    },
  };
}

/** Of the user's settings, what says how models are reached and what is refused. The rest would make results differ by machine. */
function caseSettings(users: Settings, project: Project | undefined): Settings {
  const { models, prices, rateLimits, sandbox, network, redaction } = users;
  const own: Settings = {
    ...defaultSettings,
    models,
    prices,
    rateLimits,
    sandbox,
    redaction,
    permissions: users.permissions.filter(({ effect, source }) => effect === "deny" || source === "--allow"),
    ...defined({ network }),
  };
  if (project === undefined) return own;
  return { ...applyProject(own, project), sandbox: project.config.sandbox === "required" ? "required" : sandbox };
}

function withCase(settings: Settings, { evalCase: { setup } }: LoadedCase): Settings {
  return {
    ...settings,
    permissions: [...settings.permissions, ...setup.rules],
    ...defined({ systemPrompt: setup.systemPrompt }),
  };
}

async function openAcked(ports: ProgramPorts, file: string, { lockfile, review }: EvalFlags): Promise<Project> {
  const { openTrustedProject } = await import("#program/trusted-project");
  return soundProject(
    (await openTrustedProject(ports, { config: file, ownSkills: false }, defined({ review, lockfile }))).loaded,
  );
}

/** What is written in the case, under the policy of the machine: these tools and hooks, and no others. */
async function inlineProject(ports: ProgramPorts, { evalCase, path }: LoadedCase): Promise<Project> {
  const { tools, hooks, builtinTools } = evalCase.setup;
  const above = soundProject((await openProject(ports, { adminOnly: true })).loaded);
  const allow = [...builtinTools, ...tools.map(({ name, place }) => ({ pattern: name, place }))];
  const policy = { mode: "allowlist", allow, deny: [], place: evalCase.place } as const;
  return {
    ...above,
    root: dirname(path),
    version: canonicalHash([above.version, basename(path), tools, hooks]),
    tools: [...above.tools, ...tools],
    hooks: [...above.hooks, ...hooks],
    config: { ...above.config, toolsPolicies: [...above.config.toolsPolicies, { tier: "project", policy }] },
  };
}

/** In the folder of the case, then in those above it. */
function findConfig(path: string, written: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const file = join(folder, written);
    if (existsSync(file)) return file;
    if (folder !== dirname(folder)) continue;
    throw new ReasonError("ConfigInvalid", `${path}: there is no ${written} in its folder, nor in one above it`);
  }
}

/** A bare name is that of a listed model, else of the vendor that has such a model; with several, of the one whose key is set. */
function fullName(model: string, { models }: Settings, { credentials }: ProgramPorts): string {
  const isListed = models.some((one) => one.model.slice(one.model.indexOf(":") + 1) === model);
  if (model.includes(":") || isListed) return model;
  const having = vendors.filter(({ name }) => staticModels(name).some(({ id }) => `${name}:${model}`.startsWith(id)));
  const usable = having.find(({ name, keyVariables }) =>
    credentials.holds({ provider: name, variables: keyVariables }),
  );
  const vendor = usable ?? having[0];
  return vendor === undefined ? model : `${vendor.name}:${model}`;
}

function knownNames(project: Project | undefined): KnownNames {
  const builtin = toolFacts.flatMap(({ name, label }) => [name, label]);
  return {
    tools: [...builtin, ...(project?.tools ?? []).map(({ name }) => name)],
    hooks: (project?.hooks ?? []).map(({ name }) => name),
    agents: (project?.agents ?? []).map(({ name }) => name),
    isOpen: project?.config.meta.enabled ?? false,
  };
}

/** Does not look at the files again. */
function fixed(project: Project): ProjectLoader {
  return { load: () => ({ project, problems: [] }), refresh: () => undefined, touch: () => undefined };
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "false" && value !== "0";
}
