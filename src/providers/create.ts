/** Builds a ready provider from configuration and environment: endpoint, key, retry, rate limit, prices. */
import type { Clock, Random } from "#base";
import type { Provider } from "#engine";
import { ReasonError } from "#protocol";
import { anthropicFamily } from "./anthropic.ts";
import { createCatalog } from "./catalog.ts";
import type { PriceOverrides } from "./cost.ts";
import { createHttpClient, type HttpClient } from "./http.ts";
import { parseModelRef } from "./model-ref.ts";
import { openaiFamily } from "./openai.ts";
import { createRateLimiter, type RateLimiter, type RateLimits, withRateLimit } from "./rate-limit.ts";
import { defaultRetryPolicy, type RetryPolicy, withRetry } from "./retry.ts";
import { type CallLimits, defaultLimits } from "./stream-call.ts";
import type { Vendor } from "./vendors.ts";
import { createWireProvider } from "./wire-provider.ts";

export interface ModelConfig {
  /** `provider:name`. */
  readonly model: string;
  readonly baseUrl?: string;
  /** Name of the variable that holds the key; replaces the vendor's own. */
  readonly apiKeyEnv?: string;
  readonly retry?: Partial<RetryPolicy>;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Only for `custom`; default openai. */
  readonly family?: "anthropic" | "openai";
  readonly rateLimit?: RateLimits;
  readonly limits?: Partial<CallLimits>;
}

export interface ProviderPorts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
  /** Shared by all providers of a program; a private one is made when absent. */
  readonly http?: HttpClient;
  readonly prices?: PriceOverrides;
  /** A limit over all models. */
  readonly globalLimiter?: RateLimiter;
}

/** Throws UnknownModel, MissingCredential (it names the variable) or ConfigInvalid. Makes no network call. */
export function createProvider(config: ModelConfig, ports: ProviderPorts): Provider {
  const vendor = vendorOf(config);
  const base = baseUrl(config, vendor, ports.env);
  const { key, variable } = credential(config, vendor, ports.env);
  const http = ports.http ?? createHttpClient({ clock: ports.clock, env: ports.env });
  const headers = {
    ...vendor.headers,
    ...config.headers,
    ...(key === undefined ? {} : vendor.auth === "bearer" ? { authorization: `Bearer ${key}` } : { "x-api-key": key }),
  };
  const prices = ports.prices === undefined ? {} : { prices: ports.prices };
  const catalog = createCatalog(
    {
      vendor: vendor.name,
      headers,
      ...(vendor.catalogPath === undefined ? {} : { url: new URL(vendor.catalogPath, `${base}/`) }),
    },
    { http, clock: ports.clock, ...prices },
  );
  const wire = createWireProvider(
    {
      vendor,
      family: vendor.family === "anthropic" ? anthropicFamily : openaiFamily,
      url: new URL(base + vendor.path),
      headers,
      peer: { name: vendor.name, keyVariable: variable, ...(key === undefined ? {} : { key }) },
      limits: { ...defaultLimits, ...config.limits },
      ...(config.maxTokens === undefined ? {} : { maxTokens: config.maxTokens }),
      ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
    },
    { http, clock: ports.clock, catalog, ...prices },
  );
  const limiters = [
    ...(ports.globalLimiter === undefined ? [] : [ports.globalLimiter]),
    ...(config.rateLimit === undefined ? [] : [createRateLimiter(config.rateLimit, ports)]),
  ];
  const limited = limiters.length === 0 ? wire : withRateLimit(wire, limiters);
  return withRetry(limited, { ...defaultRetryPolicy, ...config.retry }, ports);
}

/** The vendor of a custom endpoint takes its family from the configuration. */
function vendorOf(config: ModelConfig): Vendor {
  const { vendor } = parseModelRef(config.model);
  if (config.family === undefined || config.family === vendor.family) return vendor;
  if (vendor.name !== "custom") {
    throw new ReasonError("ConfigInvalid", { detail: `the family of ${vendor.name} is ${vendor.family}` });
  }
  const headers = { "anthropic-version": "2023-06-01" };
  return { ...vendor, family: "anthropic", path: "/v1/messages", auth: "x-api-key", headers };
}

function baseUrl(config: ModelConfig, vendor: Vendor, env: ProviderPorts["env"]): string {
  const text = config.baseUrl ?? nonEmpty(env[vendor.baseUrlVariable]) ?? vendor.baseUrl;
  if (text === undefined) {
    const detail = `${config.model} needs a base_url, or ${vendor.baseUrlVariable} in the environment`;
    throw new ReasonError("ConfigInvalid", { detail });
  }
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new ReasonError("ConfigInvalid", { detail: `'${text}' is not an http or https address (${vendor.name})` });
  }
  return text.replace(/\/+$/, "");
}

function credential(
  config: ModelConfig,
  vendor: Vendor,
  env: ProviderPorts["env"],
): { readonly key?: string; readonly variable: string } {
  const variables = config.apiKeyEnv === undefined ? vendor.keyVariables : [config.apiKeyEnv];
  for (const variable of variables) {
    const key = nonEmpty(env[variable]);
    if (key !== undefined) return { key, variable };
  }
  if (variables.length === 0) return { variable: "the key" };
  throw new ReasonError("MissingCredential", { provider: vendor.name, variable: variables.join(" or ") });
}

function nonEmpty(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === "" ? undefined : trimmed;
}
