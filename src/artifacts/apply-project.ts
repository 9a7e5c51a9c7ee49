/** What a project says about things that settings decide. */
import type { ContextConfig, ModelConfig, Project, ProjectConfig } from "./project.ts";
import type { ContextSettings, ModelSettings, Settings } from "./settings.ts";

/**
 * The project's models replace the user's, and its limit of steps holds. Everything that may change while a session runs (rules,
 * strictness, budgets, lists of domains, identity, context) stays with the project: the session reads it there, at each step.
 */
export function applyProject(settings: Settings, { config }: Project): Settings {
  const named = [...(config.model === undefined ? [] : [config.model]), ...config.models];
  const unique = named.filter((one, index) => named.findIndex(({ model }) => model === one.model) === index);
  return {
    ...settings,
    ...(unique[0] === undefined
      ? {}
      : { origins: { ...settings.origins, default_model: `${unique[0].place.file}:${unique[0].place.line}` } }),
    models: unique.length === 0 ? settings.models : unique.map((one) => toSettings(one, settings.models)),
    maxSteps: Math.min(config.maxSteps ?? settings.maxSteps, config.maxStepsCap ?? Number.POSITIVE_INFINITY),
  };
}

/** A field of the project comes before that of the user, and that before the default of projects. */
export function contextInForce(user: ContextSettings, project: ProjectConfig | undefined): ContextConfig {
  return { files: [], ...project?.contextDefaults, ...user, ...project?.context };
}

/** Of models that a `harness.md` names, where neither it nor the user says. */
const PROJECT_DEFAULTS = { maxTokens: 4096, temperature: 0.7 } as const;

/**
 * What the user says about the same model fills the gaps, except when the project sends it to another address or takes another
 * variable: the user's key and headers were not meant for that.
 */
function toSettings({ place: _, ...model }: ModelConfig, users: readonly ModelSettings[]): ModelSettings {
  const choosesKey = model.baseUrl !== undefined || model.apiKeyEnv !== undefined;
  const isAgreed = users.some((one) => sendsSameKey(one, model));
  const isOurs = (one: ModelSettings): boolean =>
    one.model === model.model && (isAgreed || model.baseUrl === undefined);
  const foreign = choosesKey && !isAgreed ? { fromProject: true as const } : {};
  return { ...PROJECT_DEFAULTS, ...users.find(isOurs), ...model, ...foreign };
}

/** Whether the user sends the same key of the same provider to the same address. */
function sendsSameKey(user: ModelSettings, project: Omit<ModelConfig, "place">): boolean {
  const [vendors, addresses] = [
    [user, project].map(({ model }) => model.slice(0, model.indexOf(":"))),
    [user, project].map(({ baseUrl }) => baseUrl?.replace(/\/+$/, "")),
  ];
  return vendors[0] === vendors[1] && addresses[0] === addresses[1] && user.apiKeyEnv === project.apiKeyEnv;
}
