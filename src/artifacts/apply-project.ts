/** What a project says about things that settings decide. */
import type { ModelConfig, Project } from "./project.ts";
import type { ModelSettings, Settings } from "./settings.ts";
import { tighterBudgets } from "./tiers.ts";

/**
 * The project's models replace the user's, its rules join them, and its limits hold where they are tighter. Identity, context
 * and everything that may change while the program runs stays with the project and is not copied into settings.
 */
export function applyProject(settings: Settings, { config }: Project): Settings {
  const named = [...(config.model === undefined ? [] : [config.model]), ...config.models];
  const unique = named.filter((one, index) => named.findIndex(({ model }) => model === one.model) === index);
  return {
    ...settings,
    models: unique.length === 0 ? settings.models : unique.map((one) => toSettings(one, settings.models)),
    permissions: [...settings.permissions, ...config.permissions],
    strictPermissions: settings.strictPermissions || config.strictPermissions === true,
    maxSteps: Math.min(config.maxSteps ?? settings.maxSteps, config.maxStepsCap ?? Number.POSITIVE_INFINITY),
    budgets: tighterBudgets(settings.budgets, config.budgets),
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
