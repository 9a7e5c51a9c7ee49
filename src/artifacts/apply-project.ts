/** What a project says about things that settings decide. */
import type { ModelConfig, Project } from "./project.ts";
import type { ModelSettings, Settings } from "./settings.ts";

/**
 * The project's models replace the user's, and its limit of steps holds. Everything that may change while a session runs (rules,
 * strictness, budgets, lists of domains, identity, context) stays with the project: the session reads it there, at each step.
 */
export function applyProject(settings: Settings, { config }: Project): Settings {
  const named = [...(config.model === undefined ? [] : [config.model]), ...config.models];
  const unique = named.filter((one, index) => named.findIndex(({ model }) => model === one.model) === index);
  return {
    ...settings,
    models: unique.length === 0 ? settings.models : unique.map((one) => toSettings(one, settings.models)),
    maxSteps: Math.min(config.maxSteps ?? settings.maxSteps, config.maxStepsCap ?? Number.POSITIVE_INFINITY),
  };
}

/**
 * What the user says about the same model fills the gaps, except when the project sends it to another address: the user's
 * key variable and headers were not meant for that.
 */
function toSettings({ place: _, ...model }: ModelConfig, users: readonly ModelSettings[]): ModelSettings {
  const ofUser = model.baseUrl === undefined ? users.find((one) => one.model === model.model) : undefined;
  const choosesKey = model.baseUrl !== undefined || model.apiKeyEnv !== undefined;
  return { ...ofUser, ...model, ...(choosesKey ? { fromProject: true } : {}) };
}
