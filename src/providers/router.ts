/** One Provider in front of all vendors' models: finds the right one for a request. */
import { estimateTokens, type ModelInfo, type Provider } from "#engine";
import { ReasonError } from "#protocol";
import { createProvider, type ModelConfig, type ProviderPorts } from "./create.ts";
import { refused } from "./failure.ts";
import { createHttpClient } from "./http.ts";
import { parseModelRef } from "./model-ref.ts";

/** Models used in one process; each keeps a connection pool entry and a catalog. */
const MAX_PROVIDERS = 64;

export interface RouterConfig {
  /** Those with settings of their own; any other is used with its vendor's defaults. */
  readonly models: readonly ModelConfig[];
}

export interface ModelRouter {
  /** Chooses by `request.model`. */
  readonly provider: Provider;
  /**
   * The reference for what a person wrote: a reference, or a model's name from the list. A model that is not
   * listed is used with its vendor's defaults. Throws UnknownModel, MissingCredential or ConfigInvalid.
   */
  resolve(text: string): string;
}

/** A model is looked at when it is asked for. */
export function createModelRouter(config: RouterConfig, ports: ProviderPorts): ModelRouter {
  const shared = { ...ports, http: ports.http ?? createHttpClient(ports) };
  const providers = new Map<string, Provider>();

  const providerFor = (model: string): Provider => {
    const known = providers.get(model);
    if (known !== undefined) return known;
    if (providers.size >= MAX_PROVIDERS) {
      throw new ReasonError("UnknownModel", `More than ${MAX_PROVIDERS} models in one process.`);
    }
    const listed = config.models.find((candidate) => candidate.model === model);
    const provider = createProvider(listed ?? { model }, shared);
    providers.set(model, provider);
    return provider;
  };
  /** A model that cannot be asked has no provider; its call says why. */
  const known = (model: string): Provider | undefined => {
    try {
      return providerFor(model);
    } catch (error) {
      if (error instanceof ReasonError) return undefined;
      throw error;
    }
  };
  const resolve = (text: string): string => {
    const model = listedModel(config.models, text) ?? text;
    parseModelRef(model);
    providerFor(model);
    return model;
  };
  return {
    resolve,
    provider: {
      name: "models",
      async chat(call) {
        try {
          return await providerFor(call.request.model).chat(call);
        } catch (error) {
          return refused(error);
        }
      },
      async models(signal) {
        // One catalog for each vendor and address is enough, however many of its models are configured.
        const byVendor = new Map(
          config.models.map(({ model, baseUrl = "" }) => [`${vendorOf(model)} ${baseUrl}`, model]),
        );
        const lists = await Promise.all([...byVendor.values()].map((model) => providerFor(model).models(signal)));
        const infos = new Map<string, ModelInfo>(lists.flat().map((info) => [info.id, info]));
        for (const { model } of config.models) if (!infos.has(model)) infos.set(model, { id: model });
        return [...infos.values()];
      },
      countTokens: estimateTokens,
      contextTokens: (model) => known(model)?.contextTokens?.(model),
      takesImages: (model) => known(model)?.takesImages?.(model) ?? true,
    },
  };
}

function listedModel(models: readonly ModelConfig[], text: string): string | undefined {
  const exact = models.find(({ model }) => model === text);
  if (exact !== undefined) return exact.model;
  const named = models.filter(({ model }) => model.slice(model.indexOf(":") + 1) === text);
  if (named.length > 1) {
    const detail = `'${text}' matches more than one model: ${named.map(({ model }) => model).join(", ")}.`;
    throw new ReasonError("UnknownModel", detail);
  }
  return named[0]?.model;
}

function vendorOf(model: string): string {
  return model.slice(0, model.indexOf(":"));
}
