/** Builds a ready provider from configuration and environment: endpoint, credential, retry, rate limit, prices. */

import type { ModelSettings } from "#artifacts";
import { boundHost, type Clock, defined, type Random } from "#base";
import type { CredentialPort, CredentialRef, Provider } from "#engine";
import { ReasonError } from "#protocol";
import { anthropicFamily } from "./anthropic.ts";
import { type CatalogCache, createCatalog } from "./catalog.ts";
import type { PriceOverrides } from "./cost.ts";
import type { CallLimits } from "./http.ts";
import { createHttpClient, type HttpClient } from "./http.ts";
import { parseModelRef } from "./model-ref.ts";
import { openaiFamily } from "./openai.ts";
import { createLimiters, type LimiterFor, type RateLimiter, type RateLimits, withRateLimit } from "./rate-limit.ts";
import { defaultRetryPolicy, type RetryPolicy, withRetry } from "./retry.ts";
import { limitsOf } from "./stream-call.ts";
import { type Vendor, vendors } from "./vendors.ts";
import { createWireProvider } from "./wire-provider.ts";

export interface ModelConfig extends Omit<ModelSettings, "retry"> {
  readonly retry?: Partial<RetryPolicy>;
  readonly rateLimit?: RateLimits;
  readonly limits?: Partial<CallLimits>;
}

export interface ProviderPorts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly credentials: CredentialPort;
  readonly clock: Clock;
  readonly random: Random;
  /** Shared by all providers of a program; a private one is made when absent. */
  readonly http?: HttpClient;
  readonly prices?: PriceOverrides;
  /** Absent: lists of models are kept as long as the program runs. */
  readonly catalogs?: CatalogCache;
  /** Shared by all choices of models of a program; private ones are made when absent. */
  readonly limiterFor?: LimiterFor;
  /** A limit over all models. */
  readonly globalLimiter?: RateLimiter;
}

/** Throws UnknownModel, MissingCredential (it names the variable) or ConfigInvalid. Makes no network call. */
export function createProvider(config: ModelConfig, ports: ProviderPorts): Provider {
  const vendor = vendorOf(config);
  const base = baseUrl(config, vendor, ports.env);
  const url = new URL(base + vendor.path);
  const credential = credentialFor(config, vendor, url, ports);
  const http = ports.http ?? createHttpClient(ports);
  const headers = { ...vendor.headers, ...config.headers };
  const keyed = credential === undefined ? {} : { credential };
  const prices = ports.prices === undefined ? {} : { prices: ports.prices };
  const catalog = createCatalog(
    {
      vendor: vendor.name,
      headers,
      ...keyed,
      ...(vendor.catalogPath === undefined ? {} : { url: new URL(vendor.catalogPath, `${base}/`) }),
    },
    { http, clock: ports.clock, ...prices, ...defined({ cache: ports.catalogs }) },
  );
  const wire = createWireProvider(
    {
      vendor,
      family: vendor.family === "anthropic" ? anthropicFamily : openaiFamily,
      url,
      headers,
      ...keyed,
      peer: { name: vendor.name, keySource: credential?.source ?? "the key" },
      limits: { ...limitsOf(config.timeouts), ...config.limits },
      ...defined({
        maxTokens: config.maxTokens,
        temperature: config.temperature,
        contextTokens: config.contextTokens,
      }),
    },
    { http, clock: ports.clock, catalog, ...prices },
  );
  const { limiterFor = createLimiters(ports) } = ports;
  const limiters = [
    ...(ports.globalLimiter === undefined ? [] : [ports.globalLimiter]),
    ...(config.rateLimit === undefined ? [] : [limiterFor(config.model, config.rateLimit)]),
  ];
  const limited = limiters.length === 0 ? wire : withRateLimit(wire, limiters);
  return withRetry(limited, { ...defaultRetryPolicy, ...config.retry }, ports);
}

/** The vendor of a custom endpoint takes its family from the configuration. */
function vendorOf(config: ModelConfig): Vendor {
  const { vendor } = parseModelRef(config.model);
  if (config.family === undefined || config.family === vendor.family) return vendor;
  if (vendor.name !== "custom") {
    throw new ReasonError("ConfigInvalid", `the family of ${vendor.name} is ${vendor.family}`);
  }
  const headers = { "anthropic-version": "2023-06-01" };
  return { ...vendor, family: "anthropic", path: "/v1/messages", auth: "x-api-key", headers };
}

function baseUrl(config: ModelConfig, vendor: Vendor, env: ProviderPorts["env"]): string {
  const text = config.baseUrl ?? nonEmpty(env[vendor.baseUrlVariable]) ?? vendor.baseUrl;
  if (text === undefined) {
    const detail = `${config.model} needs a base_url, or ${vendor.baseUrlVariable} in the environment`;
    throw new ReasonError("ConfigInvalid", detail);
  }
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new ReasonError("ConfigInvalid", `'${text}' is not an http or https address (${vendor.name})`);
  }
  return text.replace(/\/+$/, "");
}

function credentialFor(
  config: ModelConfig,
  vendor: Vendor,
  { origin }: URL,
  ports: ProviderPorts,
): CredentialRef | undefined {
  const { apiKeyEnv, credential: name } = config;
  const variables = apiKeyEnv === undefined ? vendor.keyVariables : [apiKeyEnv];
  const found = ports.credentials.find({
    provider: vendor.name,
    variables,
    auth: vendor.auth,
    hosts: userHosts(config, vendor, ports.env),
    origin,
    ...defined({ name }),
  });
  if (found !== undefined || (variables.length === 0 && name === undefined)) return found;
  throw new ReasonError("MissingCredential", {
    provider: name === undefined ? vendor.name : `${vendor.name}/${name}`,
    variable: name === undefined ? `set ${variables.join(" or ")}` : "name another stored credential",
    remedy: ports.credentials.howToBring(name === undefined ? vendor.name : `${vendor.name} ${name}`),
  });
}

/**
 * Where a key from the environment may go: the vendor's own address, and those that the user named. A project may choose
 * another variable, but not where a vendor's key is sent.
 */
function userHosts(config: ModelConfig, vendor: Vendor, env: ProviderPorts["env"]): string[] {
  const { apiKeyEnv, baseUrl, fromProject } = config;
  const owners = vendors.filter(({ keyVariables }) => apiKeyEnv !== undefined && keyVariables.includes(apiKeyEnv));
  const isForeign = fromProject === true && owners.length > 0;
  const addresses = (isForeign ? owners : [vendor]).flatMap((one) => [one.baseUrl, nonEmpty(env[one.baseUrlVariable])]);
  if (fromProject !== true) addresses.push(baseUrl);
  const hosts = addresses.flatMap((address) => (address === undefined ? [] : (boundHost(address) ?? [])));
  return [...new Set(hosts)];
}

function nonEmpty(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === "" ? undefined : trimmed;
}
