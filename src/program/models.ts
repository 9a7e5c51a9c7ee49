/** Which models a program and its projects use. */
import type { Settings } from "#artifacts";
import { defined } from "#base";
import type { Provider } from "#engine";
import { chooseModel, createLimiters, type ModelChoice } from "#providers";
import { createSystemRandom } from "#world";
import { createCatalogCache } from "./catalog-cache.ts";
import type { HarnessOptions } from "./options.ts";

/** Choices of models that projects made and that are kept. */
const MAX_MODEL_CHOICES = 64;

export type ChooseModels = (settings: Settings) => Promise<ModelChoice>;

/** All choices share the rate limits of the program. */
export function modelChooser(options: HarnessOptions, extraProviders: readonly Provider[]): ChooseModels {
  const { env, credentials, clock, offlineAllowed, scenarioFile } = options;
  const ports = {
    ...{ env, credentials, clock, random: createSystemRandom() },
    limiterFor: createLimiters({ clock }),
    catalogs: createCatalogCache(env),
  };
  return (settings) =>
    chooseModel({
      settings,
      ...defined({ named: options.model }),
      offlineAllowed,
      extraProviders,
      scenarioFile,
      ports,
    });
}

/** Projects with the same models share a choice, and with it its connections. */
export function sharedChoices(settings: Settings, models: ModelChoice, choose: ChooseModels): ChooseModels {
  const keyOf = (one: Settings): string => JSON.stringify(one.models);
  const ofProgram = keyOf(settings);
  /** Oldest first. */
  const known = new Map<string, ModelChoice>();
  return async (wanted) => {
    const key = keyOf(wanted);
    const found = key === ofProgram ? models : known.get(key);
    if (found !== undefined) return found;
    const made = await choose(wanted);
    known.set(key, made);
    const [oldest] = known.keys();
    if (known.size > MAX_MODEL_CHOICES && oldest !== undefined) known.delete(oldest);
    return made;
  };
}
