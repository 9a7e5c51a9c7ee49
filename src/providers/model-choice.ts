/**
 * Which model a program uses, and one Provider in front of all of them: the scripted one, those of plugins, and the
 * vendors behind the router. Without a name and without a key anywhere, the offline model plays,
 * where that is allowed.
 */
import type { ModelSettings, Settings } from "#artifacts";
import { estimateTokens, type Provider } from "#engine";
import { ReasonError } from "#protocol";
import type { ProviderPorts } from "./create.ts";
import { refused } from "./failure.ts";
import { withFallback } from "./fallback.ts";
import { defaultModel } from "./model-ref.ts";
import { createLimiters } from "./rate-limit.ts";
import { defaultRetryPolicy, withRetry } from "./retry.ts";
import { createModelRouter, type ModelRouter } from "./router.ts";
import { loadScenario } from "./scenario.ts";
import { createScriptedProvider } from "./scripted.ts";
import { withStepBudget } from "./step-budget.ts";
import { findVendor } from "./vendors.ts";

const SCRIPTED = "scripted";
/** The scenario that plays when nothing else is configured. */
export const OFFLINE_MODEL = "scripted:offline";

/** No model has this name. */
const ALL_MODELS = "*";

export interface ModelChoiceOptions {
  readonly settings: Pick<Settings, "models" | "prices" | "rateLimits">;
  /** From a flag or the embedding program; beats everything else. */
  readonly named?: string;
  /** False: without a model and a key it is an error instead of the offline model. */
  readonly offlineAllowed: boolean;
  /** By the part of the model's name before the colon. */
  readonly extraProviders: readonly Provider[];
  /** Finds the file of `scripted:<name>`. */
  readonly scenarioFile: (name: string) => string;
  readonly ports: ProviderPorts;
}

export interface ModelChoice {
  readonly provider: Provider;
  /** `provider:name` to begin with. */
  readonly model: string;
  /** Tried in order when the model cannot answer. */
  readonly fallbacks: readonly string[];
  /** The offline model plays because nothing else is configured. */
  readonly offline: boolean;
  /** The reference for what a person wrote; throws UnknownModel, MissingCredential, ScenarioInvalid or ConfigInvalid. */
  resolve(text: string): Promise<string>;
}

export async function chooseModel(options: ModelChoiceOptions): Promise<ModelChoice> {
  const { settings, ports } = options;
  const own = new Map(options.extraProviders.map((provider) => [provider.name, provider]));
  for (const name of own.keys()) {
    if (name === SCRIPTED || findVendor(name) !== undefined) {
      throw new ReasonError(
        "ConfigInvalid",
        `a plugin's provider cannot be called '${name}': a built-in provider has that name`,
      );
    }
  }
  const scripted = new Map<string, Provider>();
  const named = options.named === undefined ? undefined : fromList(settings.models, options.named);
  const wanted = named ?? settings.models[0]?.model ?? defaultModel(ports.credentials);
  const fallbacks =
    named === undefined ? settings.models.map(({ model }) => model).filter((model) => model !== wanted) : [];
  if (wanted === undefined && !options.offlineAllowed) {
    const detail =
      "No model is configured. Store a key (harness creds add), set one (ANTHROPIC_API_KEY, OPENAI_API_KEY, …), name a model with --model, or write one into config.toml. To try the program without a key: --model scripted:offline.";
    throw new ReasonError("ModelNotConfigured", detail);
  }
  const router = memoized(() => createRouter(settings, ports));

  async function resolve(text: string): Promise<string> {
    const name = providerName(text);
    if (own.has(name)) return text;
    if (name !== SCRIPTED) return router().resolve(text);
    if (!scripted.has(text)) {
      const scenario = await loadScenario(options.scenarioFile(text.slice(SCRIPTED.length + 1)));
      const own = settings.models.find(({ model }) => model === text)?.retry;
      scripted.set(text, withRetry(createScriptedProvider(scenario, ports), { ...defaultRetryPolicy, ...own }, ports));
    }
    return text;
  }

  function find(model: string): Provider {
    return own.get(providerName(model)) ?? scripted.get(model) ?? router().provider;
  }

  /** A model without its key fails when its turn comes, as any other that cannot answer; not before. */
  function lazily(model: string): Provider {
    return {
      name: providerName(model),
      async chat(call) {
        try {
          return await find(model).chat(call);
        } catch (error) {
          return refused(error);
        }
      },
      models: (signal) => find(model).models(signal),
      countTokens: estimateTokens,
    };
  }

  for (const model of fallbacks) if (providerName(model) === SCRIPTED) await resolve(model);
  return {
    model: await resolve(wanted ?? OFFLINE_MODEL),
    fallbacks,
    offline: wanted === undefined,
    resolve,
    provider: {
      name: "models",
      async chat(call) {
        try {
          const chain = [call.request.model, ...fallbacks.filter((model) => model !== call.request.model)];
          const models = chain.map((model) => ({ model, provider: lazily(model) }));
          const provider = withFallback(models, ports);
          const asked = settings.models.find(({ model }) => model === call.request.model);
          return await withStepBudget(provider, asked?.timeouts ?? {}, ports).chat(call);
        } catch (error) {
          return refused(error);
        }
      },
      async models(signal) {
        const providers = [...own.values(), ...scripted.values()];
        if (settings.models.length > 0) providers.push(router().provider);
        return (await Promise.all(providers.map((provider) => provider.models(signal)))).flat();
      },
      countTokens: estimateTokens,
      contextTokens: (model) => find(model).contextTokens?.(model),
      takesImages: (model) => find(model).takesImages?.(model) ?? true,
    },
  };
}

/** A bare name stands for the one model of the list that has it. */
function fromList(models: readonly ModelSettings[], name: string): string {
  const matches = models.filter(({ model }) => model.slice(model.indexOf(":") + 1) === name);
  return matches.length === 1 ? (matches[0]?.model ?? name) : name;
}

/** The vendors' models: those of the list with their settings, any other with its vendor's defaults. */
function createRouter(settings: ModelChoiceOptions["settings"], ports: ProviderPorts): ModelRouter {
  const models = settings.models.filter(({ model }) => providerName(model) !== SCRIPTED);
  const { global, models: perModel } = settings.rateLimits;
  const { limiterFor = createLimiters(ports) } = ports;
  return createModelRouter(
    {
      models: models.map((model) => {
        const rateLimit = perModel[model.model];
        return rateLimit === undefined ? model : { ...model, rateLimit };
      }),
    },
    {
      ...ports,
      prices: settings.prices,
      ...(global === undefined ? {} : { globalLimiter: limiterFor(ALL_MODELS, global) }),
    },
  );
}

function providerName(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf(":")));
}

function memoized<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
